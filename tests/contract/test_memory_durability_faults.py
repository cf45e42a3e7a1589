"""Messages that are saved one by one, by a process that dies or does not hear of what it did."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable.testing import Crash
from tests.contract.durability import CASES, EACH_REQUEST, assert_whole, begun, contents, other_process

SECOND = timedelta(seconds=1)
EACH_WRITE = [
    (name, operation)
    for name, case in CASES.items()
    for operation in dict.fromkeys(case.requests)
    if operation in ("UpdateItem", "PutItem", "TransactWriteItems")
]


@pytest.mark.parametrize("behind", [timedelta(), SECOND], ids=["same-time", "clock-behind"])
@pytest.mark.parametrize(("name", "number"), EACH_REQUEST)
def test_a_save_that_died_is_completed_by_another_process(fake, name, number, behind):
    memory, case = begun(fake, name)
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        memory.save_messages(case.save)
    other = other_process(fake, behind=behind)
    seen = dict(contents(other) + contents(other, "u"))
    assert seen == {one.id: one.content for one in other.list_messages_by_id([*"abc"])}
    assert {one.id for one in case.before} <= seen.keys()
    other.save_messages(case.save)
    assert_whole(fake, other, case)


@pytest.mark.parametrize("number", range(1, 8))
def test_a_save_that_died_is_completed_by_a_transaction(fake, number):
    memory, case = begun(fake, "new")
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        memory.save_messages(case.save)
    fake.store().memory.save_messages(case.save)
    assert_whole(fake, memory, case)


@pytest.mark.parametrize("fault", ["lose_answer", "resend"])
@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize(("name", "operation"), EACH_WRITE)
def test_lost_answers_change_nothing(fake, name, fault, operation, times):
    memory, case = begun(fake, name)
    getattr(fake.faults, fault)(times, operation=operation)
    memory.save_messages(case.save)
    fake.faults.clear()
    assert_whole(fake, memory, case)
