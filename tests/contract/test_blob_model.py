"""Blobs against a dictionary: random changes by processes that die or are overtaken, and gc() in between."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from singletable import AlreadyExistsError, ConditionFailedError, NotFoundError, VersionConflictError
from singletable.store import Blobs
from singletable.store.entities import ENTITIES
from singletable.testing import Crash
from tests.contract.blobs import (
    BIG,
    assert_collected,
    assert_nothing_is_left,
    before_request,
    change,
    left_over,
    names,
)
from tests.contract.support import FakeBackend
from tests.pains.support import another

KEY = st.sampled_from(["a", "a/b", "a/b/c", "a/b/c/d", "a/bc/d"])
DATA = st.sampled_from([b"", b"s", b"t" * 1000, b"B" * BIG, b"C" * BIG, b"D" * (BIG + 400_000)])
CHANGE = st.none() | DATA
COMPRESSION = st.sampled_from([None, "gzip", "zstd"])
REQUEST = st.integers(1, 6)


class BlobMachine(RuleBasedStateMachine):
    """One process that dies and is overtaken, and another one that neither happens to."""

    def __init__(self) -> None:
        super().__init__()
        self.fake = FakeBackend()
        self.other = Blobs(another(self.fake).table(*ENTITIES))
        self.model: dict[str, bytes] = {}
        self.etags: dict[str, str] = {}
        self.has_died = False

    @initialize(compression=COMPRESSION)
    def begin(self, compression: Any) -> None:
        self.blobs = Blobs(self.fake.table(*ENTITIES), compression=compression)

    @rule(compression=COMPRESSION)
    def begin_again(self, compression: Any) -> None:
        """Another process in the place of the one that dies and is overtaken."""
        self.begin(compression)

    @rule(key=KEY, data=CHANGE)
    def act(self, key: str, data: bytes | None) -> None:
        change(self.blobs, data, key)
        self.took(key, data)

    @rule(key=KEY, data=DATA)
    def create(self, key: str, data: bytes) -> None:
        self.expect(
            AlreadyExistsError if key in self.model else None, lambda: self.blobs.write(key, data, if_absent=True)
        )
        self.took(key, self.model.get(key, data))

    @rule(key=KEY, data=CHANGE, seen=KEY)
    def act_if_unchanged(self, key: str, data: bytes | None, seen: str) -> None:
        """With the etag of this blob, or of one that it has never been."""
        etag = self.etags.get(seen, "never")
        is_current = key in self.model and etag == self.blobs.head(key).etag
        wrong = VersionConflictError if key in self.model else NotFoundError
        expected = None if is_current else wrong
        if data is None:
            self.expect(expected, lambda: self.blobs.delete(key, if_match=etag))
        else:
            self.expect(expected, lambda: self.blobs.write(key, data, if_match=etag))
        if is_current:
            self.took(key, data)

    @rule(key=KEY, data=CHANGE, number=REQUEST)
    def die(self, key: str, data: bytes | None, number: int) -> None:
        self.fake.faults.crash_before(number)
        with suppress(Crash):
            change(self.blobs, data, key)
        self.fake.faults.clear()
        found = self.other.read(key)
        assert found in (self.model.get(key), data)
        self.has_died = True
        self.took(key, found)

    @rule(key=KEY, data=CHANGE, theirs=CHANGE, number=REQUEST)
    def be_overtaken(self, key: str, data: bytes | None, theirs: bytes | None, number: int) -> None:
        before_request(self.fake, number, lambda: change(self.other, theirs, key))
        change(self.blobs, data, key)
        self.fake.faults.clear()
        found = self.other.read(key)
        assert found in (data, theirs)
        self.took(key, found)

    @rule(key=KEY, theirs=CHANGE, number=st.integers(1, 3), start=st.integers(0, BIG))
    def read_while_it_changes(self, key: str, theirs: bytes | None, number: int, start: int) -> None:
        before_request(self.fake, number, lambda: change(self.other, theirs, key))
        found = self.blobs.read_range(key, start)
        is_changed, self.fake.faults.on_request = self.fake.faults.on_request is None, None
        old = self.model.get(key)
        if is_changed:
            self.took(key, theirs)
        assert found in [None if data is None else data[start:] for data in (old, self.model.get(key))]

    @rule()
    def collect(self) -> None:
        """Nothing goes that is not old, but for folders that have been empty since; later all of it."""
        before = names(self.fake)
        self.other.gc()
        assert {name[0] for name in before - names(self.fake)} <= {"blob_folder"}
        assert_collected(self.fake)
        self.has_died = False

    @invariant()
    def what_is_listed_can_be_read(self) -> None:
        assert self.other.list() == sorted(self.model)
        assert self.other.read_many(sorted(self.model)) == [self.model[key] for key in sorted(self.model)]

    @invariant()
    def nothing_lies_about_unless_something_died(self) -> None:
        left_over(self.fake)
        if not self.has_died:
            assert_nothing_is_left(self.fake)

    def took(self, key: str, data: bytes | None) -> None:
        """What is stored from now on."""
        if data is None:
            self.model.pop(key, None)
        else:
            self.model[key] = data
            self.etags[key] = self.other.head(key).etag

    def expect(self, error: type[ConditionFailedError] | None, call: Callable[[], object]) -> None:
        with nullcontext() if error is None else pytest.raises(error):
            call()


BlobMachine.TestCase.settings = settings(
    max_examples=30,
    stateful_step_count=20,
    derandomize=True,
    database=None,
)
TestBlobs = pytest.mark.no_cover(BlobMachine.TestCase)
