"""The keys of blobs: what is listed by which prefix, namespaces, and tenants."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import InvalidKeyError
from singletable.store.blob_keys import blob_path
from tests.contract.blobs import names
from tests.contract.support import FakeBackend

KEYS = ["a", "ab", "a/b", "a/bc", "a/b/c", "a/b/cd", "a/b/c/d", "a/b/c/d/e", "ab/c", "ä/ö/ü", "a b/c", "a#b/%23/c", "Z"]
PART = st.text(st.sampled_from("ab. #%é😀\0"), min_size=1, max_size=3).filter(lambda part: part != "..")
KEY = st.lists(PART, min_size=1, max_size=5).map("/".join).filter(str.strip)


@pytest.fixture
def blobs(store):
    return store.blobs


def listing(keys, prefix):
    """What is listed of keys, by the rules of Strands' storages."""
    beginning = re.sub("/+", "/", prefix).lstrip("/")
    return sorted(key for key in keys if key.startswith(beginning))


def filled(keys):
    blobs = FakeBackend().store().blobs
    for key in keys:
        blobs.write(key, key.encode())
    return blobs


def test_prefixes_of_every_kind(blobs):
    for key in reversed(KEYS):
        blobs.write(key, b"")
    prefixes = {"", "/", "//a", "a//b/", "none", "a/b/c/d/e/f", *KEYS, *(key + "/" for key in KEYS)}
    for prefix in prefixes | {key[:end] for key in KEYS for end in range(len(key))}:
        assert blobs.list(prefix) == listing(KEYS, prefix), prefix


@settings(max_examples=150)
@given(st.sets(KEY, max_size=12), st.data())
def test_any_prefix_of_any_keys(keys, data):
    blobs = filled(keys)
    beginnings = [key[:end] for key in keys for end in range(len(key) + 1)]
    prefix = data.draw(st.sampled_from(beginnings) | PART | KEY if beginnings else PART)
    if ".." not in prefix.split("/"):
        assert blobs.list(prefix) == listing(keys, prefix)
    assert blobs.list() == sorted(keys)


@settings(max_examples=60)
@given(st.sets(KEY, max_size=10), KEY, KEY)
def test_a_namespace_shows_what_is_below_it(keys, outer, inner):
    inside = FakeBackend().store().blobs
    for key in keys:
        inside.write(f"{outer}/{inner}/{key}", b"")
        inside.write(f"{outer}x/{inner}/{key}", b"")
    for blobs in (inside.namespace(f"{outer}/{inner}"), inside.namespace(outer).namespace(f"/{inner}/")):
        assert blobs.list() == sorted(keys)
        for prefix in {key[:2] for key in keys} - {".."}:
            assert blobs.list(prefix) == listing(keys, prefix)


def test_namespaces_compose(blobs):
    inner = blobs.namespace("a").namespace("b/c")
    inner.write("d", b"1")
    assert [inner.read("d"), blobs.namespace("a/b").read("c/d"), blobs.read("a/b/c/d")] == [b"1"] * 3
    assert [inner.list(), blobs.namespace("a").list("b"), blobs.list()] == [["d"], ["b/c/d"], ["a/b/c/d"]]
    assert inner.head("d").key == "d"
    assert blobs.namespace("a").head("b/c/d").key == "b/c/d"
    inner.delete("d")
    assert blobs.list() == []


def test_a_namespace_is_not_its_neighbour(blobs):
    blobs.write("ab/c", b"1")
    blobs.write("a", b"2")
    inner = blobs.namespace("a")
    assert [inner.list(), inner.list("b"), inner.read("b/c"), inner.read_many(["c"])] == [[], [], None, [None]]


@pytest.mark.parametrize("way_out", ["..", "../b", "x/../../b", "\\..\\b"])
def test_a_namespace_cannot_be_left(blobs, way_out):
    inner = blobs.namespace("a")
    for call in (inner.read, inner.list, inner.delete, inner.head, inner.namespace, lambda key: inner.write(key, b"")):
        with pytest.raises(InvalidKeyError):
            call(way_out)


def test_the_life_of_a_namespace_is_that_of_the_ones_below_it(fake):
    blobs = fake.store().blobs
    blobs.namespace("a", ttl_seconds=60).namespace("b").write("c", b"1")
    blobs.namespace("a", ttl_seconds=60).namespace("d", ttl_seconds=90).write("c", b"1")
    fake.clock.advance(seconds=60)
    assert blobs.list() == ["a/d/c"]


def test_tenants_see_nothing_of_each_other(store, backend):
    everyone = [store.blobs, store.scoped("a").blobs, store.scoped("b").blobs]
    for number, blobs in enumerate(everyone):
        blobs.write("k", bytes([number]) * 500_000)
        blobs.write(f"own{number}/x/y", b"")
    for number, blobs in enumerate(everyone):
        assert blobs.read("k") == bytes([number]) * 500_000
        assert blobs.list() == ["k", f"own{number}/x/y"]
        assert blobs.list("own") == [f"own{number}/x/y"]
    everyone[1].delete("k")
    everyone[1].delete("own1/x/y")
    assert [blobs.list() for blobs in everyone] == [["k", "own0/x/y"], [], ["k", "own2/x/y"]]
    backend.clock.advance(days=2)
    assert [blobs.gc().folders for blobs in everyone] == [0, 2, 0]
    assert [len(blobs.read("k") or b"") for blobs in everyone] == [500_000, 0, 500_000]


def test_what_is_listed_is_what_is_there_and_no_more(fake):
    blobs = fake.store().blobs
    for key in KEYS:
        blobs.write(key, b"")
        blobs.write(key, b"again")
        blobs.delete(f"{key}/none")
    for key in KEYS[::2]:
        blobs.delete(key)
        blobs.delete(key)
    assert blobs.list() == sorted(KEYS[1::2])
    assert sum(name[0] == "blob_entry" for name in names(fake)) == len(KEYS[1::2])


@settings(max_examples=100)
@given(KEY, KEY)
def test_two_keys_are_two_blobs(one, other):
    blobs = filled([one])
    assert blobs.read(other) == (one.encode() if blob_path(other) == one else None)
