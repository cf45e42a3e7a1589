"""How many requests blobs cost, and how much is read: counted, not timed."""

from __future__ import annotations

import math

import pytest

from singletable import DynamoDBStore
from singletable.schemas import Blob, BlobEntry
from singletable.testing._sizes import item_size_bytes
from tests.contract.blobs import BIG, DELETE, MANY, PUT, SWAP, items_of
from tests.contract.support import FakeBackend, Metered, sent_by

MB = 1_000_000
GET, GET_MANY = "GetItem", "BatchGetItem"
KEY = "a/b/c"


@pytest.fixture
def blobs(fake):
    return fake.store().blobs


@pytest.mark.parametrize("size", [0, 1, 380_000])
def test_what_fits_into_an_item_is_one_request_whatever_is_asked(fake, blobs, size):
    for _ in range(2):
        assert sent_by(fake, lambda: blobs.write(KEY, bytes(size))) == [SWAP]
    etag = blobs.write(KEY, bytes(size))
    assert sent_by(fake, lambda: blobs.write(KEY, bytes(size), if_match=etag)) == [SWAP]
    for read in (
        blobs.read,
        blobs.head,
        lambda key: list(blobs.read_stream(key)),
        lambda key: blobs.read_range(key, 0),
    ):
        assert sent_by(fake, lambda read=read: read(KEY)) == [GET]
    assert sent_by(fake, lambda: blobs.delete(KEY)) == [SWAP]
    assert sent_by(fake, lambda: blobs.delete(KEY)) == [SWAP]
    assert sent_by(fake, lambda: blobs.write(KEY, bytes(size), if_absent=True)) == [SWAP]


@pytest.mark.parametrize(("size", "batches"), [(BIG, 1), (MB, 1), (3 * MB, 1), (4 * MB, 2), (10 * MB, 4)])
def test_what_needs_pieces_is_one_more_for_each_3_mb(fake, blobs, size, batches):
    assert sent_by(fake, lambda: blobs.write(KEY, bytes(size))) == [PUT, *[MANY] * batches, SWAP]
    assert sent_by(fake, lambda: blobs.read(KEY)) == [GET, *[GET_MANY] * batches]
    assert sent_by(fake, lambda: blobs.head(KEY)) == [GET]
    assert sent_by(fake, lambda: blobs.read_range(KEY, size - 5)) == [GET, GET_MANY]
    removed = [MANY] * math.ceil(size / (25 * 384 * 1024))
    replaced = [PUT, *[MANY] * batches, SWAP, SWAP, *removed, DELETE]
    assert sent_by(fake, lambda: blobs.write(KEY, bytes(size))) == replaced
    assert sent_by(fake, lambda: blobs.delete(KEY)) == [SWAP, SWAP, *removed, DELETE]


def test_a_megabyte_is_at_most_4_requests_to_write_and_2_to_read(fake, blobs):
    assert len(sent_by(fake, lambda: blobs.write(KEY, bytes(MB)))) <= 4
    assert len(sent_by(fake, lambda: blobs.read(KEY))) <= 2


@pytest.mark.parametrize(("count", "batches"), [(1, 1), (100, 1), (101, 2)])
def test_many_small_ones_are_read_100_a_request(fake, blobs, count, batches):
    keys = [f"k{number}" for number in range(count)]
    for key in keys:
        blobs.write(key, b"x")
    assert sent_by(fake, lambda: blobs.read_many(keys)) == [GET_MANY] * batches


@pytest.mark.parametrize(
    ("prefix", "requests"),
    [("a/b/", 1), ("a/b/c", 1), ("a/b", 4), ("a", 5), ("", 6), ("none/of/these", 1), ("none", 2)],
)
def test_a_list_asks_the_folders_that_may_have_such_keys(fake, blobs, prefix, requests):
    for key in ["a/b/c", "a/b/c/d", "a/b/c/d/e", "a/bc/d", "a/x", "z/y/x"]:
        blobs.write(key, b"")
    assert sent_by(fake, lambda: blobs.list(prefix)) == ["Query"] * requests


def test_reads_are_strongly_consistent(fake, blobs):
    blobs.write(KEY, bytes(MB))
    fake.sent.clear()
    for call in (blobs.read, blobs.list, blobs.head, lambda key: blobs.read_many([key]), lambda _: blobs.list("a")):
        call(KEY)
    for request in fake.sent.requests:
        asked = request.params.get("RequestItems", {"fake": request.params})["fake"]
        assert asked["ConsistentRead"] is True, request


@pytest.mark.no_cover
def test_ten_thousand_keys_are_listed_without_a_value():
    """Only their entries are read: of 4 KB of them, a unit."""
    metered, keys = Metered(), [f"a/b/{number:05}" for number in range(10_000)]
    fake = FakeBackend(database=metered.inner.database)
    blobs, table = fake.store().blobs, fake.store().table
    blobs.write(keys[0], bytes(1000))
    (one,) = table.get_many([Blob.Key(path=keys[0])])
    table.put_many(one.model_copy(update={"path": key}) for key in keys[1:])
    table.put_many(BlobEntry(folder="/a/b", path=key) for key in keys[1:])
    assert blobs.read(keys[-1]) == bytes(1000)
    entry = item_size_bytes(items_of(fake, "blob_entry")[0])
    assert entry < 200
    pages = []
    listed = DynamoDBStore("fake", transport=metered).blobs.list
    units = metered.spent(lambda: pages.append(listed("a/b/")))
    assert pages == [keys]
    sent = sent_by(fake, lambda: blobs.list("a/b/"))
    assert set(sent) == {"Query"}
    assert units <= 10_000 * entry / 4096 + len(sent)
