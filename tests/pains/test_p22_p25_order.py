"""P22, P23, P25: the order in which messages were saved is kept, whatever the clocks say."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.contract.support import START, Clock
from tests.pains.support import another, ids, listed, message, thread, turn

TURN = ["z-user", "y-call", "x-result", "w-answer"]


@pytest.mark.parametrize("given", [True, False], ids=["own-time", "no-time"])
def test_p22_messages_of_one_time_keep_their_order(memory, given):
    memory.save_messages(turn(*TURN, **({"created_at": START} if given else {})))
    assert listed(memory) == TURN
    assert listed(memory, order="desc") == TURN[::-1]
    assert listed(memory, last=4) == ids(memory.context("t").messages) == TURN
    assert ids(memory.list_messages_by_id(sorted(TURN))) == TURN


def test_p22_messages_of_one_time_from_several_calls_keep_their_order(memory):
    for name in TURN:
        memory.save_messages([message(name, created_at=START)])
    assert listed(memory) == TURN
    assert listed(memory, order="desc") == TURN[::-1]


def test_p22_the_order_survives_a_second_save(memory):
    memory.save_messages(turn(*TURN, created_at=START))
    memory.save_messages([message("y-call", content="new", created_at=START)])
    assert listed(memory) == TURN


def test_p22_a_page_ends_between_messages_of_one_time(memory):
    memory.save_messages(turn(*TURN, created_at=START))
    page = memory.list_messages("t", per_page=2)
    assert (ids(page.items), listed(memory, cursor=page.cursor, per_page=2)) == (TURN[:2], TURN[2:])


def test_p23_500_messages_of_one_call_have_the_time_of_the_save(fake):
    memory = fake.store().memory
    saved = memory.save_messages(turn(*(f"m{number}" for number in range(500))))
    times = {one.created_at for one in saved}
    # 33 messages are a transaction, and each comes after the one before.
    assert min(times) == START
    assert max(times) - START < timedelta(milliseconds=50)


def test_p23_times_that_were_given_are_not_touched(fake):
    memory = fake.store().memory
    times = [START + timedelta(milliseconds=number % 7) for number in range(50)]
    saved = memory.save_messages(message(f"m{number}", created_at=time) for number, time in enumerate(times))
    assert [one.created_at for one in saved] == times
    assert [one.created_at for one in memory.list_messages_by_id(ids(saved))] == sorted(times)


def test_p23_another_host_saves_after_500_messages(fake):
    names = [f"m{number}" for number in range(500)]
    fake.store().memory.save_messages(turn(*names))
    other = another(fake)
    fake.clock.advance(milliseconds=1)
    other.store().memory.save_messages(turn("after"))
    assert listed(fake.store().memory) == [*names, "after"]


def test_p23_orders_of_one_store_rise_while_its_clock_stands_still_or_goes_back(fake):
    memory = fake.store().memory
    orders = [memory.save_messages(turn("a"))[0].order, memory.save_messages(turn("b"))[0].order]
    fake.clock.advance(seconds=-60)
    orders.append(memory.save_messages(turn("c"))[0].order)
    assert orders == sorted(set(orders))


@pytest.mark.parametrize("has_row", [True, False], ids=["row", "no-row"])
@pytest.mark.parametrize("given", [True, False], ids=["own-time", "no-time"])
def test_p25_a_reply_from_a_clock_that_is_behind_comes_after(fake, has_row, given):
    ahead, behind = fake, another(fake)
    behind.clock = Clock(START - timedelta(seconds=5))
    first, second = ahead.store().memory, behind.store().memory
    if has_row:
        first.save_thread(thread())
    first.save_messages(turn("question", **({"created_at": START} if given else {})))
    second.save_messages(turn("call", "answer"))
    assert listed(first) == listed(second) == ["question", "call", "answer"]


@pytest.mark.parametrize("has_row", [True, False], ids=["row", "no-row"])
def test_p25_a_conversation_of_two_hosts_keeps_its_order(fake, has_row):
    behind = another(fake)
    behind.clock = Clock(START - timedelta(seconds=5))
    hosts = [fake.store().memory, behind.store().memory]
    if has_row:
        hosts[1].save_thread(thread())
    names = [f"m{number}" for number in range(10, 0, -1)]
    for number, name in enumerate(names):
        hosts[number % 2].save_messages(turn(name))
        fake.clock.advance(milliseconds=100)
        behind.clock.advance(milliseconds=100)
    assert listed(hosts[0]) == names
    assert listed(hosts[1], order="desc") == names[::-1]


def test_p25_a_thread_of_a_clock_that_is_behind_is_updated_forwards(fake):

    behind = another(fake)
    behind.clock = Clock(START - timedelta(seconds=5))
    before = fake.store().memory.save_thread(thread()).updated_at
    behind.store().memory.save_messages(turn("m"))
    assert fake.store().memory.get_thread_by_id("t").updated_at > before
