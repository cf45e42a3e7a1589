"""The sync and the async classes have the same methods with the same parameters."""

from __future__ import annotations

import inspect

import pytest

from singletable import (
    AsyncDynamoDBStore,
    AsyncQuery,
    AsyncScan,
    AsyncTable,
    AsyncTransaction,
    AsyncTransport,
    DynamoDBStore,
    Query,
    Scan,
    Table,
    Transaction,
    Transport,
)
from singletable.adapters.pynamo import AsyncPynamoTransport, PynamoTransport
from singletable.store._async.memory import AsyncMemory
from singletable.store._async.observability import AsyncObservability
from singletable.store._async.scores import AsyncScores
from singletable.store._async.workflows import AsyncWorkflows
from singletable.store._sync.memory import Memory
from singletable.store._sync.observability import Observability
from singletable.store._sync.scores import Scores
from singletable.store._sync.workflows import Workflows
from singletable.testing import AsyncMemoryTransport, MemoryTransport

PAIRS = [
    (AsyncTable, Table),
    (AsyncQuery, Query),
    (AsyncScan, Scan),
    (AsyncTransaction, Transaction),
    (AsyncDynamoDBStore, DynamoDBStore),
    (AsyncMemory, Memory),
    (AsyncWorkflows, Workflows),
    (AsyncScores, Scores),
    (AsyncObservability, Observability),
    (AsyncTransport, Transport),
    (AsyncPynamoTransport, PynamoTransport),
    (AsyncMemoryTransport, MemoryTransport),
]
RENAMED = {"aclose": "close", "__aiter__": "__iter__", "__aenter__": "__enter__", "__aexit__": "__exit__"}
pairs = pytest.mark.parametrize(("asynchronous", "synchronous"), PAIRS, ids=[pair[1].__name__ for pair in PAIRS])


def methods(kind):
    """The public methods of a class, under their sync names, and its constructor."""
    found = inspect.getmembers(kind, lambda member: inspect.isfunction(member) or inspect.ismethod(member))
    shown = [name for name, _ in found if not name.startswith("_") or name == "__init__" or name in RENAMED.values()]
    return {RENAMED.get(name, name): getattr(kind, name) for name in [*shown, *(RENAMED.keys() & dict(found).keys())]}


def parameters(method):
    """Name, kind, default and annotation of each parameter; the pause between retries is the one default to differ."""
    found = inspect.signature(method).parameters.values()
    return [
        (
            one.name,
            one.kind,
            None if one.name == "sleep" else one.default,
            str(one.annotation).replace("Async", ""),
        )
        for one in found
    ]


@pairs
def test_both_have_the_same_methods(asynchronous, synchronous):
    assert methods(asynchronous).keys() == methods(synchronous).keys()
    assert methods(synchronous)


@pairs
def test_the_methods_have_the_same_parameters(asynchronous, synchronous):
    twins = methods(synchronous)
    differing = {
        name: (parameters(method), parameters(twins[name]))
        for name, method in methods(asynchronous).items()
        if name != "__init__" or "Protocol" not in str(asynchronous.__mro__)
        if parameters(method) != parameters(twins[name])
    }
    assert differing == {}


@pairs
def test_both_are_documented_alike(asynchronous, synchronous):
    twins = methods(synchronous)
    public = [name for name in twins if not name.startswith("_")]
    assert public
    assert all(method.__doc__ for method in map(twins.get, public))
    assert [name for name in public if bool(methods(asynchronous)[name].__doc__) != bool(twins[name].__doc__)] == []


@pairs
def test_no_sync_method_is_a_coroutine(asynchronous, synchronous):
    assert [name for name, method in methods(synchronous).items() if inspect.iscoroutinefunction(method)] == []
