"""P73: which keys are one.  P74: any beginning of a key lists it.  P75: namespaces compose once.

P70: no two other keys are one.  P71: case is kept."""

from __future__ import annotations

import pytest
from strands.storage.storage import _normalize_key
from strands.types.exceptions import StorageError

from singletable import InvalidKeyError
from singletable.store.blob_keys import blob_path

PATHS = ["a//b", "/a/b", "a/b/", "///a///b///", "a/./b", "./a", "a/...", "a/..b", "a\u2215b", "a\uff0fb", "a/B", "a\nb"]
REFUSED = ["..", "../a", "a/../b", "a/..", "/../", "\\", "a\\b", "..\\a", "", "/", "//"]


@pytest.mark.parametrize("key", PATHS)
def test_p73_keys_are_one_where_they_are_for_strands(key):
    assert blob_path(key) == _normalize_key(key)


@pytest.mark.parametrize("key", REFUSED)
def test_p73_keys_that_strands_refuses_are_refused(key):
    with pytest.raises(StorageError):
        _normalize_key(key)
    with pytest.raises(InvalidKeyError):
        blob_path(key)


def test_p73_slashes_that_say_nothing_are_left_out_on_every_way(store):
    store.blobs.write("a//b", b"1")
    store.blobs.write("/a/b/", b"2")
    assert store.blobs.list() == ["a/b"]
    assert [store.blobs.read(key) for key in ("a/b", "a//b", "/a/b", "a/b/", "a/./b")] == [b"2"] * 4 + [None]
    store.blobs.delete("///a/b")
    assert store.blobs.list() == []


def test_p73_tenants_are_no_paths(store):
    names = ["a", "a/", "/a", "a//b", "a/b", "../a", "a/../b"]
    for name in names:
        store.scoped(name).blobs.write("k", name.encode())
    assert [store.scoped(name).blobs.read("k") for name in names] == [name.encode() for name in names]


def test_p74_every_beginning_of_a_key_lists_it(store):
    key = "sessions/abc/x/y"
    store.blobs.write(key, b"")
    store.blobs.write("z", b"")
    assert [store.blobs.list(key[:end]) for end in range(1, len(key) + 1)] == [[key]] * len(key)
    assert store.blobs.list("") == [key, "z"]
    for prefix in ("sessions/abd", "sessions/abc/x/y/", "x", "sessions/abc/x/yy", "session/"):
        assert store.blobs.list(prefix) == []


def test_p74_a_blank_is_a_beginning_too(store):
    store.blobs.write(" a/b", b"")
    store.blobs.write("a", b"")
    assert store.blobs.list(" ") == [" a/b"]


def test_p75_a_namespace_is_added_once(store):
    blobs = store.blobs.namespace("session").namespace("s1")
    blobs.write("state", b"1")
    assert store.blobs.list() == ["session/s1/state"]
    assert store.blobs.namespace("session").list() == ["s1/state"]
    assert [blobs.list(), blobs.list("st"), blobs.head("state").key] == [["state"], ["state"], "state"]
    assert store.blobs.namespace("session/s1").read("state") == b"1"


def test_p75_nothing_of_a_neighbour_is_seen(store):
    for key in ("session/s1/a", "session/s12/b", "session/s1", "sessions/s1/c"):
        store.blobs.write(key, b"1")
    blobs = store.blobs.namespace("session/s1")
    assert [blobs.list(), blobs.list("2")] == [["a"], []]
    for key in ("../s12/b", "x/../../s12/b"):
        with pytest.raises(InvalidKeyError):
            blobs.read(key)


def test_p71_case_is_kept(store):
    store.blobs.write("AbC", b"1")
    store.blobs.write("abc", b"2")
    assert [store.blobs.list(), store.blobs.read("AbC"), store.blobs.list("a")] == [["AbC", "abc"], b"1", ["abc"]]


@pytest.mark.parametrize(
    ("one", "other"), [("a#b", "a%23b"), ("#", "%23"), ("é", "e\u0301"), ("a\0", "a"), ("a ", "a")]
)
def test_p70_no_two_keys_are_one(store, one, other):
    store.blobs.write(one, b"1")
    store.blobs.write(other, b"2")
    assert [store.blobs.read(one), store.blobs.read(other)] == [b"1", b"2"]
    assert store.blobs.list() == sorted([one, other])
