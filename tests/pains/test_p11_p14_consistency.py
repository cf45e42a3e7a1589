"""P11, P12: the next turn sees the last one.  P13: index keys follow.  P14: no write brings back what was deleted."""

from __future__ import annotations

import pytest

from singletable import NotFoundError, RequestError, ThreadDeletedError
from singletable.schemas import Resource, Thread
from tests.contract.entities import ENTITIES, Note
from tests.contract.support import START
from tests.pains.support import another, ids, listed, thread, turn


@pytest.fixture
def stale(fake):
    """A memory whose eventually consistent reads miss the latest 50 writes."""
    fake.faults.stale_reads(50)
    return fake.store().memory


def test_p11_an_eventually_consistent_read_misses_the_write(fake, stale):
    stale.save_thread(thread())
    assert fake.store().table.get(Thread.Key(id="t"), consistent=False) is None


@pytest.mark.parametrize(
    "read",
    [
        lambda memory: ids(memory.context("t").messages),
        lambda memory: ids(memory.list_messages("t").items),
        lambda memory: ids(memory.list_messages("t", last=5).items),
        lambda memory: ids(memory.list_messages("t", created_at=None, page=0, per_page=2).items),
        lambda memory: ids(memory.list_messages_by_id(["a", "b"])),
        lambda memory: ids(memory.iter_messages("t")),
    ],
    ids=["context", "list", "last", "page", "by-id", "iterate"],
)
def test_p11_own_messages_are_seen(stale, read):
    stale.save_thread(thread())
    stale.save_messages(turn("a", "b"))
    assert read(stale) == ["a", "b"]


def test_p11_own_threads_and_resources_are_seen(stale):
    stale.save_thread(thread())
    stale.update_thread("t", title="new")
    stale.update_resource("ada", working_memory="new")
    assert stale.get_thread_by_id("t").title == stale.context("t").thread.title == "new"
    assert stale.get_resource_by_id("ada").working_memory == "new"


def test_p11_own_deletions_are_seen(stale):
    stale.save_thread(thread())
    stale.save_messages(turn("a"))
    stale.delete_thread("t")
    assert stale.get_thread_by_id("t") is None
    assert listed(stale) == stale.list_messages_by_id(["a"]) == stale.context("t").messages == []


def test_p11_a_message_that_was_moved_is_seen_once(stale):
    stale.save_messages(turn("a"))
    stale.save_messages(turn("a", thread_id="other"))
    assert (listed(stale), listed(stale, "other")) == ([], ["a"])
    assert [one.thread_id for one in stale.list_messages_by_id(["a"])] == ["other"]


def test_p11_a_table_sees_its_own_writes(fake):
    table = fake.table(*ENTITIES)
    fake.faults.stale_reads(50)
    table.put(Note(box_id="b", number=1))
    key = Note.Key(box_id="b", number=1)
    assert table.get(key) == table.get_many([key])[0] == table.query(Note.InBox(box_id="b")).first()


def test_p12_a_strong_read_of_an_index_is_refused_before_sending(fake):
    table = fake.table(*ENTITIES)
    with pytest.raises(RequestError, match="gsi1"):
        table.query(Note.ByOwner(owner="ada")).consistent(True)
    assert fake.sent.requests == []


def test_p12_no_read_of_an_index_asks_to_be_consistent(fake):
    memory = fake.store().memory
    memory.list_threads("ada", include_total=True, page=1, per_page=1)
    assert all("ConsistentRead" not in request.params for request in fake.sent.requests)


def test_p13_an_update_of_a_part_rewrites_the_key_of_its_index(backend):
    table = backend.table(*ENTITIES)
    table.put(Note(box_id="b", number=1, state="open"))
    table.update(Note.Key(box_id="b", number=1), Note.Patch(state="done"))
    assert [note.number for note in table.query(Note.ByState(state="done"))] == [1]
    assert table.query(Note.ByState(state="open")).all() == []


def test_p13_a_saved_message_moves_its_thread_in_the_list_of_active_ones(fake):
    memory = fake.store().memory
    memory.save_thread(thread("a"))
    memory.save_thread(thread("b"))
    fake.clock.advance(seconds=1)
    memory.save_messages(turn("m", thread_id="a"))
    assert ids(memory.list_threads("ada", order_by="updated_at").items) == ["a", "b"]


# P14: another process deletes the thread while a request is on its way.


def deleting_before(fake, number, operation):
    """A hook that deletes the thread before the request of this number is applied."""
    seen = []
    other = another(fake).store().memory

    def hook(request):
        if request.operation == operation:
            seen.append(request)
            if len(seen) == number:
                other.delete_thread("t")

    return hook


def only_tombstones(backend):
    return [item["_entity"]["S"] for item in backend.items()] == ["tombstone"]


