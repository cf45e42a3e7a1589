"""P49: on every path of writing it is settled what a version means: none, the right one, a wrong one, nothing there."""

from __future__ import annotations

import pytest

from singletable import (
    KEEP,
    AlreadyExistsError,
    Change,
    Changes,
    Entity,
    NotFoundError,
    Pk,
    PrimaryKey,
    RequestError,
    TransactionFailedError,
    Version,
    VersionConflictError,
)


class Doc(Entity, entity="doc", version=1):
    id: str
    text: str = ""
    etag: Version = ""

    class Key(PrimaryKey["Doc"]):
        id: Pk[str]

    class Patch(Changes["Doc"]):
        text: Change[str] = KEEP


KEY = Doc.Key(id="d")
NEW = Doc.Patch(text="new")


def transact(table, write):
    with table.transaction() as tx:
        write(tx)


def new(version):
    return Doc(id="d", text="new", etag=version or "")


PATHS = {
    "create": lambda table, version: table.create(new(version)),
    "put": lambda table, version: table.put(new(version)),
    "put-where": lambda table, version: table.put(new(version), where=lambda doc: doc.text != "x"),
    "upsert": lambda table, version: table.upsert(new(version)),
    "update": lambda table, version: table.update(KEY, NEW, if_version=version),
    "update-refresh": lambda table, version: table.update(KEY, NEW, if_version=version, refresh=True),
    "delete": lambda table, version: table.delete(KEY, if_version=version),
    "batch-put": lambda table, version: table.put_many([new(version)]),
    "batch-delete": lambda table, version: table.delete_many([KEY]),
    "tx-create": lambda table, version: transact(table, lambda tx: tx.create(new(version))),
    "tx-put": lambda table, version: transact(table, lambda tx: tx.put(new(version))),
    "tx-update": lambda table, version: transact(table, lambda tx: tx.update(KEY, NEW, if_version=version)),
    "tx-delete": lambda table, version: transact(table, lambda tx: tx.delete(KEY, if_version=version)),
}
EXISTS, CONFLICT, MISSING, CANCELLED = AlreadyExistsError, VersionConflictError, NotFoundError, TransactionFailedError
WRITTEN, GONE = "new", None
MATRIX = {
    #                  the item is there                  nothing is there
    #                  none       right      wrong        none       some version
    "create":         (EXISTS,    EXISTS,    EXISTS,      WRITTEN,   WRITTEN),
    "put":            (CONFLICT,  WRITTEN,   CONFLICT,    WRITTEN,   MISSING),
    "put-where":      (CONFLICT,  WRITTEN,   CONFLICT,    MISSING,   MISSING),
    "upsert":         (WRITTEN,   WRITTEN,   WRITTEN,     WRITTEN,   WRITTEN),
    "update":         (WRITTEN,   WRITTEN,   CONFLICT,    MISSING,   MISSING),
    "update-refresh": (WRITTEN,   WRITTEN,   CONFLICT,    MISSING,   MISSING),
    "delete":         (GONE,      GONE,      CONFLICT,    GONE,      MISSING),
    "batch-put":      (WRITTEN,   WRITTEN,   WRITTEN,     WRITTEN,   WRITTEN),
    "batch-delete":   (GONE,      GONE,      GONE,        GONE,      GONE),
    "tx-create":      (CANCELLED, CANCELLED, CANCELLED,   WRITTEN,   WRITTEN),
    "tx-put":         (CANCELLED, WRITTEN,   CANCELLED,   WRITTEN,   CANCELLED),
    "tx-update":      (WRITTEN,   WRITTEN,   CANCELLED,   CANCELLED, CANCELLED),
    "tx-delete":      (GONE,      GONE,      CANCELLED,   GONE,      CANCELLED),
}  # fmt: skip
"""A batch has no conditions, and so compares no version; an upsert and a create take none into account."""
COLUMNS = ["none", "right", "wrong", "none-absent", "some-absent"]
CELLS = [(path, column, outcome) for path, row in MATRIX.items() for column, outcome in zip(COLUMNS, row, strict=True)]


@pytest.mark.parametrize(("path", "column", "outcome"), CELLS, ids=[f"{path}-{column}" for path, column, _ in CELLS])
def test_p49_each_cell_is_settled(fake, path, column, outcome):
    table = fake.table(Doc)
    first = table.create(Doc(id="d", text="old"))
    stored = table.update(KEY, Doc.Patch(text="stored"))
    if column.endswith("absent"):
        table.delete(KEY)
    version = {"right": stored.etag, "wrong": first.etag, "some-absent": stored.etag}.get(column)
    before, write = fake.items(), PATHS[path]
    if isinstance(outcome, type):
        with pytest.raises(outcome) as caught:
            write(table, version)
        assert type(caught.value) is outcome
        assert fake.items() == before
        return
    write(table, version)
    found = table.get(KEY)
    assert (found.text if found else None) == outcome
    assert found is None or found.etag not in ("", first.etag, stored.etag)


def test_p49_a_version_of_any_kind_is_no_version(fake):
    """There is no `*`: a condition says that any version will do."""
    table = fake.table(Doc)
    with pytest.raises(NotFoundError):
        table.update(KEY, NEW, where=lambda doc: doc.etag != "")
    seen = table.create(Doc(id="d"))
    assert table.update(KEY, NEW, where=lambda doc: doc.etag != "").text == "new"
    for write in (PATHS["update"], PATHS["delete"], PATHS["tx-update"], PATHS["tx-delete"]):
        with pytest.raises(RequestError, match="if_version takes the version of a doc that was read"):
            write(table, "")
    with pytest.raises(VersionConflictError):
        PATHS["delete"](table, "*")
    assert table.get(KEY).etag != seen.etag


def test_p49_a_deletion_may_be_repeated(fake):
    table = fake.table(Doc)
    seen = table.create(Doc(id="d"))
    assert table.delete(KEY, if_version=seen.etag) == seen
    assert table.delete(KEY) is None
