"""P1d: a read that fails while something is saved ends the save; nothing smaller takes the place of what was stored."""

from __future__ import annotations

from itertools import count

import pytest

from singletable import AccessDeniedError
from tests.contract.every_verb import CALLS
from tests.contract.support import READS
from tests.contract.users import ADA, fill

SAVES = [
    "memory.save_messages",
    "memory.set_thread_state",
    "memory.update_messages",
    "memory.update_thread_metadata",
    "workflows.persist_workflow_snapshot",
    "workflows.update_workflow_results",
    "workflows.update_workflow_state",
]
"""Those that read before they write."""


def refuse_read(number):
    """A hook that refuses the read of this number."""
    numbers = count(1)

    def hook(request):
        if request.operation in READS and next(numbers) == number:
            return AccessDeniedError("refused", operation=request.operation)
        return None

    return hook


@pytest.mark.parametrize("name", SAVES)
def test_p1d_a_save_whose_read_fails_leaves_what_was_stored(fake, name):
    store = fake.store()
    fill(store, ADA, "x")
    before = fake.items()
    for number in count(1):
        fake.sent.clear()
        fake.faults.on_request = refuse_read(number)
        try:
            CALLS[name](store)
            break
        except AccessDeniedError:
            assert fake.items() == before
    assert number > 1
    # Its reads were all refused once, and then it was saved.
    assert len([one for one in fake.sent.operations if one in READS]) == number - 1
    assert fake.items() != before


def test_p1d_a_blob_whose_read_fails_is_not_written_again_from_less(fake):
    """What was read of it in part is no value: who reads, changes and writes it gets the error first."""
    blobs = fake.store().blobs
    blobs.write("snapshot", b"x" * 1_000_000)
    fake.faults.on_request = refuse_read(2)
    with pytest.raises(AccessDeniedError):
        blobs.write("snapshot", (blobs.read("snapshot") or b"") + b"y")
    fake.faults.clear()
    assert blobs.read("snapshot") == b"x" * 1_000_000
