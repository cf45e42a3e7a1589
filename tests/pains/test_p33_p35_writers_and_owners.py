"""P33, P35: what writers at once do to metadata and working memory.  P78, P100, P101, P107: whose a thread is."""

from __future__ import annotations

import pytest

from singletable import AlreadyExistsError, ConditionFailedError, NotFoundError, RequestError
from singletable.schemas import Resource, Thread
from tests.pains.support import another, ids, listed, thread, turn

TEMPLATE = "# Name\n# Likes\n"


@pytest.fixture
def memory(fake):
    return fake.store().memory


def bobs(**fields):
    return Thread(id="t", resource_id="bob", **fields)


# P33


def test_p33_two_processes_that_merge_from_one_state_both_win(memory, fake):
    theirs = another(fake).store().memory
    memory.save_thread(thread(metadata={"a": 1}))
    for one, metadata in ((memory, {"b": 2}), (theirs, {"c": 3})):
        assert one.get_thread_by_id("t").metadata.items() >= {"a": 1}.items()
        one.update_thread("t", metadata=metadata)
    assert memory.get_thread_by_id("t").metadata == {"a": 1, "b": 2, "c": 3}


def test_p33_metadata_that_is_made_of_a_stale_read_is_made_again(memory, fake):
    theirs = another(fake).store().memory
    memory.save_thread(thread(metadata={"tags": ["a"]}))
    seen = []

    def tag(metadata):
        seen.append(metadata["tags"])
        if len(seen) == 1:
            theirs.update_thread_metadata("t", resource_id="ada", update=lambda found: {"tags": [*found["tags"], "b"]})
        return {"tags": [*metadata["tags"], "c"]}

    assert memory.update_thread_metadata("t", resource_id="ada", update=tag).metadata == {"tags": ["a", "b", "c"]}
    assert seen == [["a"], ["a", "b"]]


# P35


def test_p35_a_process_that_held_the_text_for_long_is_told_of_the_other(memory, fake):
    """The model was asked between reading and writing, which took it two minutes."""
    memory.save_resource(Resource(id="ada", working_memory="likes tea"))
    theirs = another(fake).store().memory
    read = memory.get_resource_by_id("ada").working_memory
    fake.clock.advance(minutes=2)
    theirs.update_working_memory("ada", "likes tea, lives in Rome", expected="likes tea")
    with pytest.raises(ConditionFailedError) as caught:
        memory.update_working_memory("ada", "likes tea, is called Ada", expected=read)
    current = caught.value.current.working_memory
    assert current == "likes tea, lives in Rome"
    memory.update_working_memory("ada", f"{current}, is called Ada", expected=current)
    assert theirs.get_resource_by_id("ada").working_memory == "likes tea, lives in Rome, is called Ada"


@pytest.mark.parametrize("expected", [None, TEMPLATE, ""], ids=["none", "template", "empty"])
def test_p35_an_empty_template_does_not_wipe_what_was_learned(memory, expected):
    """A process that believes that nothing is stored yet writes the template."""
    memory.save_resource(Resource(id="ada", working_memory="# Name\nAda\n"))
    with pytest.raises(ConditionFailedError):
        memory.update_working_memory("ada", TEMPLATE, expected=expected)
    assert memory.get_resource_by_id("ada").working_memory == "# Name\nAda\n"


# P78, P107


def test_p78_a_thread_is_not_taken_over_by_saving_its_id(memory):
    saved = memory.save_thread(thread(title="secret-title"))
    memory.save_messages(turn("m"))
    with pytest.raises(AlreadyExistsError) as caught:
        memory.save_thread(bobs())
    assert "ada" not in str(caught.value) + repr(vars(caught.value))
    assert "secret" not in str(caught.value) + repr(vars(caught.value))
    assert memory.get_thread_by_id("t").created_at == saved.created_at
    assert ids(memory.list_threads("ada").items) == ["t"]
    assert memory.list_threads("bob").items == []


def test_p107_absent_and_foreign_are_one_answer(memory):
    calls = [
        lambda thread_id: memory.update_thread(thread_id, resource_id="bob", title="x"),
        lambda thread_id: memory.update_thread_metadata(thread_id, resource_id="bob", update=dict),
        lambda thread_id: memory.delete_thread(thread_id, resource_id="bob"),
    ]
    memory.save_thread(thread())
    for call in calls:
        answers = []
        for thread_id in ("t", "none"):
            with pytest.raises(NotFoundError) as caught:
                call(thread_id)
            answers.append((str(caught.value), repr(vars(caught.value))))
        assert answers[0] == answers[1]
    assert memory.get_thread_by_id("t", resource_id="bob") is memory.get_thread_by_id("none", resource_id="bob") is None


# P100


@pytest.mark.parametrize("owner", [None, "", "   ", "\t\n"], ids=repr)
@pytest.mark.parametrize("options", [{}, {"metadata": {"a": 1}}, {"include_total": True}], ids=repr)
def test_p100_no_owner_is_not_everyone(memory, fake, owner, options):
    memory.save_thread(thread())
    fake.sent.clear()
    with pytest.raises(RequestError, match="resource_id"):
        memory.list_threads(owner, **options)
    assert fake.sent.operations == []


def test_p100_an_owner_must_be_given(memory):
    with pytest.raises(TypeError, match="resource_id"):
        memory.list_threads()


# P101


def test_p101_another_resource_changes_and_deletes_nothing_by_the_id_of_a_thread(memory, fake):
    memory.save_thread(thread(title="own"))
    memory.save_messages(turn("m"))
    stored = fake.items()
    for call in (
        lambda: memory.update_thread("t", resource_id="bob", title="theirs"),
        lambda: memory.update_thread_metadata("t", resource_id="bob", update=lambda _: {"a": 1}),
        lambda: memory.delete_thread("t", resource_id="bob"),
    ):
        with pytest.raises(NotFoundError):
            call()
    assert fake.items() == stored
    assert listed(memory) == ["m"]
