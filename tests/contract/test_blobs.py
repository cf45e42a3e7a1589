"""Bytes under path-like keys: on every DynamoDB, as sync and as async code has it."""

from __future__ import annotations

import random
from datetime import timedelta
from functools import cache
from hashlib import sha256

import pytest

from singletable import AlreadyExistsError, NotFoundError, VersionConflictError
from singletable.schemas import Blob
from singletable.store.blob_forms import BlobHead
from tests.contract.blobs import BIG, PIECE, SMALL, items_of
from tests.contract.support import START, FakeBackend

COMPRESSIONS = [None, "gzip", "zstd"]
KEY = "a/b.bin"


@pytest.fixture
def blobs(store):
    return store.blobs


def noise(size, seed=1):
    return random.Random(seed).randbytes(size)


@cache
def largest():
    """The most bytes that an item holds beside their key."""
    blobs = FakeBackend().store().blobs
    low, high = 300_000, BIG
    while high - low > 1:
        middle = (low + high) // 2
        blobs.write(KEY, bytes(middle))
        low, high = (middle, high) if blobs.table.get(Blob.Key(path=KEY)).payload is None else (low, middle)
    return low


# Writing and reading


@pytest.mark.parametrize("size", [0, 1, SMALL, PIECE - 1, PIECE, PIECE + 1, BIG - 1, BIG, 2 * PIECE, 2 * PIECE + 1])
def test_what_is_written_is_read(blobs, size):
    data = noise(size)
    blobs.write(KEY, data)
    assert blobs.read(KEY) == data
    assert b"".join(blobs.read_stream(KEY)) == data
    assert blobs.read_many([KEY]) == [data]
    assert blobs.read_range(KEY, 0) == data


def test_megabytes(blobs):
    data = noise(5_000_000)
    blobs.write(KEY, data)
    parts = list(blobs.read_stream(KEY))
    assert b"".join(parts) == blobs.read(KEY) == data
    assert max(map(len, parts)) <= 4_000_000


def test_the_largest_that_an_item_holds_is_in_one_and_a_byte_more_is_not(fake):
    """Not on moto, which refuses items of more than 405,000 bytes."""
    blobs = fake.store().blobs
    for more, pieces in ((0, 0), (1, 2)):
        data = noise(largest() + more)
        blobs.write(KEY, data)
        assert blobs.read(KEY) == data
        assert len(items_of(fake, "blob_piece")) == pieces


@pytest.mark.parametrize(
    "parts", [[], [b""], [b"a", b"", b"bc"], [b"x" * 100_000] * 9, [noise(PIECE)] * 2, [noise(BIG)]]
)
def test_bytes_come_in_parts(blobs, backend, parts):
    async def later():
        for part in parts:
            yield part

    blobs.write(KEY, iter(parts) if backend.loop is None else later())
    assert blobs.read(KEY) == b"".join(parts)
    assert blobs.head(KEY).size == sum(map(len, parts))


def test_a_list_is_an_iterable_of_sync_code():
    blobs = FakeBackend().store().blobs
    blobs.write(KEY, [b"a", b"b"])
    assert blobs.read(KEY) == b"ab"


