"""DynamoDBStorage beside the SDK's own storage in memory: what one does, the other does."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strands.storage import InMemoryStorage, Storage
from strands.storage.search import KeywordSearchStrategy
from strands.storage.storage import StorageSearchResult, _resolve_namespace
from strands.types.exceptions import StorageError

from singletable import AsyncDynamoDBStore, UnreachableError
from singletable.integrations.strands import SEARCHED, DynamoDBStorage
from singletable.testing import AsyncMemoryTransport, MemoryDatabase
from tests.contract.support import FakeBackend

PART = st.sampled_from(
    ["a", "b", "ab", "A", "", ".", "..", "...", " ", "é", "😀", "#", "%23", "a.txt", "\\", "\0", "~"]
)
TEXT = st.lists(PART, max_size=5).map("/".join)
DATA = st.binary(max_size=5) | st.just(b"x" * 500_000)
CALL = st.one_of(
    st.tuples(st.just("write"), TEXT, DATA),
    st.tuples(st.sampled_from(["read", "delete", "list", "list", "namespace"]), TEXT),
)


def is_blank(key):
    """Keys that DynamoDB, or at least this library, cannot hold: nothing can be seen of them."""
    return isinstance(key, str) and key.strip("/") != "" and not key.strip("/").strip()


def storages(**options):
    store = AsyncDynamoDBStore("agents", transport=AsyncMemoryTransport(MemoryDatabase()))
    return DynamoDBStorage(store, **options), InMemoryStorage(**options)


async def outcome(storage, name, *args):
    """What a call gives, or that it is refused."""
    try:
        found = getattr(storage, name)(*args)
        return found if name == "namespace" else await found
    except StorageError:
        return StorageError


async def alike(calls):
    """The same calls on both; a namespace is what the calls after it are sent to."""
    ours, theirs = storages()
    for name, *args in calls:
        mine, other = await outcome(ours, name, *args), await outcome(theirs, name, *args)
        if name == "namespace" and StorageError not in (mine, other):
            ours, theirs = mine, other
        else:
            assert mine == other, (name, args)


@settings(max_examples=250)
@given(st.lists(CALL.filter(lambda call: call[0] in ("list", "namespace") or not is_blank(call[1])), max_size=14))
@example([("namespace", " "), ("write", "a", b"1"), ("list", ""), ("list", " ")])
@example([("write", " /a", b"1"), ("list", " ")])
@example([("write", "a//b/", b"1"), ("read", "/a/b"), ("list", "/a//"), ("delete", "a/b"), ("list", "")])
def test_random_calls_have_the_same_results(calls):
    asyncio.run(alike(calls))


KEYS = ["notes/a.md", "notes/ab/c", "sessions/1/x/y", "sessions/12/x", "z", "notes", "sessions/1/x/y/z", " /b", "a /b"]


def test_every_beginning_of_every_key_lists_the_same():
    prefixes = {key[:end] for key in KEYS for end in range(len(key) + 1)} | {key + "/" for key in KEYS}
    writes = [("write", key, key.encode()) for key in KEYS]
    asyncio.run(alike([*writes, *(("list", prefix) for prefix in sorted(prefixes))]))


@pytest.mark.parametrize("key", [" ", "\t", "/ /", "a/" + "x" * 1100, "é" * 600, "a\ud83d"])
def test_keys_that_only_the_storage_in_memory_can_hold(key):
    async def check():
        ours, theirs = storages()
        await theirs.write(key, b"1")
        with pytest.raises(StorageError):
            await ours.write(key, b"1")

    asyncio.run(check())


def test_it_is_a_storage_and_a_namespace_is_one_that_nobody_puts_into_another():
    ours, _ = storages()
    assert isinstance(ours, Storage)
    scoped = ours.namespace("agent")
    assert _resolve_namespace(scoped, "session") is scoped
    assert _resolve_namespace(ours, "session").blobs.prefix == "session/"


def test_what_is_written_can_be_read_by_another_process():
    async def check():
        database = MemoryDatabase()
        one, other = (
            DynamoDBStorage(AsyncDynamoDBStore("agents", transport=AsyncMemoryTransport(database))) for _ in range(2)
        )
        await one.namespace("a").write("b", bytearray(b"1"))
        assert await other.read("a/b") == b"1"

    asyncio.run(check())


@pytest.mark.parametrize("call", ["read", "delete", "list", "write"])
def test_a_failure_of_dynamodb_is_a_storage_error(call):
    async def check():
        transport = AsyncMemoryTransport(MemoryDatabase())
        ours = DynamoDBStorage(AsyncDynamoDBStore("agents", transport=transport))
        transport.faults.on_request = lambda _: UnreachableError("gone")
        with pytest.raises(StorageError, match="gone") as raised:
            await getattr(ours, call)("a", *([b""] if call == "write" else []))
        assert isinstance(raised.value.__cause__, UnreachableError)

    asyncio.run(check())


# Search

TEXTS = {
    "notes/tea.md": b"green tea and black tea",
    "notes/coffee.md": b"black coffee",
    "notes/deep/er/still.txt": b"coffee, tea, milk",
    "binary": b"\xff\xfe",
}


@pytest.mark.parametrize("query", ["tea", "black coffee", "the", "", "notes", "md", "milk tea coffee", "nothing"])
@pytest.mark.parametrize("prefix", ["", "notes", "notes/deep"])
def test_search_without_a_strategy_finds_the_same(prefix, query):
    async def check():
        found = []
        for storage in storages():
            for key, text in TEXTS.items():
                await storage.write(key, text)
            found.append(await storage.namespace(prefix).search(query))
        assert found[0] == found[1]

    asyncio.run(check())


def test_search_reads_no_more_than_a_bound():
    async def check():
        fake = FakeBackend()
        blobs = fake.store().blobs
        for number in range(SEARCHED):
            blobs.write(f"a/b/{number}", b"tea")
        store = AsyncDynamoDBStore("fake", transport=AsyncMemoryTransport(fake.database))
        storage = DynamoDBStorage(store)
        assert len(await storage.search("tea")) == SEARCHED
        blobs.write("c", b"tea")
        with pytest.raises(StorageError, match="1000"):
            await storage.search("tea")
        assert [result.key for result in await storage.namespace("a").search("17")] == ["b/17"]
        assert await DynamoDBStorage(store, search_strategy=Strategy()).search("c") == [StorageSearchResult("c", 1.0)]

    asyncio.run(check())


class Strategy(KeywordSearchStrategy):
    """One of a user's own."""

    def __init__(self, failure=None):
        self.indexed, self.failure = [], failure

    async def index(self, storage, key, data, **kwargs):
        self.indexed.append((storage, key, data, await storage.read(key)))
        if self.failure:
            raise self.failure

    async def search(self, storage, query, **kwargs):
        return [StorageSearchResult(query, 1.0)]


def test_a_strategy_indexes_what_is_written_and_answers():
    async def check():
        seen = []
        for storage in storages(search_strategy=Strategy()):
            strategy = storage.search_strategy if isinstance(storage, DynamoDBStorage) else storage._search_strategy
            scoped = storage.namespace("n")
            await storage.write("/a//b/", b"1")
            await scoped.write("c", b"2")
            found = await scoped.search("x")
            written = [(key, data, read) for _, key, data, read in strategy.indexed[-2:]]
            seen.append((written, found))
            assert [one[0] for one in strategy.indexed[-2:]] == [storage, scoped]
        assert seen[0] == seen[1]

    asyncio.run(check())


def test_what_cannot_be_indexed_is_stored_nevertheless():
    async def check():
        for storage in storages(search_strategy=Strategy(RuntimeError("index"))):
            with pytest.raises(StorageError, match="indexing failed"):
                await storage.write("a", b"1")
            assert await storage.read("a") == b"1"

    asyncio.run(check())
