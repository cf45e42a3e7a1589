"""Sessions: loaded whole, committed by the turn, with events beside them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable import (
    ConfigurationError,
    DynamoDBStore,
    ItemTooLargeError,
    RequestError,
    TurnReusedError,
    VersionConflictError,
)
from singletable.provision import create_table_params
from singletable.schemas import Event, Session, Thread
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryTransport
from tests.contract.support import START, FakeBackend, sent_by

STATE = {"cart": [1, 1.0, None, {"é😀": True}], "": "blank"}


@pytest.fixture
def sessions(store):
    return store.sessions


@pytest.fixture
def local():
    """The fake alone."""
    return FakeBackend()


def take(sessions, turn_id="t1", *, state=None, session_id="s1", **options):
    """One turn of a session."""
    session = sessions.load("ada", session_id)
    session.state = STATE if state is None else state
    return sessions.commit(session, turn_id=turn_id, **options)


def test_a_session_of_which_nothing_is_stored_is_new(sessions):
    session = sessions.load("ada", "s1")
    assert (session.state, session.version, session.turns, session.etag) == ({}, 0, [], "")


def test_what_is_committed_comes_back_as_it_was_given(sessions):
    done = take(sessions, result={"reply": [1.0, None]})
    assert (done.result, done.is_replayed) == ({"reply": [1.0, None]}, False)
    assert repr(done.session.state) == repr(STATE)
    assert sessions.load("ada", "s1") == done.session


def test_each_turn_makes_the_next_version_and_the_handle_of_the_last_goes_on(sessions):
    session = sessions.load("ada", "s1")
    for number in range(1, 4):
        session.state = {"n": number}
        session = sessions.commit(session, turn_id=f"t{number}").session
        assert session.version == number
    assert [turn.version for turn in sessions.load("ada", "s1").turns] == [1, 2, 3]


def test_a_turn_that_was_committed_is_not_committed_again(sessions):
    stale = sessions.load("ada", "s1")
    take(sessions, result="first")
    for session in (stale, sessions.load("ada", "s1")):
        session.state = {"other": True}
        again = sessions.commit(session, turn_id="t1", result="second")
        assert (again.result, again.is_replayed) == ("first", True)
        assert again.session == sessions.load("ada", "s1")
    assert sessions.load("ada", "s1").version == 1


def test_a_turn_on_a_stale_session_conflicts_and_learns_what_is_stored(sessions):
    stale = sessions.load("ada", "s1")
    theirs = take(sessions).session
    with pytest.raises(VersionConflictError) as caught:
        sessions.commit(stale, turn_id="t2")
    assert caught.value.current == theirs
    assert sessions.load("ada", "s1") == theirs


def test_a_merge_makes_one_state_of_both(sessions):
    stale = sessions.load("ada", "s1")
    take(sessions, state={"a": 1, "c": 1})
    stale.state = {"b": 2, "c": 2}
    done = sessions.commit(stale, turn_id="t2", merge=lambda theirs, mine: {**theirs, **mine})
    assert (done.session.state, done.session.version) == ({"a": 1, "b": 2, "c": 2}, 2)
    assert sessions.load("ada", "s1") == done.session


def test_events_keep_their_order_and_do_not_conflict_with_turns(sessions):
    session = sessions.load("ada", "s1")
    added = sessions.append("ada", "s1", [{"n": 1}, "two"])
    sessions.commit(session, turn_id="t1")
    added += sessions.append("ada", "s1", [3.0])
    sessions.append("ada", "s2", ["other"])
    assert [event.data for event in added] == [{"n": 1}, "two", 3.0]
    assert sessions.list_events("ada", "s1").items == added
    page = sessions.list_events("ada", "s1", per_page=2)
    assert sessions.list_events("ada", "s1", per_page=2, cursor=page.cursor).items == added[2:]


def test_a_context_is_the_session_with_its_newest_events(sessions):
    assert sessions.context("ada", "s1").events == []
    added = sessions.append("ada", "s1", range(5))
    assert sessions.context("ada", "s1", last=2).session.version == 0
    session = take(sessions).session
    for last in (2, 5, 9):
        found = sessions.context("ada", "s1", last=last)
        assert (found.session, found.events) == (session, added[-last:])


def test_a_deleted_session_is_gone_with_its_events_and_its_handles_with_it(sessions):
    session = take(sessions).session
    sessions.append("ada", "s1", range(30))
    sessions.delete("ada", "s1")
    assert sessions.context("ada", "s1").session.version == 0
    assert sessions.context("ada", "s1").events == []
    with pytest.raises(VersionConflictError) as caught:
        sessions.commit(session, turn_id="t2")
    assert caught.value.current is None
    take(sessions)
    with pytest.raises(VersionConflictError):  # the same version, of another incarnation
        sessions.commit(session, turn_id="t2")
    sessions.delete("ada", "s1")
    sessions.delete("ada", "s1")


# Figures


def test_a_load_a_commit_and_what_becomes_of_it_are_one_request_each(local):
    store = local.store()
    sessions = store.sessions
    assert sent_by(local, lambda: sessions.load("ada", "s1")) == ["GetItem"]
    assert sent_by(local, lambda: sessions.context("ada", "s1")) == ["Query"]
    new, stale = sessions.load("ada", "s1"), sessions.load("ada", "s1")
    assert sent_by(local, lambda: sessions.commit(new, turn_id="t1")) == ["PutItem"]
    assert sent_by(local, lambda: sessions.commit(stale, turn_id="t1")) == ["PutItem"]  # replayed
    known = sessions.load("ada", "s1")
    assert sent_by(local, lambda: sessions.commit(known, turn_id="t1")) == ["GetItem"]  # replayed
    assert sent_by(local, lambda: sessions.commit(known, turn_id="t2")) == ["UpdateItem"]
    local.sent.clear()
    with pytest.raises(VersionConflictError):
        sessions.commit(known, turn_id="t3")
    assert local.sent.operations == ["UpdateItem"]
    with store.leases.acquire("s1", 30) as lease:
        again = sent_by(local, lambda: sessions.commit(known, turn_id="t1", fence=lease))
        assert again == ["GetItem", "TransactWriteItems"]  # replayed
    assert sent_by(local, lambda: sessions.append("ada", "s1", ["one"])) == ["PutItem"]
    assert sent_by(local, lambda: sessions.append("ada", "s1", range(100))) == ["TransactWriteItems"]


def test_a_turn_under_a_lease_is_four_requests(local):
    store = local.store()

    @store.sessions.turn_handler
    def handle(session, request):
        session.state = {"seen": request}
        return len(request)

    for turn_id in ("t1", "t2"):
        local.clock.advance(seconds=1)
        local.sent.clear()
        with store.leases.acquire("s1", 30) as lease:
            assert handle("hello", actor_id="ada", session_id="s1", turn_id=turn_id, fence=lease) == 5
        assert local.sent.operations == ["PutItem", "GetItem", "TransactWriteItems", "UpdateItem"]


def test_a_turn_changes_nothing_of_what_the_index_holds(local):
    params = create_table_params("t", [entity.spec for entity in ENTITIES])
    (index,) = (one for one in params["GlobalSecondaryIndexes"] if one["IndexName"] == Session.ByActor.declared_on)
    held = {"gsi8pk", "gsi8sk", *index["Projection"]["NonKeyAttributes"]}
    sessions, entries = local.store().sessions, []
    for number in range(2):
        take(sessions, f"t{number}", state={"n": number})
        (item,) = local.items()
        entries.append({name: value for name, value in item.items() if name in held})
        local.clock.advance(seconds=1)
    assert entries[0] == entries[1]
    assert entries[0].keys() == {"gsi8pk", "gsi8sk"}


# Expiry


LIVES = {"session": {"default_ttl_seconds": 3600}}


@pytest.mark.parametrize(("expiry", "left"), [("refresh", 3600), ("keep", 1800), ("clear", None)])
def test_p65_a_turn_starts_the_expiry_again_or_keeps_it_or_takes_it_away(local, expiry, left):
    sessions = local.store(ttl=LIVES).sessions
    take(sessions)
    now = local.clock.advance(seconds=1800)
    take(sessions, "t2", expiry=expiry)
    (item,) = local.items()
    assert item.get("ttl") == (None if left is None else {"N": str(int((now + timedelta(seconds=left)).timestamp()))})


def test_a_session_may_be_begun_without_an_expiry(local):
    take(local.store(ttl=LIVES).sessions, expiry="clear")
    (item,) = local.items()
    assert "ttl" not in item


def test_p60_a_session_that_has_expired_is_a_new_one_and_never_comes_back(local):
    sessions = local.store(ttl=LIVES).sessions
    old = take(sessions).session
    sessions.append("ada", "s1", ["old"])
    local.clock.advance(seconds=3600)
    assert sessions.context("ada", "s1").session.version == 0
    assert sessions.context("ada", "s1").events == []
    with pytest.raises(VersionConflictError):
        sessions.commit(old, turn_id="t2")
    done = take(sessions)
    assert (done.session.version, done.is_replayed) == (1, False)


def test_p64_events_live_as_long_as_their_session_and_no_longer():
    with pytest.raises(ConfigurationError, match="event"):
        DynamoDBStore("t", transport=MemoryTransport(), ttl={**LIVES, "event": {"default_ttl_seconds": 3601}})


# Bad input


SESSION = Session(actor_id="ada", session_id="s1", created_at=START, changed_at=START)
WRONG = {
    "a blank actor": lambda s: s.load(" ", "s1"),
    "a blank session": lambda s: s.load("ada", ""),
    "a blank actor of a commit": lambda s: s.commit(SESSION.model_copy(update={"actor_id": ""}), turn_id="t"),
    "a blank actor of events": lambda s: s.append("", "s1", ["x"]),
    "a blank actor to delete": lambda s: s.delete("", "s1"),
    "a blank turn": lambda s: s.commit(SESSION, turn_id=" "),
    "no session": lambda s: s.commit(Thread(id="t", resource_id="ada"), turn_id="t"),
    "a result that is no JSON": lambda s: s.commit(SESSION, turn_id="t", result={1, 2}),
    "a request that is no JSON": lambda s: s.commit(SESSION, turn_id="t", request=object()),
    "a state that is no JSON": lambda s: s.commit(SESSION.model_copy(update={"state": {"x": START}}), turn_id="t"),
    "a state that is no object": lambda s: s.commit(SESSION.model_copy(update={"state": [1]}), turn_id="t"),
    "an event that is no JSON": lambda s: s.append("ada", "s1", ["fine", object()]),
    "too many events": lambda s: s.append("ada", "s1", range(101)),
    "no events to show": lambda s: s.context("ada", "s1", last=0),
    "an item that is too large": lambda s: s.commit(SESSION, turn_id="t", result="x" * 420_000),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_what_makes_no_sense_is_refused_before_anything_is_sent(local, call):
    with pytest.raises(RequestError):
        call(local.store().sessions)
    assert local.sent.requests == []


def test_a_state_that_grows_beyond_an_item_is_refused_before_it_is_sent(local):
    sessions = local.store().sessions
    session = take(sessions).session
    session.state = {"large": "x" * 410_000}
    local.sent.clear()
    with pytest.raises(ItemTooLargeError, match="session"):
        sessions.commit(session, turn_id="t2")
    assert local.sent.requests == []


def test_the_version_of_another_session_is_none_of_this_one(local):
    store = local.store()
    take(store.sessions)
    theirs = take(store.sessions, session_id="s2").session
    before = local.items()
    for one in (theirs.model_copy(update={"session_id": "s1"}), theirs.model_copy(update={"session_id": "s3"})):
        with pytest.raises(VersionConflictError):
            store.sessions.commit(one, turn_id="t9")
    with pytest.raises(VersionConflictError):
        store.scoped("b").sessions.commit(theirs, turn_id="t9")
    assert local.items() == before


def test_a_turn_id_of_another_turn_is_refused_and_of_the_same_is_not(local):
    sessions = local.store().sessions
    take(sessions, request={"say": "hi", "to": "bob"}, result="done")
    before = local.items()
    assert take(sessions, request={"to": "bob", "say": "hi"}).result == "done"
    for request in ({"say": "bye"}, None):
        with pytest.raises(TurnReusedError):
            take(sessions, request=request)
        with pytest.raises(TurnReusedError):
            sessions.commit(SESSION, turn_id="t1", request=request)
    assert take(sessions, session_id="s2", request={"say": "bye"}).session.version == 1
    assert [item for item in local.items() if item in before] == before


def test_the_newest_twenty_turns_are_remembered(local):
    sessions = local.store().sessions
    for number in range(21):
        take(sessions, f"t{number:02}", state={"n": number}, result=number)
    assert [turn.id for turn in sessions.load("ada", "s1").turns] == [f"t{number:02}" for number in range(1, 21)]
    assert take(sessions, "t01").result == 1
    assert isinstance(sessions.append("ada", "s1", ["x"])[0], Event)
