"""Blobs: what is refused before anything is sent, and what is told of bytes that somebody else has changed."""

from __future__ import annotations

from contextlib import suppress

import pytest

from singletable import (
    ConfigurationError,
    CorruptItemError,
    CorruptPayloadError,
    InvalidKeyError,
    PayloadMissingError,
    Request,
    RequestError,
)
from singletable.testing import MemoryTransport
from tests.contract.blobs import BIG, PIECE, items_of
from tests.contract.support import FakeBackend

KEY = "a/b"
BAD_KEYS = {
    "empty": "",
    "slashes": "///",
    "up": "..",
    "up-first": "../a",
    "up-within": "a/../b",
    "up-last": "a/..",
    "backslash": "a\\b",
    "blank": " \t",
    "surrogate": "a/\ud83d",
    "bytes": b"a",
    "number": 5,
    "none": None,
}


@pytest.fixture
def blobs(fake):
    blobs = fake.store().blobs
    blobs.write(KEY, b"old")
    fake.sent.clear()
    return blobs


@pytest.mark.parametrize("key", BAD_KEYS.values(), ids=BAD_KEYS)
def test_keys_that_could_mean_another_place_or_that_no_item_has(fake, blobs, key):
    calls = {
        "write": lambda: blobs.write(key, b"new"),
        "read": lambda: blobs.read(key),
        "read_many": lambda: blobs.read_many([KEY, key]),
        "read_range": lambda: blobs.read_range(key, 0),
        "read_stream": lambda: list(blobs.read_stream(key)),
        "head": lambda: blobs.head(key),
        "delete": lambda: blobs.delete(key),
    }
    for name, call in calls.items():
        with pytest.raises(InvalidKeyError):
            call()
        assert fake.sent.requests == [], name


@pytest.mark.parametrize("size", [BIG, 0])
@pytest.mark.parametrize("key", ["x" * 1100, "é" * 600, "sessions/" + "#" * 400, "a" * 1020 + "/b/c"])
def test_a_key_is_too_long_for_one_of_the_items(fake, blobs, key, size):
    with pytest.raises(InvalidKeyError, match="1,024"):
        blobs.write(key, bytes(size))
    assert blobs.list() == [KEY]
    assert items_of(fake, "blob_piece") == items_of(fake, "blob_upload") == []


@pytest.mark.parametrize("prefix", ["..", "a/../", "a\\", "a/b/\ud83d", "\ud83d", b"a", None])
def test_prefixes_that_no_key_has(fake, blobs, prefix):
    with pytest.raises(InvalidKeyError):
        blobs.list(prefix)
    assert fake.sent.requests == []


@pytest.mark.parametrize("prefix", ["", "/", "..", "a/..", "a\\b", None])
def test_namespaces_that_are_none(blobs, prefix):
    with pytest.raises(InvalidKeyError):
        blobs.namespace(prefix)


@pytest.mark.parametrize("seconds", [0, -1, 1.5, True, "60"])
def test_lives_that_are_none(blobs, seconds):
    with pytest.raises(RequestError, match="ttl_seconds"):
        blobs.namespace("a", ttl_seconds=seconds)


@pytest.mark.parametrize("data", ["text", 5, None, {"a": 1}, bytearray(b"x"), memoryview(b"x"), [b"a", "b"], object()])
def test_what_is_no_bytes(fake, blobs, data):
    with pytest.raises(RequestError, match="bytes"):
        blobs.write(KEY, data)
    assert fake.sent.requests == []
    assert blobs.read(KEY) == b"old"


def test_what_turns_out_to_be_no_bytes_leaves_the_old_value():
    fake = FakeBackend()
    blobs = fake.store().blobs
    blobs.write(KEY, b"old")
    with pytest.raises(RequestError, match="bytes"):
        blobs.write(KEY, iter([bytes(BIG), bytes(BIG), "text"]))
    assert blobs.read(KEY) == b"old"
    fake.clock.advance(days=2)
    assert blobs.gc().uploads == 1
    assert items_of(fake, "blob_piece") == []


@pytest.mark.parametrize("bounds", [(-1,), (-2, -1), (3, 2), (0, -1), ("a",), (0.5,), (None,), (0, 1.5), (True, 2)])
def test_ranges_that_are_none(fake, blobs, bounds):
    with pytest.raises(RequestError):
        blobs.read_range(KEY, *bounds)
    assert fake.sent.requests == []


def test_two_conditions_that_contradict_each_other(fake, blobs):
    with pytest.raises(RequestError, match="contradict"):
        blobs.write(KEY, b"", if_match="x", if_absent=True)
    assert fake.sent.requests == []


@pytest.mark.parametrize("compression", ["", "brotli", "GZIP", True])
def test_compressions_that_are_none(fake, compression):
    with pytest.raises(ConfigurationError, match="compression"):
        fake.store(compression=compression)


@pytest.mark.parametrize("ttl", [{"blob_entry": {"default_ttl_seconds": 9}}, {"blob_piece": {"enabled": False}}])
def test_the_parts_of_a_blob_have_no_life_of_their_own(fake, ttl):
    with pytest.raises(ConfigurationError, match="goes with its blob"):
        fake.store(ttl=ttl)


