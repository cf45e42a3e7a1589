"""P08: a save that fails takes nothing away.  P10: half a turn is not saved.  P44: a lost answer is not a failure."""

from __future__ import annotations

import pytest

from singletable import (
    AccessDeniedError,
    ItemTooLargeError,
    OutcomeUnknownError,
    PartialSaveError,
    ThrottledError,
    TransactionFailedError,
)
from singletable.testing import Crash
from tests.pains.support import another, listed, message, thread, turn

TOO_BIG = "x" * 500_000
NAMES = [f"m{number:03}" for number in range(100)]


@pytest.fixture
def filled(memory):
    memory.save_thread(thread())
    memory.save_messages(turn("m1", "m2", content="old"))
    return memory


def test_p08_a_save_that_fails_leaves_what_was_there(filled, backend):
    before = backend.items()
    with pytest.raises(ItemTooLargeError):
        filled.save_messages([*turn("m1", "m2", content="new"), message("m3", content=TOO_BIG)])
    assert backend.items() == before


@pytest.fixture
def faked(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    memory.save_messages(turn("m1", "m2", content="old"))
    fake.sent.clear()
    return memory


@pytest.mark.parametrize("error", [ThrottledError, AccessDeniedError])
def test_p08_a_save_that_is_refused_leaves_what_was_there(fake, faked, error):
    before = fake.items()
    fake.faults.on_request = lambda request: error("no") if request.operation == "TransactWriteItems" else None
    with pytest.raises(error):
        faked.save_messages(turn("m1", "m2", "m3", content="new"))
    assert fake.items() == before


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_p08_a_save_that_crashes_leaves_what_was_there(fake, faked, number):
    before = fake.items()
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        faked.save_messages(turn("m1", "m2", "m3", content="new"))
    assert fake.items() == before


def test_p08_a_transaction_that_is_in_conflict_for_ever_leaves_what_was_there(fake):
    table = fake.table(type(thread()))
    fake.faults.conflict(None)
    with pytest.raises(TransactionFailedError), table.transaction() as tx:
        tx.create(thread())
    assert fake.items() == []


def test_p08_a_conflict_that_passes_is_waited_for(fake, faked):
    fake.faults.conflict(2)
    faked.save_messages(turn("m3"))
    assert listed(faked) == ["m1", "m2", "m3"]


def test_p10_a_turn_with_a_message_that_is_too_big_is_not_stored(memory, backend):
    with pytest.raises(ItemTooLargeError):
        memory.save_messages([message("user"), message("call", content=TOO_BIG), message("result", role="tool")])
    assert backend.items() == []
    assert backend.sent.requests == []


def test_p10_the_error_says_what_is_too_big(memory):
    with pytest.raises(ItemTooLargeError) as caught:
        memory.save_messages([message("user"), message("call", content=TOO_BIG)])
    error = caught.value
    assert error.size_bytes > 500_000
    assert next(iter(error.largest)) == "content"
    assert "content" in str(error)
    assert "xxx" not in str(error)


def test_p10_a_long_save_with_a_message_that_is_too_big_sends_nothing(fake):
    with pytest.raises(ItemTooLargeError):
        fake.store().memory.save_messages([*turn(*NAMES), message("last", content=TOO_BIG)])
    assert fake.sent.requests == []


def refuse_transaction(number):
    """A hook that refuses every transaction from this number on."""
    seen = []

    def hook(request):
        if request.operation == "TransactWriteItems":
            seen.append(request)
        return ThrottledError("no") if len(seen) >= number else None

    return hook


@pytest.mark.parametrize("number", [2, 3])
def test_p10_a_long_save_that_stops_has_saved_a_prefix(fake, number):
    memory = fake.store().memory
    fake.faults.on_request = refuse_transaction(number)
    with pytest.raises(PartialSaveError) as caught:
        memory.save_messages(turn(*NAMES))
    fake.faults.clear()
    saved = [one.id for one in caught.value.saved]
    assert 0 < len(saved) < 100
    assert saved == NAMES[: len(saved)] == listed(memory)
    assert isinstance(caught.value.__cause__, ThrottledError)


def test_p10_what_was_saved_of_a_long_save_is_what_is_stored(fake):
    memory = fake.store().memory
    fake.faults.on_request = refuse_transaction(2)
    with pytest.raises(PartialSaveError) as caught:
        memory.save_messages(turn(*NAMES))
    fake.faults.clear()
    assert list(caught.value.saved) == memory.list_messages("t", per_page=None).items


def test_p10_a_long_save_that_stopped_is_completed_by_the_next(fake):
    memory = fake.store().memory
    fake.faults.on_request = refuse_transaction(2)
    with pytest.raises(PartialSaveError):
        memory.save_messages(turn(*NAMES))
    fake.faults.clear()
    memory.save_messages(turn(*NAMES))
    assert listed(memory) == NAMES


def test_p10_a_long_save_that_stops_at_once_has_saved_nothing(fake):
    memory = fake.store().memory
    fake.faults.on_request = refuse_transaction(1)
    with pytest.raises(ThrottledError):
        memory.save_messages(turn(*NAMES))
    assert fake.items() == []


@pytest.mark.parametrize("fault", ["lose_answer", "resend"])
def test_p44_a_save_whose_answer_is_lost_is_stored_once(fake, fault):
    memory = fake.store().memory
    memory.save_thread(thread())
    getattr(fake.faults, fault)(operation="TransactWriteItems")
    (saved,) = memory.save_messages(turn("a"))
    assert memory.list_messages("t").items == [saved]


@pytest.mark.parametrize("fault", ["lose_answer", "resend"])
def test_p44_a_new_thread_whose_answer_is_lost_is_saved(fake, fault):
    memory = fake.store().memory
    getattr(fake.faults, fault)(operation="TransactWriteItems")
    saved = memory.save_thread(thread(title="Trip"))
    assert memory.get_thread_by_id("t") == saved


@pytest.mark.parametrize("fault", ["lose_answer", "resend"])
def test_p44_an_update_whose_answer_is_lost_succeeds(fake, fault):
    memory = fake.store().memory
    memory.save_thread(thread())
    getattr(fake.faults, fault)(operation="UpdateItem")
    assert memory.update_thread("t", title="new").title == "new"
    assert memory.get_thread_by_id("t").title == "new"


def test_p44_an_update_that_cannot_be_settled_is_told_as_unknown(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    other = another(fake).store().memory

    def change(request):
        if request.operation == "GetItem":
            fake.faults.on_request = None
            other.update_thread("t", title="theirs")

    fake.faults.on_request = change
    fake.faults.lose_answer(operation="UpdateItem")
    with pytest.raises(OutcomeUnknownError):
        memory.update_thread("t", title="own")
