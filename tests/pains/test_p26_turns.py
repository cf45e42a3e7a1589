"""P26: the window of the newest messages never begins between a tool's call and its result."""

from __future__ import annotations

import pytest

from singletable import ThreadDeletedError, lt
from singletable.store._sync.aligning import LOOK_BACK, SPARE
from tests.contract.support import START
from tests.pains.support import another, ids, message, thread


def call(name, *tools, **fields):
    content = [{"type": "tool_use", "id": tool} for tool in tools]
    return message(name, role="assistant", content=content, **fields)


def result(name, tool, **fields):
    return message(name, role="user", content=[{"type": "tool_result", "tool_use_id": tool}], **fields)


def window(memory, last, thread_id="t"):
    """The same by both ways to it."""
    listed = memory.list_messages(thread_id, last=last, align="turn")
    assert ids(memory.list_messages(thread_id, last=last, align="turn", order="desc").items) == ids(listed.items)[::-1]
    assert memory.context(thread_id, last=last, align="turn").messages == listed.items
    return ids(listed.items)


@pytest.fixture
def conversation(memory):
    """Questions q, calls c of two tools at once, results r and s, answers a; four turns."""
    memory.save_thread(thread())
    for number in range(4):
        tools = f"x{number}", f"y{number}"
        memory.save_messages(
            [
                message(f"q{number}"),
                call(f"c{number}", *tools),
                result(f"r{number}", tools[0]),
                result(f"s{number}", tools[1]),
                message(f"a{number}", role="assistant"),
            ]
        )
    return memory


NAMES = [f"{letter}{number}" for number in range(4) for letter in "qcrsa"]


@pytest.mark.parametrize("last", range(1, 25))
def test_p26_a_window_begins_with_the_call(conversation, last):
    start = max(len(NAMES) - last, 0)
    while NAMES[start][0] in "rs":
        start -= 1
    assert window(conversation, last) == NAMES[start:]


def test_p26_the_hundredth_from_last_is_a_result(fake):
    memory = fake.store().memory
    names = [f"m{number:03}" for number in range(98)]
    memory.save_messages([message("q"), call("c", "x"), result("r1", "x"), result("r2", "x")])
    memory.save_messages([message(name) for name in names])
    assert window(memory, 100) == ["c", "r1", "r2", *names]
    assert ids(memory.list_messages("t", last=100).items) == ["r1", "r2", *names]


def test_p26_without_alignment_there_are_as_many_as_are_asked_for(conversation):
    assert ids(conversation.context("t", last=3).messages) == ["r3", "s3", "a3"]
    assert ids(conversation.list_messages("t", last=3).items) == ["r3", "s3", "a3"]


@pytest.mark.parametrize("last", [1, 2, 3, 7])
def test_p26_the_windows_before_it_are_the_rest(conversation, last):
    page = conversation.list_messages("t", last=last, align="turn")
    found = ids(page.items)
    while page.has_more:
        page = conversation.list_messages("t", last=last, align="turn", cursor=page.cursor)
        assert page.items[0].id[0] not in "rs"
        found = ids(page.items) + found
    assert found == NAMES


def test_p26_the_total_is_that_of_the_thread(conversation):
    assert conversation.list_messages("t", last=3, align="turn", include_total=True).total == len(NAMES)


def test_p26_a_bound_in_time_is_kept(conversation):
    times = {one.id: one.created_at for one in conversation.list_messages("t", per_page=None).items}
    page = conversation.list_messages("t", last=3, align="turn", created_at=lt(times["q3"]))
    assert ids(page.items) == ["c2", "r2", "s2", "a2"]


# What it costs.


@pytest.mark.parametrize("last", [1, 3, 20])
def test_p26_the_context_of_a_turn_is_one_request(conversation, backend, last):
    backend.sent.clear()
    conversation.context("t", last=last, align="turn")
    assert backend.sent.operations == ["Query"]
    assert backend.sent.scanned_counts <= [last + SPARE + 1]


def long_turn(fake, between):
    """A call, so many messages, and its result."""
    memory = fake.store().memory
    memory.save_messages([message("first"), call("call", "x")])
    memory.save_messages([message(f"m{number:03}") for number in range(between)])
    memory.save_messages([result("result", "x")])
    fake.sent.clear()
    return memory


@pytest.mark.parametrize("between", [0, 5, SPARE - 1, SPARE, 60, LOOK_BACK - SPARE])
def test_p26_a_call_that_lies_further_back_is_found(fake, between):
    memory = long_turn(fake, between)
    found = window(memory, 1)
    assert (found[0], found[-1], len(found)) == ("call", "result", between + 2)


def test_p26_reading_further_back_is_one_request_for_fifty(fake):
    memory = long_turn(fake, 60)
    memory.context("t", last=1, align="turn")
    assert fake.sent.operations == ["Query"] * 3 + ["GetItem"]


def test_p26_a_call_is_not_looked_for_without_end(fake):
    memory = long_turn(fake, 600)
    assert window(memory, 1) == ["result"]
    assert sum(fake.sent.scanned_counts) < 3 * 400


def test_p26_a_result_without_a_call_is_no_pair(fake):
    memory = fake.store().memory
    memory.save_messages([message("a"), message("b"), result("r", "never"), message("c")])
    assert window(memory, 2) == ["r", "c"]


def test_p26_a_thread_of_less(fake):
    memory = fake.store().memory
    assert window(memory, 5) == []
    memory.save_messages([result("r", "never")])
    assert window(memory, 5) == ["r"]
    assert not memory.list_messages("t", last=5, align="turn").has_more


def test_p26_a_deleted_thread_has_no_turns(conversation):
    conversation.delete_thread("t")
    assert window(conversation, 3) == []


def test_p4c_a_thread_that_is_deleted_while_its_turn_is_read(fake):
    memory, other, seen = long_turn(fake, 60), another(fake).store().memory, []

    def hook(request):
        seen.append(request)
        if len(seen) == 2:
            other.delete_thread("t")

    fake.faults.on_request = hook
    found = memory.context("t", last=1, align="turn")
    assert (found.thread, ids(found.messages)) == (None, [])


def test_p4c_the_turns_before_those_of_a_deleted_thread(conversation):
    page = conversation.list_messages("t", last=3, align="turn")
    conversation.delete_thread("t")
    with pytest.raises(ThreadDeletedError):
        conversation.list_messages("t", last=3, align="turn", cursor=page.cursor)


# A crash after the call was saved, and the report that finds it.


def test_p26_the_report_names_what_has_no_counterpart(memory):
    memory.save_messages([call("c1", "whole"), result("r1", "whole")])
    memory.save_messages([result("r2", "lost call"), call("c2", "crashed", "another")])
    memory.save_messages([result("r3", "another"), result("r4", "another"), message("m")])
    found = memory.diagnose("t")
    assert (found.items, found.unpaired_calls) == (7, ("crashed",))
    assert (found.unpaired_results, found.is_cut) == (("lost call", "another"), False)


def test_p26_a_result_before_its_call_is_none(memory):
    memory.save_messages([result("r", "x", created_at=START), call("c", "x", created_at=START)])
    found = memory.diagnose("t")
    assert (found.unpaired_results, found.unpaired_calls) == (("x",), ("x",))


def test_p26_a_call_and_its_results_are_stored_in_one_transaction(fake):
    memory = fake.store().memory
    memory.save_messages([call("c", "x", "y"), result("r", "x"), result("s", "y")])
    assert fake.sent.operations.count("TransactWriteItems") == 1
    assert memory.diagnose("t").unpaired_calls == ()
