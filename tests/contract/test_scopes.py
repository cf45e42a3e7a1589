"""A scope reaches nothing of another tenant: every public method of a table is tried."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from singletable import (
    AlreadyExistsError,
    InvalidCursorError,
    InvalidKeyError,
    NotFoundError,
    RequestError,
    Table,
    TransactionFailedError,
)
from singletable.streams import Inserted, parse
from tests.contract.entities import Account, Box, Label, Note
from tests.contract.leading import check_leading
from tests.contract.support import START

MARK = "stored-by-a"
ACCOUNT = Account(id="1", email="a@x", handle="a", name=MARK)
NOTE = Note(box_id="b", number=1, text=MARK, owner="ada", due=START, state="open")
PARTITION = re.compile(r"pk|gsi\d+pk|targetPk")

Calls = dict[str, Callable[[Any], Any]]

TABLE: Calls = {
    "get": lambda t: [t.get(Note.Key(box_id="b", number=1)), t.get(Account.ByEmail(email="a@x"))],
    "get_many": lambda t: t.get_many([Note.Key(box_id="b", number=1), Account.ByHandle(handle="a")]),
    "get_each": lambda t: t.get_each([Note.Key(box_id="b", number=1), Account.ByHandle(handle="a")]),
    "get_all": lambda t: t.get_all(Note.Key(box_id="b", number=1), Box.Key(id="b")),
    "create": lambda t: [t.create(note()), t.create(account())],
    "put": lambda t: [t.put(note()), t.put(account())],
    "upsert": lambda t: [t.upsert(note()), t.upsert(account())],
    "update": lambda t: t.update(Note.Key(box_id="b", number=1), Note.Patch(state="done", text="b")),
    "delete": lambda t: [t.delete(Note.Key(box_id="b", number=1)), t.delete(Account.Key(id="1"))],
    "put_many": lambda t: t.put_many([note(), Label(box_id="b", name="l")]),
    "delete_many": lambda t: t.delete_many([Note.Key(box_id="b", number=1), Box.Key(id="b")]),
    "query": lambda t: [
        t.query(Note.InBox(box_id="b"), Box.Key(id="b")).all(),
        t.query(Note.ByOwner(owner="ada")).all(),
        t.query(Note.ByState(state="open")).count(),
    ],
    "scan": lambda t: t.scan(Note, Account, allow_scan=True).all(),
    "reindex": lambda t: [done.read for done in t.reindex(Note.ByState)],
    "delete_expired": lambda t: t.delete_expired([Note.Key(box_id="b", number=1), Account.ByEmail(email="a@x")]),
    "purge_expired": lambda t: [done.deleted for done in t.purge_expired(allow_scan=True)],
    "transaction": lambda t: transaction(t),
    "load": lambda t: None,
    "size_bytes": lambda t: t.size_bytes(note()),
    "expiring": lambda t: t.expiring({Note: 60}).query(Note.InBox(box_id="b")).all(),
    "scoped": lambda t: None,
}
REFUSED = {"update": NotFoundError, "transaction": TransactionFailedError}
"""What a method raises where the item is not there, as it is not for this caller."""


def note() -> Note:
    return NOTE.model_copy(update={"text": "b"})


def account() -> Account:
    return ACCOUNT.model_copy(update={"name": "b"})


def transaction(table: Any) -> None:
    with table.transaction() as tx:
        tx.create(account())
        tx.put(note())
        tx.delete(Box.Key(id="b"))
        tx.check(Label.Key(box_id="b", name="l"), where=lambda label: label.name == "l")


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))}


def test_every_public_method_is_tried():
    assert public(Table) == TABLE.keys()


@pytest.fixture(params=["another tenant", "no scope"])
def outside(request) -> Callable[[Any], Any]:
    """From what stores everything: what must not reach the items of tenant `a`."""
    return (lambda whole: whole.scoped("b")) if request.param == "another tenant" else (lambda whole: whole)


@pytest.fixture
def table(backend):
    whole = backend.table(Box, Label, Note, Account)
    mine = whole.scoped("a")
    for entity in (ACCOUNT, NOTE, Box(id="b", name=MARK), Label(box_id="b", name="l")):
        mine.create(entity)
    return whole


@pytest.mark.parametrize("method", TABLE)
def test_no_method_of_a_table_reaches_another_scope(table, backend, outside, method):
    check(lambda: TABLE[method](outside(table)), method, backend)


def outcome(call: Callable[[], Any], method: str) -> str:
    """What a call shows, be it in an error."""
    if method not in REFUSED:
        return repr(call())
    with pytest.raises(REFUSED[method]) as caught:
        call()
    return repr((caught.value, vars(caught.value)))


def check(call: Callable[[], Any], method: str, backend: Any) -> None:
    before = [item for item in backend.items() if item["pk"]["S"].startswith("@a#")]
    assert MARK not in outcome(call, method)
    assert [item for item in backend.items() if item["pk"]["S"].startswith("@a#")] == before


@pytest.mark.parametrize("method", [name for name in TABLE if name not in ("load", "size_bytes", "scoped")])
def test_every_partition_key_of_a_scoped_table_begins_with_the_tenant(table, backend, method):
    backend.sent.clear()
    outcome(lambda: TABLE[method](table.scoped("b")), method)
    check_leading(backend.sent.requests)


def test_a_scope_has_its_own_items(table):
    mine, yours = table.scoped("a"), table.scoped("b")
    yours.create(account())
    assert mine.get(Account.ByEmail(email="a@x")).name == MARK
    assert yours.get(Account.ByEmail(email="a@x")).name == "b"
    assert [found.text for found in mine.query(Note.ByOwner(owner="ada"))] == [MARK]
    assert mine.delete(Account.Key(id="1")).name == MARK
    assert yours.get(Account.Key(id="1")).name == "b"
    with pytest.raises(AlreadyExistsError):
        yours.create(account())


def test_tenants_whose_names_hold_delimiters_stay_apart(table):
    for tenant in ("a#b", "a%23b", "a", "@a", "A"):
        table.scoped(tenant).put(Box(id="x", name=tenant))
    for tenant in ("a#b", "a%23b", "a", "@a", "A"):
        assert table.scoped(tenant).get(Box.Key(id="x")).name == tenant
    assert table.get(Box.Key(id="x")) is None


@pytest.mark.parametrize("tenant", ["", " ", "\t"], ids=["empty", "blank", "tab"])
def test_a_blank_tenant_is_refused(table, tenant):
    with pytest.raises(InvalidKeyError, match="tenant is blank"):
        table.scoped(tenant)


def test_a_scope_has_no_scope_of_its_own(table):
    with pytest.raises(RequestError, match="scope already"):
        table.scoped("a").scoped("b")


def test_a_cursor_goes_on_only_in_its_scope(table):
    mine = table.scoped("a")
    mine.create(NOTE.model_copy(update={"number": 2}))
    cursor = mine.query(Note.InBox(box_id="b")).page(1).cursor
    assert mine.query(Note.InBox(box_id="b")).page(1, cursor).items[0].number == 2
    for other in (table.scoped("b"), table):
        with pytest.raises(InvalidCursorError):
            other.query(Note.InBox(box_id="b")).page(1, cursor)


def test_a_stream_record_says_whose_item_it_is(table, backend):
    (item,) = [item for item in backend.items() if item["_entity"]["S"] == "box"]
    change = {"Keys": {"pk": item["pk"], "sk": item["sk"]}, "NewImage": item, "SequenceNumber": "1"}
    event = parse({"eventName": "INSERT", "dynamodb": change}, Box)
    assert isinstance(event, Inserted)
    assert (event.tenant, event.key, event.new.name) == ("a", Box.Key(id="b"), MARK)
    keys_only = parse({"eventName": "REMOVE", "dynamodb": {"Keys": change["Keys"]}}, Note, Box)
    assert (keys_only.tenant, keys_only.key) == ("a", Box.Key(id="b"))