@pytest.mark.parametrize("has_row", [True, False], ids=["row", "no-row"])
@pytest.mark.parametrize("name", ["new", "m0"], ids=["new-message", "old-message"])
def test_p14_a_save_that_meets_a_deletion_leaves_no_ghost(fake, has_row, name):
    memory = fake.store().memory
    if has_row:
        memory.save_thread(thread())
    memory.save_messages(turn("m0", "m1"))
    fake.faults.on_request = deleting_before(fake, 1, "TransactWriteItems")
    with pytest.raises(ThreadDeletedError):
        memory.save_messages(turn(name))
    assert only_tombstones(fake)


def test_p14_an_update_that_meets_a_deletion_leaves_no_ghost(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    fake.faults.on_request = deleting_before(fake, 1, "UpdateItem")
    with pytest.raises(NotFoundError):
        memory.update_thread("t", title="new")
    assert only_tombstones(fake)


@pytest.mark.parametrize("number", [1, 2])
def test_p14_a_thread_that_is_saved_again_while_it_is_deleted_stays_deleted(fake, number):
    memory = fake.store().memory
    memory.save_thread(thread())
    fake.faults.on_request = deleting_before(fake, number, "TransactWriteItems")
    with pytest.raises(ThreadDeletedError):
        memory.save_thread(thread(title="new"))
    assert only_tombstones(fake)


def test_p14_a_move_into_a_thread_that_is_deleted_keeps_the_message(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    memory.save_messages(turn("m", thread_id="other"))
    fake.faults.on_request = deleting_before(fake, 1, "TransactWriteItems")
    with pytest.raises(ThreadDeletedError):
        memory.save_messages(turn("m"))
    assert listed(memory, "other") == ["m"]


@pytest.mark.parametrize("has_row", [True, False], ids=["row", "no-row"])
@pytest.mark.parametrize("number", range(1, 7))
def test_p14_a_save_between_the_requests_of_a_deletion_leaves_no_ghost(fake, has_row, number):
    memory, other = fake.store().memory, another(fake).store().memory
    if has_row:
        memory.save_thread(thread())
    memory.save_messages(turn("m0", "m1"))
    seen, refused = [], []

    def save(request):
        seen.append(request)
        if len(seen) == number:
            try:
                other.save_messages(turn("new"))
            except ThreadDeletedError as error:
                refused.append(error)

    fake.faults.on_request = save
    memory.delete_thread("t")
    # Before the tombstone a save succeeds, and what it saved is deleted with the rest.
    assert bool(refused) == (number > 2)
    assert only_tombstones(fake)


@pytest.mark.parametrize("number", range(3, 7))
def test_p14_a_message_that_leaves_while_its_thread_is_deleted_is_kept(fake, number):
    memory, other = fake.store().memory, another(fake).store().memory
    memory.save_thread(thread())
    memory.save_messages(turn("m0", "m1", "m2"))
    seen = []

    def move(request):
        seen.append(request)
        if len(seen) == number:
            other.save_messages(turn("m1", thread_id="other", content="moved"))

    fake.faults.on_request = move
    memory.delete_thread("t")
    assert memory.context("t").messages == []
    (kept,) = memory.list_messages("other").items
    assert memory.list_messages_by_id(["m0", "m1", "m2"]) == [kept]


@pytest.mark.parametrize("number", range(1, 7))
def test_p14_two_deletions_at_once_leave_no_ghost(fake, number):
    memory, other = fake.store().memory, another(fake).store().memory
    memory.save_thread(thread())
    memory.save_messages(turn("m0", "m1"))
    seen = []

    def delete(request):
        seen.append(request)
        if len(seen) == number:
            other.delete_thread("t")

    fake.faults.on_request = delete
    memory.delete_thread("t")
    assert only_tombstones(fake)
    with pytest.raises(ThreadDeletedError):
        memory.save_messages(turn("new"))
    fake.clock.advance(days=1)
    assert len(memory.save_messages(turn("new"))) == 1


def test_p14_a_table_update_of_nothing_creates_nothing(backend):
    table = backend.table(*ENTITIES)
    with pytest.raises(NotFoundError):
        table.update(Note.Key(box_id="b", number=1), Note.Patch(text="x", due=START, owner="ada"))
    assert backend.items() == []


def test_p14_a_resource_is_created_once_by_two_first_updates(fake):
    memory, other = fake.store().memory, another(fake).store().memory
    done = []

    def first(request):
        if request.operation == "PutItem" and not done:
            done.append(other.update_resource("ada", metadata={"other": 1}))

    fake.faults.on_request = first
    memory.update_resource("ada", metadata={"own": 2})
    assert memory.get_resource_by_id("ada").metadata == {"other": 1, "own": 2}
    assert isinstance(done[0], Resource)
