"""Reports on threads: what they count, and what they read, on the fake and on moto, sync and async."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable import RequestError
from singletable.codec import item_size_bytes
from singletable.schemas import Message, Thread
from singletable.store.thread_reports import MOST, Diagnosis, EqualTimes, LargeMessage, ThreadStats
from tests.contract.support import START, FakeBackend

SECOND = timedelta(seconds=1)


def message(message_id, second=0, **fields):
    fields = {"role": "user", "content": message_id, "created_at": START + SECOND * second, **fields}
    return Message(id=message_id, thread_id="t", **fields)


def test_stats_say_how_large_a_thread_is(backend):
    memory = backend.store().memory
    memory.save_thread(Thread(id="t", resource_id="ada"))
    memory.save_messages([message("a", 1, content="é" * 100, metadata={"k": 1}), message("b", 5), message("c", 3)])
    messages = [item for item in backend.items() if item["_entity"]["S"] == "message"]
    assert memory.stats("t") == ThreadStats(
        items=3,
        bytes=sum(map(item_size_bytes, messages)),
        oldest=START + SECOND,
        newest=START + 5 * SECOND,
        next_expiry=None,
    )


def test_stats_say_what_expires_next(backend):
    memory = backend.store(ttl={"message": {"default_ttl_seconds": 60}}).memory
    memory.save_messages([message("a", 9)])
    backend.clock.advance(seconds=10)
    memory.save_messages([message("b", 1)])
    assert memory.stats("t").next_expiry == START + 60 * SECOND
    backend.clock.advance(seconds=50)
    found = memory.stats("t")
    assert (found.items, found.next_expiry) == (1, START + 70 * SECOND)


@pytest.mark.parametrize("deleted", [False, True])
def test_reports_on_a_thread_that_is_not_there(memory, deleted):
    if deleted:
        memory.save_messages([message("a")])
        memory.delete_thread("t")
    assert memory.stats("t") == ThreadStats()
    assert memory.diagnose("t") == Diagnosis()


def test_a_diagnosis_of_a_sound_thread(memory):
    memory.save_messages([message("a", 1), message("b", 2)])
    assert memory.diagnose("t") == Diagnosis(items=2)


def test_a_diagnosis_names_equal_times(memory):
    memory.save_messages(message(f"m{number}", second) for number, second in enumerate([0, 1, 1, 2, 3, 3, 3]))
    assert memory.diagnose("t").equal_times == (EqualTimes(START + SECOND, 2), EqualTimes(START + 3 * SECOND, 3))


def test_a_diagnosis_names_large_messages(backend):
    memory = backend.store().memory
    memory.save_messages([message("a", 1, content="x" * 2000), message("b", 2), message("c", 3, content="x" * 150_000)])
    sizes = {item["id"]["S"]: item_size_bytes(item) for item in backend.items() if "id" in item}
    assert memory.diagnose("t").large == (LargeMessage("c", sizes["c"]),)
    found = memory.diagnose("t", large_bytes=sizes["a"]).large
    assert found == (LargeMessage("a", sizes["a"]), LargeMessage("c", sizes["c"]))


def test_lists_of_a_diagnosis_end(fake):
    memory = fake.store().memory
    content = [{"type": "tool_use", "id": f"x{number}"} for number in range(MOST + 1)]
    results = [{"type": "tool_result", "tool_use_id": f"y{number}"} for number in range(MOST + 1)]
    memory.save_messages([message("a", 1, content=results)])
    found = memory.diagnose("t")
    assert (len(found.unpaired_results), found.is_cut) == (MOST, True)
    memory.save_messages([message("a", 1, content=content)])
    found = memory.diagnose("t")
    assert (len(found.unpaired_calls), found.is_cut) == (MOST, True)


@pytest.mark.parametrize("report", [lambda m: m.stats("t"), lambda m: m.diagnose("t")], ids=["stats", "diagnose"])
def test_reports_read_a_page_at_a_time(fake, report):
    memory = fake.store().memory
    memory.save_messages(message(f"m{number:02}", number, content="x" * 200_000) for number in range(20))
    fake.sent.clear()
    assert report(memory).items == 20
    assert fake.sent.operations == ["Query"] * 4 + ["GetItem"]
    assert all(request.params["ConsistentRead"] for request in fake.sent.requests)


@pytest.mark.parametrize("report", [lambda m: m.stats("t"), lambda m: m.diagnose("t")], ids=["stats", "diagnose"])
def test_p4c_a_thread_that_is_deleted_meanwhile_has_no_report(fake, report):
    memory, other, seen = fake.store().memory, FakeBackend(database=fake.database), []
    memory.save_messages(message(f"m{number:02}", number, content="x" * 200_000) for number in range(20))

    def hook(request):
        seen.append(request)
        if len(seen) == 3:
            other.store().memory.delete_thread("t")

    other.clock = fake.clock
    fake.faults.on_request = hook
    assert report(memory).items == 0


@pytest.mark.parametrize("size", [0, -1, 1.5, "1", True, None], ids=repr)
def test_a_size_is_a_whole_number(memory, size):
    with pytest.raises(RequestError, match="large_bytes"):
        memory.diagnose("t", large_bytes=size)


@pytest.mark.parametrize("one", ["", " ", None, 5], ids=repr)
def test_a_report_is_on_one_thread(memory, one):
    for report in (memory.stats, memory.diagnose):
        with pytest.raises(RequestError, match="thread_id"):
            report(one)
