"""A scoped store reaches nothing of another tenant: every public method of a store and of its domains is tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from singletable import DynamoDBStore
from singletable.schemas import Thread
from singletable.store._sync.blobs import Blobs
from singletable.store._sync.leases import Leases
from singletable.store._sync.memory import Memory
from singletable.store._sync.observability import Observability
from singletable.store._sync.scores import Scores
from singletable.store._sync.sessions import Sessions
from singletable.store._sync.workflows import Workflows
from tests.contract.every_verb import CALLS, DOMAINS, SCANS, STORE, result
from tests.contract.leading import check_leading
from tests.contract.users import ADA, fill, mark

KINDS = {
    "memory": Memory,
    "workflows": Workflows,
    "scores": Scores,
    "observability": Observability,
    "blobs": Blobs,
    "leases": Leases,
    "sessions": Sessions,
}
CONNECTION = {"local", "scoped", "close"}
"""What is no call for what is stored."""
INJECTED = {"clock", "stopwatch", "draw", "repeating"}


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))}


def test_every_public_method_is_tried():
    assert public(DynamoDBStore) - CONNECTION == STORE.keys() | SCANS.keys()
    assert {name: public(kind) - INJECTED for name, kind in KINDS.items()} == {
        name: set(calls) for name, calls in DOMAINS.items()
    }


@pytest.fixture(params=["another tenant", "no scope"])
def outside(request) -> Callable[[Any], Any]:
    """From what stores everything: what must not reach the items of tenant `a`."""
    return (lambda whole: whole.scoped("b")) if request.param == "another tenant" else (lambda whole: whole)


@pytest.fixture
def store(fake):
    """A store in which tenant `a` has a user."""
    whole = fake.store()
    fill(whole.scoped("a"), ADA, "x")
    fake.clock.advance(seconds=10)
    return whole


def of_tenant(fake: Any) -> list[Any]:
    return [item for item in fake.items() if item["pk"]["S"].startswith("@a#")]


@pytest.mark.parametrize("method", CALLS)
def test_p103_no_method_reaches_another_scope(store, fake, outside, method):
    before = of_tenant(fake)
    assert mark(ADA) not in repr(result(outside(store), method))
    assert of_tenant(fake) == before


@pytest.mark.parametrize("method", SCANS)
def test_p103_no_scan_of_a_tenant_reaches_another(store, fake, method):
    before = of_tenant(fake)
    assert mark(ADA) not in repr(SCANS[method](store.scoped("b")))
    assert of_tenant(fake) == before


@pytest.mark.parametrize("method", CALLS)
def test_p103_every_partition_key_of_a_scoped_store_begins_with_the_tenant(store, fake, method):
    fill(store.scoped("b"), ADA, "x")
    fake.sent.clear()
    CALLS[method](store.scoped("b"))
    assert fake.sent.requests
    check_leading(fake.sent.requests)


def test_a_scoped_store_leaves_the_connections_to_the_whole_one():
    with DynamoDBStore.local() as whole:
        with whole.scoped("a") as mine:
            mine.memory.save_thread(Thread(id="t1", resource_id="ada"))
        assert whole.scoped("a").memory.get_thread_by_id("t1").resource_id == "ada"
        assert whole.memory.get_thread_by_id("t1") is None