# What is stored was changed from outside

COMPRESSIONS = [None, "gzip", "zstd"]
DATA = {"inline": b"some words, " * 50, "pieces": b"some words, " * (BIG // 12 + 1)}
READS = {
    "read": lambda blobs: blobs.read(KEY),
    "read_many": lambda blobs: blobs.read_many([KEY]),
    "read_stream": lambda blobs: list(blobs.read_stream(KEY)),
    "read_range": lambda blobs: blobs.read_range(KEY, 0, 100),
}


def stored(fake, compression, kind):
    """Blobs, and the item that has bytes of one of them, to be changed."""
    blobs = fake.store(compression=compression).blobs
    blobs.write("other", b"other")
    blobs.write(KEY, DATA[kind])
    blobs.delete("other")
    return blobs, items_of(fake, "blob" if kind == "inline" else "blob_piece")[0]


def send(fake, operation, **params):
    """What somebody does who knows nothing of this library."""
    FakeBackend(database=fake.database).sent.send(Request(operation, {"TableName": "fake", **params}))


def harmed(content):
    middle = len(content) // 2
    return [
        content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :],
        bytes([content[0] ^ 255]) + content[1:],
        content[:-1],
        b"",
        b"x" + content[:-1],
        bytes(len(content)),
    ]


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("read", READS)
def test_bytes_that_somebody_changed_are_never_given_out(fake, read, kind, compression):
    blobs, item = stored(fake, compression, kind)
    for content in harmed(item["content"]["B"]):
        send(fake, "PutItem", Item=item | {"content": {"B": content}})
        is_unseen = (read, kind) == ("read_range", "pieces") and len(content) == len(item["content"]["B"])
        if is_unseen and compression != "gzip":
            continue  # a range of a blob with pieces has no digest of its own
        with pytest.raises(CorruptPayloadError):
            READS[read](blobs)
    send(fake, "PutItem", Item=item)
    READS[read](blobs)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("changes", [{"size": {"N": "7"}}, {"digest": {"S": "0" * 64}}, {"size": {"N": "9000000000"}}])
def test_a_blob_whose_size_or_digest_somebody_changed(fake, kind, compression, changes):
    blobs, _ = stored(fake, compression, kind)
    send(fake, "PutItem", Item=items_of(fake, "blob")[0] | changes)
    for read in ("read", "read_many", "read_stream"):
        with pytest.raises((CorruptPayloadError, PayloadMissingError)):
            READS[read](blobs)


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_the_beginning_of_what_is_compressed_says_how_much_room_is_needed(compression):
    """There, each byte is changed to every other one."""
    fake = FakeBackend()
    blobs, data = fake.store(compression=compression).blobs, b"some words, " * 20
    blobs.write(KEY, data)
    item = items_of(fake, "blob")[0]
    content = item["content"]["B"]
    for position in range(14):
        for byte in range(256):
            changed = content[:position] + bytes([byte]) + content[position + 1 :]
            send(fake, "PutItem", Item=item | {"content": {"B": changed}})
            with suppress(CorruptPayloadError):
                assert blobs.read(KEY) == data  # some of it says nothing of the bytes


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("read", READS)
def test_a_piece_that_somebody_deleted(fake, read, compression):
    blobs, piece = stored(fake, compression, "pieces")
    send(fake, "DeleteItem", Key={"pk": piece["pk"], "sk": piece["sk"]})
    with pytest.raises(PayloadMissingError):
        READS[read](blobs)
    assert blobs.read_range(KEY, PIECE, PIECE + 9) == DATA["pieces"][PIECE : PIECE + 9]
    blobs.write(KEY, b"new")
    assert blobs.read(KEY) == b"new"


def test_a_stream_gives_out_no_end_of_a_blob_that_is_not_whole(fake):
    blobs, _ = stored(fake, None, "pieces")
    last = items_of(fake, "blob_piece")[-1]
    send(fake, "PutItem", Item=last | {"content": {"B": bytes(len(last["content"]["B"]))}})
    got = []
    with pytest.raises(CorruptPayloadError):
        got.extend(blobs.read_stream(KEY))
    assert b"".join(got) == DATA["pieces"][:PIECE]


def test_a_blob_of_a_store_that_has_a_bucket_says_what_is_needed(fake):
    blobs, _ = stored(fake, None, "pieces")
    send(fake, "PutItem", Item=items_of(fake, "blob")[0] | {"place": {"S": "s3"}})
    with pytest.raises(ConfigurationError, match="blobs="):
        blobs.read(KEY)


@pytest.mark.parametrize("call", [lambda b: b.delete("k"), lambda b: b.write("k", b"new")], ids=["delete", "write"])
def test_a_blob_with_pieces_that_cannot_be_decoded_is_told_of(fake, call):
    blobs = fake.store().blobs
    blobs.write("k", bytes(500_000))
    (item,) = [item for item in fake.items() if item["_entity"]["S"] == "blob"]
    put = Request("PutItem", {"TableName": fake.table_name, "Item": item | {"size": {"S": "x"}}})
    MemoryTransport(fake.database).send(put)
    with pytest.raises(CorruptItemError):
        call(blobs)
