"""Blobs: values of every kind, other processes that change them, and what may be left of them."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any, NamedTuple

from singletable import Request
from singletable.store import Blobs
from singletable.store.blob_keys import folder_of
from singletable.store.entities import ENTITIES
from singletable.writes import ITEM_BYTES
from tests.contract.support import Backend, FakeBackend
from tests.pains.support import another

PIECE = 384 * 1024
KEY = "sessions/s1/a/b.bin"
LONG_AGO = timedelta(days=2)
"""Longer than gc() waits."""
SMALL, BIG = 100, ITEM_BYTES + 1
SIZES = {"small": SMALL, "big": BIG}


def value(name: str, kind: str = "small") -> bytes:
    """Bytes of a kind, all alike, so that no mix of two values is a third one."""
    return name.encode() * SIZES[kind]


class Kind(NamedTuple):
    """What is stored before a change, what it makes of that, and what it sends; None is no blob."""

    before: str | None
    after: str | None
    requests: list[str]

    @property
    def old(self) -> bytes | None:
        return None if self.before is None else value("o", self.before)

    @property
    def new(self) -> bytes | None:
        return None if self.after is None else value("n", self.after)


PUT, DELETE, MANY, SWAP = "PutItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"
KINDS = {
    "small-over-nothing": Kind(None, "small", [SWAP]),
    "big-over-nothing": Kind(None, "big", [PUT, MANY, SWAP]),
    "small-over-small": Kind("small", "small", [SWAP]),
    "big-over-small": Kind("small", "big", [PUT, MANY, SWAP]),
    "small-over-big": Kind("big", "small", [SWAP, SWAP, MANY, DELETE]),
    "big-over-big": Kind("big", "big", [PUT, MANY, SWAP, SWAP, MANY, DELETE]),
    "delete-small": Kind("small", None, [SWAP]),
    "delete-big": Kind("big", None, [SWAP, SWAP, MANY, DELETE]),
}
EACH_REQUEST = [(name, number) for name, kind in KINDS.items() for number in range(1, len(kind.requests) + 1)]
SECONDS = {"small": value("s"), "big": value("b", "big"), "delete": None}
"""What another process does meanwhile: writes, or deletes."""


def change(blobs: Any, data: bytes | None, key: str = KEY) -> None:
    if data is None:
        blobs.delete(key)
    else:
        blobs.write(key, data)


def begun(fake: Any, name: str, **settings: Any) -> tuple[Any, Kind]:
    """The blobs of a store, and a kind of change, with what is stored before it."""
    blobs, kind = fake.store(**settings).blobs, KINDS[name]
    change(blobs, kind.old)
    fake.sent.clear()
    return blobs, kind


def begun_at_once(name: str) -> tuple[FakeBackend, Any, Kind]:
    """The same on a fake of its own, where nothing waits between two attempts."""
    fake, kind = FakeBackend(), KINDS[name]
    blobs = Blobs(fake.table(*ENTITIES))
    change(blobs, kind.old)
    fake.sent.clear()
    return fake, blobs, kind


def others(fake: Any, **settings: Any) -> Any:
    """The blobs as another process has them."""
    return another(fake).store(**settings).blobs


def before_request(fake: Any, number: int, act: Any, *, but: str | None = None) -> None:
    """Do something before the request of this number, once; those of one operation are not counted."""
    left = number

    def hook(request: Request) -> None:
        nonlocal left
        left -= request.operation != but
        if left == 0:
            fake.faults.on_request = None
            act()

    fake.faults.on_request = hook


def contents(fake: Any, **settings: Any) -> dict[str, bytes]:
    """All blobs as another process reads them; what is listed can be read."""
    blobs = others(fake, **settings)
    return {key: blobs.read(key) for key in blobs.list()}


def listed_as(data: bytes | None, key: str = KEY) -> dict[str, bytes]:
    return {} if data is None else {key: data}


def items_of(backend: Backend, entity: str) -> list[Any]:
    return [item for item in backend.items() if item["_entity"]["S"] == entity]


def names(backend: Backend) -> Counter[tuple[str, ...]]:
    """What is stored, without what of it may be anything."""
    counted = {
        "blob": lambda item: (item["path"]["S"],),
        "blob_entry": lambda item: (item["folder"]["S"], item["path"]["S"]),
        "blob_folder": lambda item: (item["folder"]["S"],),
        "blob_piece": lambda item: (item["payload"]["S"], item["number"]["N"]),
        "blob_upload": lambda item: (item["payload"]["S"],),
    }
    kinds = ((item["_entity"]["S"], item) for item in backend.items())
    return Counter((kind, *counted[kind](item)) for kind, item in kinds)


def implied(backend: Backend) -> Counter[tuple[str, ...]]:
    """What has to be stored for the blobs that are."""
    found: Counter[tuple[str, ...]] = Counter()
    for blob in items_of(backend, "blob"):
        path, size = blob["path"]["S"], int(blob["size"]["N"])
        found["blob", path] += 1
        found["blob_entry", folder_of(path), path] += 1
        found["blob_folder", folder_of(path)] = 1
        for number in range(-(-size // PIECE) if "payload" in blob else 0):
            found["blob_piece", blob["payload"]["S"], str(number)] += 1
    return found


def left_over(backend: Backend) -> Counter[tuple[str, ...]]:
    """What is stored though no blob needs it; nothing that a blob needs is missing."""
    stored, needed = names(backend), implied(backend)
    assert not needed - stored
    return stored - needed


def assert_nothing_is_left(backend: Backend) -> None:
    """But for folders, which stay for a while."""
    assert [name for name in left_over(backend) if name[0] != "blob_folder"] == []


def assert_collected(fake: Any, **settings: Any) -> None:
    """gc() counts what it would remove, and then removes it: all that nothing needs, and nothing else."""
    fake.clock.advance(days=LONG_AGO.days)
    before, expected = fake.items(), left_over(fake)
    kinds = Counter(name[0] for name in expected)
    blobs = others(fake, **settings)
    counted = blobs.gc(dry_run=True)
    assert fake.items() == before
    assert (counted.pieces, counted.uploads) == (kinds["blob_piece"], kinds["blob_upload"])
    assert blobs.gc() == counted
    assert left_over(fake) == Counter()
