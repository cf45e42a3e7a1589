"""DynamoDBSessionRepository: every method, as the SDK's own repositories have them."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strands.session.repository_session_manager import RepositorySessionManager
from strands.session.session_repository import SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

from singletable.integrations.strands import DynamoDBSessionRepository
from tests.contract.support import FakeBackend

AT = "2026-11-30T22:00:00+00:00"
LATER = "2026-12-01T22:00:00+00:00"
IDS = [
    "",
    "a",
    "A",
    "a/b",
    "a%2Fb",
    "a//b",
    "/a",
    "a/",
    ".",
    "..",
    "../a",
    "%",
    "%2E",
    " ",
    "a b",
    "a.b",
    "é",
    "e\u0301",
]
IDS += ["😀", "a\\b", "agents", "session.json", "messages", "a/agents/b", "x" * 300, "\0", "#", "~"]


@pytest.fixture
def store():
    return FakeBackend().store()


@pytest.fixture
def repository(store):
    return DynamoDBSessionRepository(store)


def session(session_id="s"):
    return Session(session_id, SessionType.AGENT, AT, AT)


def agent(agent_id="a", at=AT, **state):
    return SessionAgent(agent_id, state, {"seen": 1}, created_at=at, updated_at=at)


def message(number, text="hello", at=AT):
    content = [{"text": text}, {"image": {"format": "png", "source": {"bytes": b"\0\xff"}}}]
    return SessionMessage({"role": "user", "content": content}, number, created_at=at, updated_at=at)


def team(team_id="t", **state):
    return SimpleNamespace(id=team_id, serialize_state=lambda: state)


def filled(repository, session_id="s", agent_id="a", count=3):
    repository.create_session(session(session_id))
    repository.create_agent(session_id, agent(agent_id))
    for number in range(count):
        repository.create_message(session_id, agent_id, message(number, f"{session_id} {agent_id} {number}"))


def test_what_is_stored_is_read(repository):
    assert isinstance(repository, SessionRepository)
    assert repository.create_session(session()) == repository.read_session("s") == session()
    repository.create_agent("s", agent(color="é"))
    assert repository.read_agent("s", "a") == agent(color="é")
    repository.create_message("s", "a", message(0, "😀"))
    assert repository.read_message("s", "a", 0) == message(0, "😀")
    repository.create_multi_agent("s", team(step=1))
    assert repository.read_multi_agent("s", "t") == {"step": 1}


def test_what_is_not_there_is_none(repository):
    repository.create_session(session())
    assert repository.read_session("other") is repository.read_agent("s", "a") is None
    assert repository.read_message("s", "a", 0) is repository.read_multi_agent("s", "t") is None


def test_a_session_is_created_once(repository):
    filled(repository)
    with pytest.raises(SessionException, match="s already exists"):
        repository.create_session(Session("s", SessionType.AGENT, LATER, LATER))
    assert repository.read_session("s") == session()


def test_an_update_keeps_when_it_was_created(repository):
    filled(repository)
    repository.update_agent("s", agent(at=LATER, color="red"))
    found = repository.read_agent("s", "a")
    assert (found.state, found.created_at, found.updated_at) == ({"color": "red"}, AT, LATER)
    repository.update_message("s", "a", message(1, "new", at=LATER))
    found = repository.read_message("s", "a", 1)
    assert (found.message["content"][0], found.created_at, found.updated_at) == ({"text": "new"}, AT, LATER)
    repository.create_multi_agent("s", team(step=1))
    repository.update_multi_agent("s", team(step=2))
    assert repository.read_multi_agent("s", "t") == {"step": 2}


def test_what_is_not_there_is_not_updated(repository):
    filled(repository)
    calls = [
        lambda: repository.update_agent("s", agent("other")),
        lambda: repository.update_message("s", "a", message(9)),
        lambda: repository.update_message("s", "other", message(0)),
        lambda: repository.update_multi_agent("s", team("other")),
        lambda: repository.list_messages("s", "other"),
        lambda: repository.list_messages("other", "a"),
    ]
    before = repository.blobs.list()
    for call in calls:
        with pytest.raises(SessionException, match="does not exist"):
            call()
    assert repository.blobs.list() == before


def test_an_agent_without_messages_has_none(repository):
    repository.create_agent("s", agent())
    assert repository.list_messages("s", "a") == []


@pytest.fixture(scope="module")
def long():
    repository = DynamoDBSessionRepository(FakeBackend().store())
    filled(repository, count=120)
    return repository


@pytest.mark.parametrize("limit", [None, 0, 1, 10, 11, 500])
@pytest.mark.parametrize("offset", [0, 1, 9, 10, 119, 120, 500])
def test_messages_are_in_the_order_of_their_numbers(long, limit, offset):
    found = long.list_messages("s", "a", limit=limit, offset=offset)
    end = None if limit is None else offset + limit
    assert [one.message_id for one in found] == list(range(120))[offset:end]


def test_only_the_messages_that_are_asked_for_are_read():
    fake = FakeBackend()
    repository = DynamoDBSessionRepository(fake.store())
    filled(repository, count=30)
    fake.sent.clear()
    assert len(repository.list_messages("s", "a", limit=5, offset=20)) == 5
    assert fake.sent.operations == ["Query", "BatchGetItem"]
    assert len(fake.sent.requests[1].params["RequestItems"]["fake"]["Keys"]) == 5


def test_a_message_may_be_of_any_size(repository):
    repository.create_agent("s", agent())
    repository.create_message("s", "a", message(0, "x" * 2_000_000))
    assert repository.list_messages("s", "a") == [message(0, "x" * 2_000_000)]


def test_a_session_goes_with_all_that_is_in_it(repository):
    for name in ("s", "s1", "s/a"):
        filled(repository, name)
        repository.create_multi_agent(name, team())
    repository.delete_session("s")
    assert [repository.read_session("s"), repository.read_agent("s", "a"), repository.read_multi_agent("s", "t")] == [
        None
    ] * 3
    with pytest.raises(SessionException):
        repository.list_messages("s", "a")
    for name in ("s1", "s/a"):
        assert repository.read_session(name) == session(name)
        assert len(repository.list_messages(name, "a")) == 3
    repository.delete_session("s")
    filled(repository)


# Ids


def test_no_two_sessions_are_one(repository):
    for name in IDS:
        filled(repository, name, count=1)
        repository.create_multi_agent(name, team(name=name))
    for name in IDS:
        assert repository.read_session(name) == session(name)
        assert repository.list_messages(name, "a") == [message(0, f"{name} a 0")]
        assert repository.read_multi_agent(name, "t") == {"name": name}
    left = list(IDS)
    while left:
        repository.delete_session(left.pop())
        assert [name for name in IDS if repository.read_session(name)] == left


def test_no_two_agents_are_one(repository):
    repository.create_session(session())
    for name in IDS:
        repository.create_agent("s", agent(name, name=name))
        repository.create_message("s", name, message(0, name))
        repository.create_multi_agent("s", team(name, name=name))
    for name in IDS:
        assert repository.read_agent("s", name).state == repository.read_multi_agent("s", name) == {"name": name}
        assert repository.list_messages("s", name) == [message(0, name)]
    assert repository.read_session("s") == session()


@settings(max_examples=100)
@given(st.sets(st.text(st.sampled_from("a./%2Eé \\#"), max_size=4), min_size=2, max_size=4))
def test_ids_of_any_kind_are_apart(names):
    repository = DynamoDBSessionRepository(FakeBackend().store())
    for name in names:
        filled(repository, name, name, count=1)
    for one, other in combinations(names, 2):
        assert repository.read_agent(one, other) is None
    for name in names:
        assert repository.list_messages(name, name) == [message(0, f"{name} {name} 0")]
        repository.delete_session(name)
        assert repository.read_session(name) is None
    assert repository.blobs.list() == []


def test_nothing_is_stored_outside_of_the_prefix(store):
    store.blobs.write("agents/a", b"theirs")
    one, other = DynamoDBSessionRepository(store), DynamoDBSessionRepository(store.blobs.namespace("x"), prefix="y")
    for name in IDS:
        filled(one, name, name, count=1)
        filled(other, name, name, count=1)
    assert {key.split("/")[0] for key in store.blobs.list()} == {"strands", "agents", "x"}
    for name in IDS:
        one.delete_session(name)
    assert store.blobs.list("strands") == []
    assert len(other.blobs.list()) == 3 * len(IDS)
    assert store.blobs.read("agents/a") == b"theirs"


def test_tenants_have_sessions_of_their_own(store):
    one, other = (DynamoDBSessionRepository(store.scoped(name)) for name in "ab")
    filled(one)
    assert other.read_session("s") is None
    other.delete_session("s")
    assert one.read_session("s") == session()


def test_the_keys_are_a_contract(repository):
    """P77: what is stored is found again by every version."""
    filled(repository, "a/ö", ".b", count=1)
    repository.create_multi_agent("a/ö", team("T x"))
    beginning = "strands/a%2F%C3%B6/"
    assert repository.blobs.prefix == "strands/"
    assert ["strands/" + key for key in repository.blobs.list()] == [
        beginning + "agents/%2Eb/agent.json",
        beginning + "agents/%2Eb/messages/000000000000.json",
        beginning + "multi_agents/T%20x.json",
        beginning + "session.json",
    ]


def test_the_manager_of_the_sdk_works_on_it(repository):
    manager = RepositorySessionManager("s", repository)
    assert repository.read_session("s") == manager.session
    assert RepositorySessionManager("s", repository).session == manager.session