def test_few_pieces_are_in_memory_at_a_time():
    """Of what comes in parts, none is asked for that cannot be sent soon."""
    fake, asked, ahead = FakeBackend(), 0, []

    def parts():
        nonlocal asked
        for _ in range(40):
            asked += PIECE
            yield bytes(PIECE)

    def hook(request):
        sent = sum(len(request.params["RequestItems"]["fake"]) for request in fake.sent.requests[1:])
        ahead.append(asked // PIECE - sent)

    fake.faults.on_request = lambda request: hook(request) if request.operation == "BatchWriteItem" else None
    fake.store().blobs.write(KEY, parts())
    assert len(ahead) == 5
    assert max(ahead) <= 2


def test_what_is_not_there_is_none(blobs):
    assert [blobs.read(KEY), blobs.head(KEY), blobs.read_range(KEY, 0), blobs.delete(KEY)] == [None] * 4
    assert blobs.read_many([KEY, "b"]) == [None, None]
    assert blobs.list() == []
    with pytest.raises(NotFoundError):
        list(blobs.read_stream(KEY))


def test_many_are_read_in_their_order(fake):
    blobs = fake.store().blobs
    data = {f"k{number:03}": noise(BIG if number in (3, 90) else number, number) for number in range(120)}
    for key, value in data.items():
        blobs.write(key, value)
    asked = ["none", *reversed(data), "k003", "k003"]
    assert blobs.read_many(asked) == [data.get(key) for key in asked]
    assert blobs.read_many([]) == []


def test_what_is_known_of_a_blob(blobs, backend):
    for size in (3, BIG):
        data = noise(size)
        backend.clock.advance(seconds=1.5)
        etag = blobs.write("/a//b.bin/", data)
        assert blobs.head(KEY) == BlobHead(
            key=KEY, size=size, digest=sha256(data).hexdigest(), etag=etag, created_at=backend.clock.now
        )


def test_a_delete_leaves_nothing(blobs, backend):
    for size in (SMALL, BIG):
        blobs.write(KEY, bytes(size))
        blobs.delete(KEY)
        assert [blobs.read(KEY), blobs.head(KEY), blobs.list()] == [None, None, []]
    assert [item["_entity"]["S"] for item in backend.items()] == ["blob_folder"]


# Ranges


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("size", [0, 5, 2 * PIECE, 2 * PIECE + 77])
def test_ranges_are_slices(fake, compression, size):
    blobs, data, pick = fake.store(compression=compression).blobs, noise(size), random.Random(size)
    blobs.write(KEY, data)
    edges = [0, 1, PIECE - 1, PIECE, PIECE + 1, size, size + 1, size * 2 + 9]
    for _ in range(20):
        start, end = sorted([pick.choice([*edges, pick.randrange(size + 9)]), pick.choice(edges)])
        assert blobs.read_range(KEY, start, end) == data[start:end]
        assert blobs.read_range(KEY, start) == data[start:]


def test_a_range_reads_only_the_pieces_it_touches(fake):
    blobs = fake.store().blobs
    blobs.write(KEY, bytes(20 * PIECE))
    for start, end, numbers in [(PIECE - 1, PIECE + 1, 2), (PIECE, 2 * PIECE, 1), (0, 1, 1), (5, 5, 0)]:
        fake.sent.clear()
        blobs.read_range(KEY, start, end)
        asked = [request.params["RequestItems"] for request in fake.sent.requests[1:]]
        assert sum(len(one[fake.table_name]["Keys"]) for one in asked) == numbers


# Conditions

WAYS = [(old, new) for old in (SMALL, BIG) for new in (SMALL, BIG)]


@pytest.mark.parametrize(("old", "new"), WAYS)
def test_if_absent_writes_over_nothing(blobs, old, new):
    etag = blobs.write(KEY, bytes(old), if_absent=True)
    with pytest.raises(AlreadyExistsError) as raised:
        blobs.write(KEY, b"x" * new, if_absent=True)
    assert raised.value.current.etag == etag
    assert blobs.read(KEY) == bytes(old)
    blobs.delete(KEY)
    blobs.write(KEY, b"x" * new, if_absent=True)
    assert blobs.read(KEY) == b"x" * new


@pytest.mark.parametrize(("old", "new"), WAYS)
def test_if_match_writes_over_one_writing_alone(blobs, backend, old, new):
    first = blobs.write(KEY, bytes(old))
    second = blobs.write(KEY, bytes(old))
    assert first != second
    for etag in (first, "", "other"):
        with pytest.raises(VersionConflictError) as raised:
            blobs.write(KEY, b"x" * new, if_match=etag)
        assert raised.value.current.etag == second
        with pytest.raises(VersionConflictError):
            blobs.delete(KEY, if_match=etag)
    assert blobs.read(KEY) == bytes(old)
    third = blobs.write(KEY, b"x" * new, if_match=second)
    assert blobs.head(KEY).etag == third
    blobs.delete(KEY, if_match=third)
    for call in (lambda: blobs.write(KEY, bytes(new), if_match=third), lambda: blobs.delete(KEY, if_match=third)):
        with pytest.raises(NotFoundError):
            call()
    assert [item["_entity"]["S"] for item in backend.items()] == ["blob_folder"]


# Compression


@pytest.mark.parametrize("before", COMPRESSIONS)
@pytest.mark.parametrize("after", COMPRESSIONS)
def test_compression_is_switched_between_writes(fake, before, after):
    text = b"the same words again and again, " * 20_000
    old, new = (fake.store(compression=one).blobs for one in (before, after))
    for data in (b"", b"short", text, noise(BIG), text[:1000]):
        old.write("old", data)
        assert new.read("old") == data
        new.write("old", text)
        assert old.read("old") == text
        assert old.read_range("old", 17, 500_000) == text[17:500_000]
        assert b"".join(old.read_stream("old")) == text


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_what_is_compressed_takes_less_room(backend, compression):
    blobs = backend.store(compression=compression).blobs
    text = b"the same words again and again, " * 12_000
    blobs.write(KEY, text)
    (item,) = items_of(backend, "blob")
    assert len(item["content"]["B"]) < len(text) / 50
    assert item["encoding"] == {"S": compression}


# Expiry

TTL = {"blob": {"default_ttl_seconds": 60}}


def expiring(backend, way):
    """Blobs that live for a minute, and how everybody sees them."""
    if way == "store":
        return (backend.store(ttl=TTL).blobs.namespace("n"),) * 2
    return backend.store().blobs.namespace("n", ttl_seconds=60), backend.store().blobs.namespace("n")


@pytest.mark.parametrize("way", ["store", "namespace"])
@pytest.mark.parametrize("size", [SMALL, BIG])
def test_a_blob_expires_with_all_that_belongs_to_it(backend, way, size):
    blobs, seen = expiring(backend, way)
    blobs.write(KEY, bytes(size))
    backend.clock.advance(seconds=59)
    assert seen.read(KEY) == bytes(size)
    assert seen.list() == [KEY]
    backend.clock.advance(seconds=1)
    assert [seen.read(KEY), seen.head(KEY), seen.list(), seen.read_many([KEY])] == [None, None, [], [None]]
    with pytest.raises(NotFoundError):
        list(seen.read_stream(KEY))
    ends = {item["_entity"]["S"]: item.get("ttl", {}).get("N") for item in backend.items()}
    end, later = (str(int((START + timedelta(seconds=60, days=days)).timestamp())) for days in (0, 1))
    pieces = {} if size == SMALL else {"blob_piece": later}
    assert ends == {"blob": end, "blob_entry": end, "blob_folder": None, **pieces}


@pytest.mark.parametrize("way", ["store", "namespace"])
@pytest.mark.parametrize(("old", "new"), WAYS)
def test_what_has_expired_is_written_over(backend, way, old, new):
    blobs, seen = expiring(backend, way)
    for options in ({}, {"if_absent": True}):
        etag = blobs.write(KEY, bytes(old))
        backend.clock.advance(seconds=60)
        for call in (lambda: blobs.write(KEY, b"", if_match=etag), lambda: blobs.delete(KEY, if_match=etag)):  # noqa: B023
            with pytest.raises(NotFoundError):
                call()
        blobs.delete(KEY)
        blobs.write(KEY, b"x" * new, **options)
        assert seen.read(KEY) == b"x" * new
        assert seen.list() == [KEY]


@pytest.mark.parametrize(("old", "new"), WAYS)
def test_who_writes_last_decides_whether_it_expires(backend, old, new):
    blobs, forever = expiring(backend, "namespace")
    blobs.write(KEY, bytes(old))
    forever.write(KEY, b"x" * new)
    backend.clock.advance(days=400)
    assert forever.read(KEY) == b"x" * new
    assert forever.list() == [KEY]
    blobs.write(KEY, bytes(new))
    backend.clock.advance(seconds=60)
    assert [forever.read(KEY), forever.list()] == [None, []]
