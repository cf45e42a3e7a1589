"""Exports and imports: everything comes back as it was, whatever stops them on the way."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from singletable import (
    AlreadyExistsError,
    ConditionFailedError,
    CorruptItemError,
    InvalidCursorError,
    ItemTooLargeError,
    NotFoundError,
    Request,
    RequestError,
    ThreadDeletedError,
)
from singletable.schemas import Evaluation, Message, Resource, Span, Thread, ThreadState, Tombstone, WorkflowSnapshot
from singletable.store.records import from_line, to_line
from singletable.testing import Crash, MemoryTransport
from tests.contract.spans import FULL
from tests.contract.support import START, FakeBackend, make_backend
from tests.contract.users import ADA, BOB, COUNTS, all_expire, fill, message, score, span

SECOND = timedelta(seconds=1)
WRITTEN = {"_write"}
"""What differs between what was exported and what was imported."""


@pytest.fixture
def other(request, backend):
    """A second, empty table on the same kind of DynamoDB."""
    return make_backend(request, request.node.callspec.params["backend"])


def exported(pages):
    return [entity for page in pages for entity in page.items]


def everything(store, **options):
    return exported(store.export_all(allow_scan=True, **options))


def lines(entities):
    """The lines of entities in an order of their own, without what the library fills in at each write."""
    return sorted(_without_update(to_line(entity)) for entity in entities)


def _without_update(line):
    record = json.loads(line)
    if record["entity"] == "trace":
        del record["data"]["updatedAt"]
    return json.dumps(record, sort_keys=True)


def moved(entities):
    """Entities after a way through their lines."""
    return [from_line(to_line(entity)) for entity in entities]


def items(backend):
    """All stored items, without the ids of the writes, and what spans say of their last one."""
    return [
        {name: value for name, value in item.items() if name not in WRITTEN and not _is_update(item, name)}
        for item in backend.items()
        if item["_entity"] != {"S": "tombstone"}
    ]


def _is_update(item, name):
    return name == "updatedAt" and item["_entity"] == {"S": "trace"}


def counts(entities):
    found = dict.fromkeys(COUNTS, 0)
    for entity in entities:
        found[entity.spec.name] += 1
    return found


def odd(store):
    """Store what is easily lost on the way."""
    store.memory.save_thread(Thread(id="odd#%\u2028", resource_id=ADA, title="", metadata={"n": 1.5, "b": b"\xff\x00"}))
    wide = {"$bytes": "no bytes", "$ref": {"$set": [1]}}
    metadata = {
        "big": 10**37,
        "set": {"x", "y"},
        "numbers": {1, 2},
        "mark": {"$map": {}},
        "inner": {"$number": "1"},
        "list": [None, True, {"a": []}],
    }
    store.memory.save_messages(
        [
            message(ADA, "o1", "odd#%\u2028", content=wide, metadata=metadata, created_at=START),
            message(ADA, "o2", "odd#%\u2028", content=[{"a": 1.0, "b": 1, "c": -0.0}], created_at=START),
            message(ADA, "o3", "odd#%\u2028", content='{"not": "parsed"}', created_at=START),
        ]
    )
    store.observability.create_span(
        Span(trace_id="full", span_id="s", name="n", span_type="agent_run", started_at=START, **FULL)
    )


# The round trip


def test_everything_comes_back_as_it_was(backend, other):
    store, copy = backend.store(), other.store()
    fill(store, ADA, "a")
    fill(store, BOB, "b")
    odd(store)
    before = everything(store)
    done = copy.import_entities(moved(before))
    assert counts(before) == dict(done.written)
    assert (done.kept, done.refused) == ({}, 0)
    assert items(other) == items(backend)
    assert lines(everything(copy)) == lines(before)


def test_an_import_that_is_done_again_changes_nothing(backend, other):
    store, copy = backend.store(), other.store()
    fill(store, ADA, "a")
    before = everything(store)
    copy.import_entities(moved(before))
    first = other.items()
    done = copy.import_entities(moved(before))
    assert (done.written, dict(done.kept)) == ({}, COUNTS)
    assert other.items() == first


def test_a_replacing_import_that_is_done_again_changes_nothing(backend, other):
    store, copy = backend.store(), other.store()
    fill(store, ADA, "a")
    before = everything(store)
    copy.import_entities(moved(before))
    first = items(other)
    done = copy.import_entities(moved(before), replace=True)
    assert (dict(done.written), done.kept) == (COUNTS, {})
    assert items(other) == first


def test_what_is_imported_is_found_by_every_verb(backend, other):
    fill(backend.store(), ADA, "a")
    copy = other.store()
    copy.import_entities(moved(everything(backend.store())))
    assert [one.id for one in copy.memory.list_messages("a1").items] == ["am0", "am1"]
    assert [one.id for one in copy.memory.list_messages_by_id(["am0"])] == ["am0"]
    assert copy.workflows.get_workflow_run_by_id("a", workflow_name="w").status == "running"
    assert [one.id for one in copy.scores.list_scores_by_scorer_id("s").items] == ["as"]
    assert [one.span_id for one in copy.observability.list_traces().items] == ["root"]
    assert copy.memory.get_thread_state("a1", type="plan").value == ["the secret of user-ada"]


def test_a_thread_of_a_thousand_messages_comes_in_pages():
    source, target = FakeBackend(), FakeBackend()
    store = source.store()
    store.memory.save_thread(Thread(id="t", resource_id=ADA))
    store.memory.save_messages(message(ADA, f"m{number:04}", "t") for number in range(1000))
    pages = list(store.export_thread("t"))
    assert max(len(page.items) for page in pages) == 100
    target.store().import_entities(entity for page in pages for entity in moved(page.items))
    found = target.store().memory.list_messages("t", per_page=None).items
    assert [one.id for one in found] == [f"m{number:04}" for number in range(1000)]
    assert items(target) == items(source)


def test_an_import_takes_what_it_needs_and_no_more():
    target, taken, most = FakeBackend(), 0, 0

    def entities():
        nonlocal taken
        for number in range(450):
            taken += 1
            yield Resource(id=f"r{number}")

    def watch(done):
        nonlocal most
        most = max(most, taken - done.total)

    done = target.store().import_entities(entities(), on_progress=watch)
    assert (done.total, most) == (450, 0)


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(str.strip)
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
NAMES = TEXT | st.sampled_from(["$set", "$map"])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
SMALL = st.integers(-(10**38) + 1, 10**38 - 1) | st.floats(-1e100, 1e100).filter(lambda n: n == 0 or abs(n) > 1e-100)
MAPS = st.recursive(
    st.none() | st.booleans() | SMALL | st.text(st.characters(codec="utf-8")) | st.binary(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=TEXT, content=TEXT | st.lists(st.dictionaries(TEXT, JSON, max_size=2)), metadata=st.dictionaries(TEXT, MAPS)
)
def test_odd_texts_and_values_come_back_as_they_were(name, content, metadata):
    source, target = FakeBackend(), FakeBackend()
    store = source.store()
    store.memory.save_thread(Thread(id=name, resource_id=name, metadata=metadata))
    store.memory.save_messages([message(name, name, name, content=content, metadata=metadata)])
    store.memory.set_thread_state(name, type=name, value=content)
    target.store().import_entities(moved(exported(store.export_resource(name))))
    assert items(target) == items(source)


def test_what_a_later_version_stored_comes_along(backend, other):
    store = backend.store()
    store.memory.save_resource(Resource(id="r"))
    (item,) = backend.items()
    newer = {**item, "_version": {"N": "2"}, "score": {"N": "0.1234567890123456789"}, "raw": {"B": b"\xff"}}
    entity = store.table.load(Resource, newer)
    assert json.loads(to_line(entity))["version"] == 2
    other.store().import_entities(moved([entity]))
    assert items(other) == [{name: value for name, value in newer.items() if name != "_write"}]


# What an export has


def test_an_export_of_a_resource_has_what_an_erasure_would_remove(backend):
    store = backend.store()
    fill(store, ADA, "a")
    fill(store, BOB, "b")
    found = exported(store.export_resource(ADA))
    assert counts(found) == dict(store.erase_resource(ADA, dry_run=True).counts) == COUNTS
    names = [entity.spec.name for entity in found]
    assert names.index("resource") < names.index("thread") < names.index("message") < names.index("score")
    assert not any(BOB in to_line(entity).decode() for entity in found)


def test_an_export_of_a_thread_has_its_states_and_its_messages_in_order(backend):
    store = backend.store()
    fill(store, ADA, "a")
    found = exported(store.export_thread("a1"))
    assert [entity.spec.name for entity in found] == ["thread", "thread_state", "message", "message"]
    assert [entity.id for entity in found[2:]] == ["am0", "am1"]


def test_a_thread_that_is_not_there_is_an_error(store):
    with pytest.raises(NotFoundError, match="no such thread"):
        exported(store.export_thread("none"))


def test_messages_without_a_row_are_exported(store):
    store.memory.save_messages([message(ADA, "m", "t")])
    assert [one.id for one in exported(store.export_thread("t"))] == ["m"]


def test_nothing_of_another_tenant_is_exported(backend):
    store = backend.store()
    fill(store, ADA, "a")
    fill(store.scoped("acme"), ADA, "x")
    assert {one.id for one in everything(store) if isinstance(one, Thread)} == {"a1", "a2"}
    assert {one.id for one in everything(store.scoped("acme")) if isinstance(one, Thread)} == {"x1", "x2"}
    assert counts(exported(store.scoped("acme").export_resource(ADA))) == COUNTS


def test_a_tenants_export_is_imported_for_another(backend, other):
    fill(backend.store().scoped("acme"), ADA, "x")
    copy = other.store().scoped("other")
    copy.import_entities(moved(everything(backend.store().scoped("acme"))))
    assert counts(everything(copy)) == COUNTS
    assert everything(other.store()) == []
    assert all("acme" not in str(item) for item in other.items())


def test_what_has_expired_is_not_exported(backend):
    store = backend.store(ttl=all_expire(60))
    fill(store, ADA, "a")
    backend.clock.advance(seconds=61)
    assert everything(store) == exported(store.export_resource(ADA)) == []


def test_the_expiry_begins_anew(backend, other):
    fill(backend.store(ttl=all_expire(60)), ADA, "a")
    found = moved(everything(backend.store(ttl=all_expire(60))))
    other.store(ttl=all_expire(1000)).import_entities(found)
    assert {item["ttl"]["N"] for item in other.items()} == {str(int(START.timestamp()) + 1000)}


def test_nothing_of_a_deleted_thread_is_exported(fake):
    store = fake.store()
    fill(store, ADA, "a")
    store.table.put(Tombstone(thread_id="a1", deleted_at=START))
    found = everything(store)
    assert {entity.id for entity in found if isinstance(entity, Thread | Message)} == {"a2", "am2"}
    assert not any(isinstance(entity, ThreadState) for entity in found)
    with pytest.raises(NotFoundError):
        exported(store.export_thread("a1"))


def test_of_a_trace_without_an_owner_nothing_is_exported_with_a_resource(store):
    store.observability.batch_create_spans(
        [span(ADA, "t", "mine"), span(BOB, "t", "his"), span(None, "t", "nobodys", "mine")]
    )
    assert [one.span_id for one in exported(store.export_resource(ADA))] == ["mine"]


def test_the_spans_of_nobody_are_exported_once(store):
    store.observability.batch_create_spans(
        [span(ADA, "t", "root1"), span(ADA, "t", "root2"), span(None, "t", "child", "root2")]
    )
    found = [one.span_id for one in exported(store.export_resource(ADA))]
    assert sorted(found) == ["child", "root1", "root2"]


def test_a_scan_is_asked_for(backend):
    with pytest.raises(RequestError, match="allow_scan=True"):
        exported(backend.store().export_all())
    assert backend.sent.requests == []


@pytest.mark.parametrize("call", [lambda store: store.export_resource(" "), lambda store: store.export_thread("")])
def test_a_blank_id_is_refused(backend, call):
    with pytest.raises(RequestError, match="not blank"):
        exported(call(backend.store()))
    assert backend.sent.requests == []


def test_one_bad_item_is_told_of_and_the_rest_exported(fake):
    store = fake.store()
    fill(store, ADA, "a")
    bad = next(item for item in fake.items() if item["_entity"] == {"S": "message"})
    item = {**bad, "role": {"S": "nobody"}}
    MemoryTransport(fake.database).send(Request("PutItem", {"TableName": fake.table_name, "Item": item}))
    corrupt = []
    for export in (store.export_resource, lambda _, **options: store.export_all(allow_scan=True, **options)):
        corrupt.clear()
        assert len(exported(export(ADA, on_corrupt=corrupt.append))) == sum(COUNTS.values()) - 1
        assert [error.entity for error in corrupt] == ["message"]
        with pytest.raises(CorruptItemError):
            exported(export(ADA))


# Stopped on the way


def pages_of(store, what):
    match what:
        case "resource":
            return lambda **options: store.export_resource(ADA, **options)
        case "thread":
            return lambda **options: store.export_thread("long", **options)
        case _:
            return lambda **options: store.export_all(allow_scan=True, **options)


def grown(store):
    fill(store, ADA, "a")
    store.memory.save_thread(Thread(id="long", resource_id=ADA))
    store.memory.save_messages(message(ADA, f"m{number:03}", "long") for number in range(101))
    store.observability.batch_create_spans(span(ADA, f"trace{number}", "root") for number in range(26))


@pytest.mark.parametrize("what", ["resource", "thread", "all"])
def test_an_export_goes_on_after_every_page(fake, what):
    store = fake.store()
    grown(store)
    pages = pages_of(store, what)
    whole, found, cursor = lines(exported(pages())), [], None
    while True:
        page = next(iter(pages(cursor=cursor)))
        found += page.items
        cursor = page.cursor
        if cursor is None:
            break
    assert lines(found) == whole
    assert len(whole) == len(set(whole))


@pytest.mark.parametrize("what", ["resource", "thread", "all"])
def test_an_export_that_dies_at_any_request_goes_on(fake, what):
    store = fake.store()
    grown(store)
    pages = pages_of(store, what)
    fake.sent.clear()
    whole = lines(exported(pages()))
    for number in range(1, len(fake.sent.requests) + 1):
        fake.faults.crash_before(number)
        kept = []
        with pytest.raises(Crash):
            kept.extend(pages())
        found = exported(kept) + exported(pages(cursor=kept[-1].cursor if kept else None))
        assert lines(found) == whole


def test_a_thread_that_goes_meanwhile_takes_nothing_else_along(fake):
    store = fake.store()
    for name in ("t1", "t2", "t3"):
        store.memory.save_thread(Thread(id=name, resource_id=ADA))
        store.memory.save_messages(message(ADA, f"{name}m{number}", name) for number in range(2))
        fake.clock.advance(seconds=1)
    pages = iter(store.export_resource(ADA))
    cursor = next(
        page.cursor for page in pages if any(isinstance(one, Thread) and one.id == "t2" for one in page.items)
    )
    store.memory.delete_thread("t2")
    assert [one.id for one in exported(store.export_resource(ADA, cursor=cursor))] == ["t3", "t3m0", "t3m1"]


def test_a_cursor_of_another_export_is_refused(fake):
    store = fake.store()
    grown(store)
    cursor = next(iter(store.export_resource(ADA))).cursor
    for pages in (
        store.export_resource(BOB, cursor=cursor),
        store.export_thread("long", cursor=cursor),
        store.export_all(allow_scan=True, cursor=cursor),
        store.scoped("acme").export_resource(ADA, cursor=cursor),
    ):
        with pytest.raises(InvalidCursorError, match="another query"):
            exported(pages)


def test_an_import_that_dies_at_any_request_is_done_again(fake):
    source = FakeBackend()
    fill(source.store(), ADA, "a")
    found = everything(source.store())
    number = 0
    while True:
        number += 1
        target = FakeBackend(fake.loop)
        target.faults.crash_before(number)
        died = False
        try:
            target.store().import_entities(moved(found))
        except Crash:
            died = True
        target.faults.clear()
        target.store().import_entities(moved(found))
        assert items(target) == items(source)
        if not died:
            break
    assert number > 5


@pytest.mark.parametrize("fault", ["lose_answer", "resend", "conflict"])
def test_an_import_settles_what_was_not_answered(fake, fault):
    source = FakeBackend()
    fill(source.store(), ADA, "a")
    getattr(fake.faults, fault)(2)
    fake.store().import_entities(moved(everything(source.store())))
    assert items(fake) == items(source)


# What an import does with what is there


def test_what_is_there_stays_unless_it_is_to_be_replaced(backend):
    store = backend.store()
    fill(store, ADA, "a")
    kept = moved(everything(store))
    store.memory.update_thread("a1", title="new")
    store.memory.update_resource(ADA, working_memory="new")
    store.memory.set_thread_state("a1", type="plan", value="new")
    (old,) = store.memory.list_messages_by_id(["am0"])
    store.memory.save_messages([old.model_copy(update={"content": "new", "created_at": START + SECOND})])
    store.workflows.persist_workflow_snapshot(workflow_name="w", run_id="a", snapshot={"status": "done"})
    changed = lines(everything(store))
    done = store.import_entities(kept)
    assert (done.written, dict(done.kept)) == ({}, COUNTS)
    assert lines(everything(store)) == changed
    done = store.import_entities(kept, replace=True)
    assert (dict(done.written), done.kept) == (COUNTS, {})
    assert lines(everything(store)) == lines(kept)
    assert [one.id for one in store.memory.list_messages("a1").items] == ["am0", "am1"]


@pytest.mark.parametrize("replace", [False, True])
def test_of_two_with_one_id_one_counts(backend, replace):
    store = backend.store()
    twice = [Resource(id="r", working_memory="first"), Resource(id="r", working_memory="later")]
    done = store.import_entities(twice, replace=replace)
    assert (done.written, done.kept) == ({"resource": 1}, {"resource": 1})
    assert store.memory.get_resource_by_id("r").working_memory == ("later" if replace else "first")


def owned_by(owner):
    """One of everything that has an owner and an id that somebody else may give."""
    return {
        "thread": Thread(id="t", resource_id=owner),
        "message": message(owner, "m", f"thread-of-{owner}"),
        "score": score(owner, "s"),
        "evaluation": Evaluation(
            id="e", resource_id=owner, agent_name="a", metric_name="m", input="", output="", result={"score": 1}
        ),
        "workflow_snapshot": WorkflowSnapshot(workflow_name="w", run_id="r", snapshot={}, resource_id=owner),
        "trace": span(owner, "t", "root"),
    }


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("name", owned_by(ADA))
def test_what_is_another_resources_is_never_taken(backend, name, replace):
    store = backend.store()
    store.import_entities([owned_by(BOB)[name]])
    stored = backend.items()
    with pytest.raises(AlreadyExistsError, match="another resource") as refused:
        store.import_entities([owned_by(ADA)[name]], replace=replace)
    assert BOB not in str(refused.value)
    assert backend.items() == stored


@pytest.mark.parametrize("name", [name for name in owned_by(ADA) if name != "thread"])
def test_what_is_nobodys_may_be_given_to_somebody(fake, name):
    store = fake.store()
    store.import_entities([owned_by(BOB)[name].model_copy(update={"resource_id": None})])
    store.import_entities([owned_by(ADA)[name]], replace=True)
    assert [one.resource_id for one in everything(store) if not isinstance(one, Thread)] == [ADA]


@pytest.mark.parametrize(
    "entity",
    [Thread(id="t", resource_id=ADA), message(ADA, "m", "t"), ThreadState(thread_id="t", type="x", value=1)],
    ids=lambda entity: entity.spec.name,
)
def test_nothing_is_imported_into_a_deleted_thread(backend, entity):
    store = backend.store()
    store.memory.save_thread(Thread(id="t", resource_id=ADA))
    store.memory.delete_thread("t")
    before = backend.items()
    with pytest.raises(ThreadDeletedError):
        store.import_entities([entity])
    assert backend.items() == before
    backend.clock.advance(days=2)
    assert store.import_entities([entity]).written == {entity.spec.name: 1}


def test_a_thread_that_is_deleted_at_that_moment_stays_deleted(fake):
    entities = [Thread(id="t", resource_id=ADA), message(ADA, "m", "t"), ThreadState(thread_id="t", type="x", value=1)]
    second = FakeBackend(database=fake.database).store()

    def delete(request):
        if request.operation == "TransactWriteItems":
            second.table.put(Tombstone(thread_id="t", deleted_at=START))

    fake.faults.on_request = delete
    refused = []
    done = fake.store().import_entities(entities, on_refused=lambda entity, error: refused.append((entity, error)))
    assert (done.written, done.refused) == ({}, 3)
    assert all(isinstance(error, ThreadDeletedError) for _, error in refused)
    assert [item["_entity"]["S"] for item in fake.items()] == ["tombstone"]


def test_what_is_refused_is_told_of_and_the_rest_stored(backend):
    store = backend.store()
    store.memory.save_thread(Thread(id="his", resource_id=BOB))
    given = [
        Thread(id="his", resource_id=ADA),
        message(ADA, "large", "t", content="x" * 500_000),
        Resource(id=" "),
        message(ADA, "m", "t"),
    ]
    refused = []
    done = store.import_entities(given, on_refused=lambda entity, error: refused.append((entity, type(error).__name__)))
    assert [entity is one for (entity, _), one in zip(refused, [*given[1:3], given[0]], strict=True)] == [True] * 3
    assert [name for _, name in refused] == ["ItemTooLargeError", "InvalidKeyError", "AlreadyExistsError"]
    assert (done.written, done.refused, done.total) == ({"message": 1}, 3, 4)


def test_what_cannot_be_stored_is_raised_before_anything_is_sent(backend):
    with pytest.raises(ItemTooLargeError):
        backend.store().import_entities([message(ADA, "large", "t", content="x" * 500_000)])
    assert backend.sent.requests == []


def test_two_messages_in_one_place_are_told_apart(backend):
    store = backend.store()
    place = {"created_at": START, "order": "1"}
    one, two = message(ADA, "one", "t", **place), message(ADA, "two", "t", **place)
    refused = []
    done = store.import_entities([one, two], on_refused=lambda entity, error: refused.append((entity, error)))
    assert done.written == {"message": 1}
    ((entity, error),) = refused
    assert entity is two
    assert isinstance(error, ConditionFailedError)
    assert "has its place" in str(error)


def test_what_is_no_entity_of_a_store_is_refused(backend):
    with pytest.raises(RequestError, match="Tombstone"):
        backend.store().import_entities([Tombstone(thread_id="t", deleted_at=START)])
    assert backend.sent.requests == []


def test_messages_without_an_order_keep_the_order_in_which_they_come(backend):
    store = backend.store()
    store.import_entities(message(ADA, name, "t", created_at=START) for name in "zbya")
    assert [one.id for one in store.memory.list_messages("t").items] == [*"zbya"]


def test_a_span_is_put_into_the_lists_where_it_belongs(backend):
    store = backend.store()
    wrong = {"listing": "elsewhere", "shard": "9", "input_preview": "no", "input": "yes"}
    store.import_entities([span(ADA, "t", "root", **wrong)])
    (found,) = store.observability.list_traces().items
    assert found.span_id == "root"
    assert exported(store.export_resource(ADA))[0].input_preview == "yes"


def test_a_write_that_meets_another_is_looked_at_again(fake):
    second = FakeBackend(database=fake.database).store()
    done = []

    def first(request):
        if request.operation == "PutItem" and not done:
            done.append(second.memory.save_resource(Resource(id="r", working_memory="theirs")))

    fake.faults.on_request = first
    result = fake.store().import_entities([Resource(id="r", working_memory="ours")])
    assert (result.written, result.kept) == ({}, {"resource": 1})
    assert fake.store().memory.get_resource_by_id("r").working_memory == "theirs"


@pytest.mark.parametrize(
    "entity",
    [
        Resource(id="r", created_at=START, updated_at=START),
        score(ADA, "s", created_at=START, updated_at=START),
        Evaluation(id="e", agent_name="a", metric_name="m", input=1, output=2, result={"score": 1}, created_at=START),
        span(ADA, "t", "root", input="x"),
    ],
    ids=lambda entity: entity.spec.name,
)
def test_without_transactions_all_but_threads_are_moved(any_backend, entity):
    store = any_backend.store()
    for replace in (False, False, True):
        store.import_entities(moved([entity]), replace=replace)
    (found,) = everything(store)
    assert found.model_dump(include=entity.model_fields_set) == entity.model_dump(include=entity.model_fields_set)


# What they cost


def test_an_import_that_finds_everything_costs_a_few_reads(fake):
    found = [message(ADA, f"m{number:03}", "t", order=str(number)) for number in range(100)]
    store = fake.store()
    store.import_entities(found)
    fake.sent.clear()
    store.import_entities(found)
    assert fake.sent.operations == ["BatchGetItem"] * 3
