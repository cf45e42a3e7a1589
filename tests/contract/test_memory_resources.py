"""Resources of store.memory: Mastra's cases by their ids, and working memory that is changed as it was read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from singletable import ConditionFailedError, NotFoundError, RequestError
from singletable.schemas import Resource
from tests.contract.support import START, FakeBackend


def resource(**fields):
    return Resource(id="ada", **fields)


def stored(memory):
    return memory.get_resource_by_id("ada")


def other_process(fake):
    other = FakeBackend(database=fake.database)
    other.clock = fake.clock
    return other.store().memory


def before(fake, operation, act):
    """Let another process act before the first request of this kind."""
    left = [act]

    def hook(request):
        if request.operation == operation and left:
            left.pop()(other_process(fake))

    fake.faults.on_request = hook


# R01 to R15.


def test_r01_a_resource_is_created_and_read(memory):
    saved = memory.save_resource(resource(working_memory="likes tea", metadata={"a": 1}))
    assert stored(memory) == saved
    assert (saved.working_memory, saved.metadata, saved.created_at, saved.updated_at) == (
        "likes tea",
        {"a": 1},
        START,
        START,
    )


def test_r02_an_id_and_dates_that_are_given(memory):
    times = {"created_at": START - timedelta(days=2), "updated_at": START - timedelta(days=1)}
    given = Resource(id="mine", **times)
    assert memory.save_resource(given) == memory.get_resource_by_id("mine") == given


def test_r03_a_resource_that_is_not_there_is_none(memory):
    assert stored(memory) is None


@pytest.mark.parametrize(
    ("change", "working_memory", "metadata"),
    [
        pytest.param({"working_memory": "new", "metadata": {"b": 2}}, "new", {"a": 1, "b": 2}, id="r04-both"),
        pytest.param({"working_memory": "new"}, "new", {"a": 1}, id="r05-working-memory"),
        pytest.param({"metadata": {"a": 2}}, "old", {"a": 2}, id="r06-metadata"),
        pytest.param({"working_memory": ""}, "", {"a": 1}, id="r08-empty-working-memory"),
        pytest.param({"working_memory": None}, None, {"a": 1}, id="no-working-memory"),
        pytest.param({"metadata": {}}, "old", {"a": 1}, id="r10-empty-metadata"),
        pytest.param({}, "old", {"a": 1}, id="r09-r11-nothing"),
    ],
)
def test_r04_to_r11_an_update_changes_what_is_given(memory, change, working_memory, metadata):
    memory.save_resource(resource(working_memory="old", metadata={"a": 1}))
    updated = memory.update_resource("ada", **change)
    assert updated == stored(memory)
    assert (updated.working_memory, updated.metadata) == (working_memory, metadata)


@pytest.mark.parametrize(
    ("change", "working_memory", "metadata"),
    [({}, None, {}), ({"working_memory": ""}, "", {}), ({"metadata": {"a": 1}}, None, {"a": 1})],
    ids=["nothing", "working-memory", "metadata"],
)
def test_r07_an_update_creates_what_is_not_there(memory, change, working_memory, metadata):
    updated = memory.update_resource("ada", **change)
    assert updated == stored(memory)
    assert (updated.working_memory, updated.metadata, updated.created_at) == (working_memory, metadata, START)


@pytest.mark.parametrize(
    "given", [{}, {"working_memory": ""}, {"working_memory": None}, {"metadata": {}}], ids=lambda given: repr(given)
)
def test_r08_to_r11_a_resource_that_is_saved_with_nothing_has_nothing(memory, given):
    memory.save_resource(resource(working_memory="old", metadata={"a": 1}))
    memory.save_resource(resource(**given))
    assert (stored(memory).working_memory, stored(memory).metadata) == (given.get("working_memory"), {})


def test_r12_complex_metadata(memory):
    metadata = {"deep": {"list": [1, 1.5, None, True, {"x": ["é😀"]}], "empty": {}}, "text": "a\n\"b\" 'c'", "n": -3}
    memory.save_resource(resource(metadata=metadata))
    assert stored(memory).metadata == metadata


@pytest.mark.parametrize("text", ["x" * 10_240, '{"json": ["text"]}', "é😀" * 3_000], ids=len)
def test_r13_working_memory_is_text_of_any_kind(memory, text):
    memory.save_resource(resource(working_memory=text))
    assert stored(memory).working_memory == text


def test_r14_updated_at_moves(memory, backend):
    stamps = [memory.save_resource(resource()).updated_at, memory.update_resource("ada", working_memory="1").updated_at]
    now = backend.clock.advance(minutes=1)
    stamps.append(memory.update_resource("ada", metadata={"a": 1}).updated_at)
    assert stamps == sorted(set(stamps))
    assert stamps[-1] == now == stored(memory).updated_at
    assert stored(memory).created_at == START


def test_r15_updates_at_once_are_all_kept(fake):
    memory = fake.store().memory
    memory.save_resource(resource())
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda number: memory.update_resource("ada", metadata={f"k{number}": number}), range(5)))
    assert stored(memory).metadata == {f"k{number}": number for number in range(5)}


# Working memory that is changed as it was read.


@pytest.mark.parametrize("old", ["old", "", None], ids=repr)
@pytest.mark.parametrize("new", ["new", "", None], ids=repr)
def test_working_memory_that_is_as_expected_is_replaced(memory, backend, old, new):
    memory.save_resource(resource(working_memory=old, metadata={"a": 1}))
    backend.clock.advance(minutes=1)
    updated = memory.update_working_memory("ada", new, expected=old)
    assert updated == stored(memory)
    assert (updated.working_memory, updated.metadata, updated.created_at) == (new, {"a": 1}, START)
    assert updated.updated_at == START + timedelta(minutes=1)


@pytest.mark.parametrize(("old", "expected"), [("old", "other"), ("old", None), ("old", ""), (None, ""), ("", None)])
def test_working_memory_that_is_not_as_expected_stays(memory, backend, old, expected):
    saved = memory.save_resource(resource(working_memory=old, metadata={"a": 1}))
    items = backend.items()
    backend.sent.clear()
    with pytest.raises(ConditionFailedError) as caught:
        memory.update_working_memory("ada", "new", expected=expected)
    assert backend.sent.operations == ["UpdateItem"]
    assert caught.value.current == saved
    assert backend.items() == items


def test_working_memory_of_a_resource_that_is_not_there(memory, backend):
    with pytest.raises(NotFoundError):
        memory.update_working_memory("ada", "new", expected="old")
    assert backend.items() == []
    created = memory.update_working_memory("ada", "new", expected=None)
    assert created == stored(memory)
    assert (created.working_memory, created.created_at) == ("new", START)


def test_working_memory_that_is_written_meanwhile_is_a_conflict(fake):
    memory = fake.store().memory
    memory.save_resource(resource(working_memory="old"))
    before(fake, "UpdateItem", lambda other: other.update_resource("ada", working_memory="theirs"))
    with pytest.raises(ConditionFailedError) as caught:
        memory.update_working_memory("ada", "own", expected="old")
    assert caught.value.current.working_memory == stored(memory).working_memory == "theirs"


def test_a_resource_that_is_created_meanwhile_is_a_conflict(fake):
    memory = fake.store().memory
    before(fake, "PutItem", lambda other: other.update_resource("ada", working_memory="theirs"))
    with pytest.raises(ConditionFailedError):
        memory.update_working_memory("ada", "own", expected=None)
    assert stored(memory).working_memory == "theirs"


def test_a_resource_that_is_created_meanwhile_without_working_memory_gets_it(fake):
    memory = fake.store().memory
    before(fake, "PutItem", lambda other: other.update_resource("ada", metadata={"a": 1}))
    updated = memory.update_working_memory("ada", "own", expected=None)
    assert (updated.working_memory, updated.metadata) == ("own", {"a": 1})


def test_a_clock_that_is_behind_is_no_conflict(memory, backend):
    saved = memory.save_resource(resource(working_memory="old"))
    backend.clock.advance(hours=-1)
    assert memory.update_working_memory("ada", "new", expected="old").updated_at > saved.updated_at


def test_the_expected_text_must_be_given(memory):
    with pytest.raises(TypeError, match="expected"):
        memory.update_working_memory("ada", "new")


@pytest.mark.parametrize("wrong", [{"a": 1}, 5, ["x"]], ids=repr)
def test_working_memory_that_is_no_text_is_refused(fake, wrong):
    memory = fake.store().memory
    memory.save_resource(resource())
    items = fake.items()
    for options in ({"expected": None}, {"expected": "old"}):
        with pytest.raises(RequestError):
            memory.update_working_memory("ada", wrong, **options)
    assert fake.items() == items


def test_requests_of_working_memory(backend):
    memory = backend.store().memory
    operations = []
    for expected, new in ((None, "1"), ("1", "2")):
        backend.sent.clear()
        memory.update_working_memory("ada", new, expected=expected)
        backend.clock.advance(seconds=1)
        operations.append(backend.sent.operations)
    assert operations == [["UpdateItem", "PutItem"], ["UpdateItem"]]
