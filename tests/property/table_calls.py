"""The calls and faults from which the table model draws: few keys and values, so that calls meet each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hypothesis import strategies as st

from singletable import (
    OutcomeUnknownError,
    PartialBatchError,
    RequestError,
    ThrottledError,
    TransactionConflictError,
    TransactionFailedError,
    UnreachableError,
    add,
    append,
    between,
    default,
    discard,
    gt,
    gte,
    lt,
    lte,
    merge,
    prepend,
    remove,
    remove_at,
    set_at,
    starting,
    subtract,
)
from singletable.declare import AccessPath
from singletable.testing.faults import Crash, Faults
from tests.property.table_model import Call, Where
from tests.property.table_rows import Account, Doc, Task, place

Drawn = st.SearchStrategy[Any]


@dataclass(frozen=True)
class Stale:
    """What some earlier call has returned, with other values for those of the fields that it has."""

    back: int
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class Fault:
    """What goes wrong during one call, and what the call may raise because of it."""

    plan: Callable[[Faults], object]
    raises: tuple[type[BaseException], ...] = ()
    loses: bool = False
    """An answer is lost: a batch cannot tell what is written, and a delete what it took."""


def _conflicts(faults: Faults, times: int | None) -> None:
    for operation in ("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"):
        faults.conflict(times, operation=operation)


def _both(*plans: Callable[[Faults], object]) -> Callable[[Faults], object]:
    return lambda faults: [plan(faults) for plan in plans]


_THROTTLED = (ThrottledError, PartialBatchError)
_IN_CONFLICT = (TransactionConflictError, TransactionFailedError)
_UNKNOWN = (OutcomeUnknownError, PartialBatchError)
NO_FAULT = {"none": Fault(lambda _: None)}
WRITE_FAULTS = {
    "lost answer": Fault(lambda faults: faults.lose_answer(), (PartialBatchError,), loses=True),
    "no answers": Fault(lambda faults: faults.lose_answer(None), _UNKNOWN, loses=True),
    "sent twice": Fault(lambda faults: faults.resend(), loses=True),
    "throttled": Fault(lambda faults: faults.throttle(), _THROTTLED),
    "conflicts": Fault(lambda faults: _conflicts(faults, 3)),
    "conflict for ever": Fault(lambda faults: _conflicts(faults, None), _IN_CONFLICT),
    "unprocessed": Fault(lambda faults: faults.leave_unprocessed(1, times=2)),
    "unprocessed for ever": Fault(lambda faults: faults.leave_unprocessed(2, times=None), (PartialBatchError,)),
    "crash": Fault(lambda faults: faults.crash_before(1), (Crash,)),
    "later crash": Fault(lambda faults: faults.crash_before(2), (Crash,)),
    "crash in a batch": Fault(_both(lambda f: f.leave_unprocessed(1), lambda f: f.crash_before(2)), (Crash,)),
    "lost answer, crash": Fault(
        _both(lambda f: f.lose_answer(), lambda f: f.crash_before(2)), (Crash, PartialBatchError), loses=True
    ),
    "lost answer, no reads": Fault(
        _both(lambda f: f.lose_answer(), lambda f: f.lose_answer(None, operation="GetItem")),
        (UnreachableError, *_UNKNOWN),
        loses=True,
    ),
}
READ_FAULTS = {
    "read throttled": Fault(lambda faults: faults.throttle(), (ThrottledError,)),
    "read unprocessed": Fault(lambda faults: faults.leave_unprocessed(1, times=2)),
    "read crashes": Fault(lambda faults: faults.crash_before(1), (Crash,)),
    "read lost": Fault(lambda faults: faults.lose_answer(operation="Query"), (UnreachableError,)),
    "read in conflict": Fault(lambda faults: faults.conflict(), (TransactionFailedError,)),
}
FAULTS = NO_FAULT | WRITE_FAULTS | READ_FAULTS
# Half of the calls meet none, and those which the library settles by itself come more often than the others.
_SETTLED = ["lost answer", "sent twice"] * 3
WRITE_FAULT = st.sampled_from([*NO_FAULT] * (len(WRITE_FAULTS) + len(_SETTLED)) + [*WRITE_FAULTS] + _SETTLED)
READ_FAULT = st.sampled_from([*NO_FAULT] * 2 * len(READ_FAULTS) + [*READ_FAULTS])


def leaves_open(call: Call, outcome: BaseException, fault: str) -> bool:
    """Whether an error leaves open what was done."""
    if FAULTS[fault].loses and isinstance(outcome, UnreachableError):
        return True  # a bug that is known: it says that nothing was written
    if call.verb == "delete" and call.options and fault == "sent twice":
        return True  # the second time there is nothing left for which the condition could hold
    return isinstance(outcome, Crash | OutcomeUnknownError) and isinstance(outcome, FAULTS[fault].raises)


def alike(outcome: BaseException, expected: BaseException | None) -> bool:
    """Whether it is the error that was expected; what is refused before it is sent may be refused for any reason."""
    return type(outcome) is type(expected) or (isinstance(outcome, RequestError) and isinstance(expected, RequestError))


def made(kind: Callable[..., Any], optional: Mapping[str, Drawn], **required: Drawn) -> Drawn:
    return st.fixed_dictionaries(required, optional=optional).map(partial(_make, kind))


def _make(kind: Callable[..., Any], fields: Mapping[str, Any]) -> Any:
    return kind(**fields)


def call(verb: str, *args: Drawn, **options: Drawn) -> st.SearchStrategy[Call]:
    return st.builds(Call, st.just(verb), st.tuples(*args), st.fixed_dictionaries({}, optional=options))


def ranged(values: Sequence[Any]) -> Drawn:
    """A value, or a range of them."""
    value = st.sampled_from(values)
    pairs = st.tuples(value, value).map(lambda pair: between(min(pair), max(pair)))
    prefixes = [st.builds(starting, value)] if isinstance(values[0], str) else []
    return st.one_of(value, pairs, *prefixes, *(st.builds(operator, value) for operator in (gt, gte, lt, lte)))


TENANT = st.sampled_from(["", "t1"])
ROOM = st.sampled_from(["a"] * 7 + ["a#"])
NUMBERS = [-1, 7]
NUMBER = st.sampled_from([-1, *NUMBERS])
IDS = ["x", "y%"]
ID = st.sampled_from(["x", *IDS])
OWNERS = ["o", "o#"]
OWNER = st.sampled_from(["o", *OWNERS, None])
STATES = ["done", "open"]
STATE = st.sampled_from(STATES)
DUES = [-5, 3]
DUE = st.sampled_from([*DUES, None])
TITLES = ["a", "a!", "b"]
TITLE = st.sampled_from(TITLES)
EMAILS = ["e", "e f", "g"]
EMAIL = st.sampled_from(EMAILS)
PLANS = ["free", "pro"]
PLAN = st.sampled_from(PLANS)
COUNT = st.integers(-3, 9)
TAGS = st.sets(st.sampled_from("pqr"), min_size=1)
LINES = st.lists(st.sampled_from("uv"), max_size=2)
EXTRA = st.dictionaries(st.sampled_from(["k", "l.m"]), st.sampled_from(["v", 1]), min_size=1)

TASK = made(
    Task,
    {"state": STATE, "owner": OWNER, "due": DUE, "count": COUNT, "tags": TAGS, "lines": LINES, "extra": EXTRA},
    room=ROOM,
    number=NUMBER,
)
DOC = made(Doc, {"title": TITLE, "owner": OWNER}, room=ROOM, id=ID)
ACCOUNT = made(Account, {"plan": PLAN}, room=ROOM, id=ID, email=EMAIL)
ENTITY = TASK | DOC | ACCOUNT
TASK_KEY = st.builds(Task.Key, room=ROOM, number=NUMBER)
DOC_KEY = st.builds(Doc.Key, room=ROOM, id=ID)
ACCOUNT_KEY = st.builds(Account.Key, room=ROOM, id=ID)
KEY = TASK_KEY | DOC_KEY | ACCOUNT_KEY
LOOKUP = st.builds(Account.ByEmail, email=EMAIL)
EDITS = {
    "count": st.one_of(COUNT, *(st.builds(verb, COUNT) for verb in (add, subtract, default)), st.just(remove())),
    "tags": st.one_of(st.just(set[str]()), TAGS, *(st.builds(verb, TAGS) for verb in (add, discard, default))),
    "lines": st.one_of(
        *(st.builds(verb, LINES) for verb in (append, prepend)), st.sampled_from([remove(), remove_at(0)])
    ),
    "extra": st.one_of(
        EXTRA,
        *(st.builds(verb, EXTRA) for verb in (merge, merge, default)),
        st.sampled_from([remove(), remove_at("k"), set_at("k", value="w")]),
    ),
}
TASK_EDIT = made(Task.Patch, EDITS)
TASK_PATCH = made(Task.Patch, {"state": STATE, "owner": OWNER, "due": DUE, **EDITS})
DOC_PATCH = made(Doc.Patch, {"title": TITLE, "owner": OWNER})
ACCOUNT_PATCH = made(Account.Patch, {}, plan=PLAN)
TASK_WHERE = st.sampled_from([Where("state", "eq", "open"), Where("count", "gt", 3), Where("owner", "eq", None)])
DOC_WHERE = st.sampled_from([Where("title", "lt", "b"), Where("owner", "eq", "o")])
ACCOUNT_WHERE = st.sampled_from([Where("plan", "eq", "free"), Where("email", "gt", "e")])
VERSION = st.sampled_from(["current", "earlier"])
EXPIRY = st.sampled_from(["keep", "refresh", "clear"])
OTHERS = {"state": STATE, "owner": OWNER, "title": TITLE, "email": EMAIL}
STALE = st.builds(Stale, st.integers(0, 5), st.fixed_dictionaries({}, optional=OTHERS))
MOVED = st.builds(Stale, st.integers(0, 5), st.fixed_dictionaries({"number": NUMBER, "id": ID}, optional=OTHERS))

FIRST = (
    Task(room="a", number=-1, owner="o", due=3, tags={"p"}, lines=["u"], extra={"k": "v"}),
    Task(room="a", number=7, state="done", owner="o", due=-5, extra={"l.m": 1}),
    Doc(room="a", id="x", owner="o"),
    Account(room="a", id="x", email="e"),
    Account(room="a", id="y%", email="g", plan="pro"),
)
CREATE = call("create", ENTITY)
PUT = st.one_of(
    call("put", TASK, where=TASK_WHERE),
    call("put", DOC, where=DOC_WHERE),
    call("put", ACCOUNT, where=ACCOUNT_WHERE),
    call("put", ACCOUNT),
    call("put", STALE),
    call("put", STALE),
)
UPDATE = st.one_of(
    call("update", TASK_KEY, TASK_PATCH, where=TASK_WHERE, expiry=EXPIRY),
    call("update", TASK_KEY, TASK_PATCH, refresh=st.just(True), expiry=EXPIRY),
    call("update", DOC_KEY, DOC_PATCH, where=DOC_WHERE, if_version=VERSION, expiry=EXPIRY, refresh=st.just(True)),
    call("update", ACCOUNT_KEY, ACCOUNT_PATCH, where=ACCOUNT_WHERE),
)
EDIT = call("update", TASK_KEY, TASK_EDIT) | st.builds(
    Call,
    st.just("update"),
    st.tuples(DOC_KEY, DOC_PATCH),
    st.fixed_dictionaries({"if_version": VERSION, "refresh": st.just(True)}),
)
UPSERT = call("upsert", ENTITY)
DELETE = st.one_of(
    call("delete", TASK_KEY, where=TASK_WHERE),
    call("delete", DOC_KEY, where=DOC_WHERE, if_version=VERSION),
    call("delete", ACCOUNT_KEY, where=ACCOUNT_WHERE),
)
MEMBER = st.one_of(
    CREATE,
    PUT,
    # Not accounts: `expiry="clear"` leaves the expiry of their pointers (a bug that is known).
    call("put", TASK | DOC, expiry=st.just("clear")),
    call("replace", MOVED),
    call("replace", MOVED),
    call("update", TASK_KEY, TASK_PATCH, where=TASK_WHERE, expiry=EXPIRY),
    call("update", DOC_KEY, DOC_PATCH, if_version=VERSION),
    call("update", ACCOUNT_KEY, ACCOUNT_PATCH),
    call("delete", TASK_KEY, where=TASK_WHERE),
    call("delete", DOC_KEY, if_version=VERSION),
    call("delete", ACCOUNT_KEY, LOOKUP, where=ACCOUNT_WHERE),
    call("check", TASK_KEY, TASK_WHERE),
    call("check", DOC_KEY, DOC_WHERE),
    call("check_absent", KEY),
)
MEMBERS = st.one_of(
    st.lists(MEMBER, min_size=1, max_size=1),
    st.lists(MEMBER, min_size=2, max_size=4, unique_by=lambda call: _identity(call.args[0])),
)
_PLAIN = st.lists(TASK | DOC, min_size=1, max_size=4, unique_by=lambda entity: _identity(entity))
PUT_MANY = call("put_many", st.one_of(_PLAIN, _PLAIN, _PLAIN, st.lists(ENTITY, min_size=2, max_size=3)))
DELETE_MANY = call("delete_many", st.lists(TASK_KEY | DOC_KEY, min_size=1, max_size=4))
KEYS = st.lists(KEY | LOOKUP, min_size=1, max_size=4)


def _identity(thing: Any) -> Any:
    return thing.back if isinstance(thing, Stale) else place("", thing)


def _room(room: str) -> Sequence[AccessPath[Any]]:
    return Account.InRoom(room=room), Doc.InRoom(room=room), Task.InRoom(room=room)


def _owner(owner: str) -> Sequence[AccessPath[Any]]:
    return Task.Owned(owner=owner), Doc.Owned(owner=owner)


PARTITIONS = st.one_of(
    ROOM.map(_room),
    ROOM.map(lambda room: _room(room)[::2]),
    st.sampled_from(OWNERS).map(_owner),
    st.tuples(made(Task.Recent, {}, state=STATE)),
    st.tuples(made(Account.OfPlan, {}, plan=PLAN)),
)
_OWNER = st.sampled_from(OWNERS)
RANGES = st.one_of(
    st.tuples(made(Task.InRoom, {}, room=ROOM, number=ranged(NUMBERS))),
    st.tuples(made(Doc.InRoom, {}, room=ROOM, id=ranged(IDS))),
    st.tuples(st.just(Account.InRoom(room="a")), made(Task.InRoom, {}, room=st.just("a"), number=ranged(NUMBERS))),
    st.tuples(made(Doc.Owned, {}, owner=_OWNER, title=ranged(TITLES))),
    st.tuples(made(Task.Owned, {}, owner=_OWNER, state=ranged(STATES))),
    st.tuples(made(Task.Owned, {}, owner=_OWNER, state=STATE, due=ranged(DUES))),
    st.tuples(made(Account.OfPlan, {}, plan=PLAN, email=ranged(EMAILS))),
)
