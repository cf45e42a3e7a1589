# Generated from ../_async/importing.py by scripts/generate_sync.py; edit that file.
"""Entities that were kept elsewhere, stored as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from singletable.schemas import Message, Span, Thread, Tombstone

from ..._sync.reading import AnyKey
from ..._sync.table import Table
from ...concurrency import gather_in_threads
from ...entity import Entity
from ...errors import AlreadyExistsError, ConditionFailedError, RequestError, SingleTableError, TransactionFailedError
from ...items import key_of
from ...refusals import refused_at
from ...retry import ATTEMPTS, pause_seconds
from ..imported import Imported
from ..records import MOVED
from ..span_forms import placed
from ..stamps import Orders
from .exporting import thread_of
from .parts import in_parts
from .threads import thread_deleted

CHUNK = 100
"""Entities in memory at a time: as many as one request looks up."""
MESSAGES_AT_ONCE = 25
"""A message may take three members of a transaction, and one more to see that its thread is not deleted."""

Refused: TypeAlias = Callable[[Entity, SingleTableError], None]


class Importing:
    """Storing what an export gave, or what another store kept."""

    table: Table

    def import_entities(
        self,
        entities: Iterable[Entity],
        *,
        replace: bool = False,
        on_refused: Refused | None = None,
        on_progress: Callable[[Imported], None] | None = None,
    ) -> Imported:
        """Store entities with their ids, times and orders, and count them; what is there already stays as it is.

        With `replace` they take the place of what is there; of two with one id the later one counts then, otherwise
        the first.  Doing it again changes nothing, so that an import that was interrupted is simply repeated.  Not
        kept are versions, the `updated_at` of spans, which is that of the import, and the expiry, which begins anew by
        the `ttl` setting of this store.  Threads need not come before their messages.

        Raised is what cannot be stored, AlreadyExistsError for an id that something of another resource has, and
        ThreadDeletedError for what is of a thread that was deleted within the last day; `on_refused` gets them
        instead, with the entity as it was given, and the rest is stored.  `on_progress` gets the counts after every
        100.  These are in memory at a time.

        One or two requests for 100 entities, and for those that are to be written one for each, eight at once, or
        for 25 messages; one write unit for each KB, two for messages, threads and states."""
        run = Import(self.table, replace, on_refused)
        given = iter(entities)
        while chunk := list(islice(given, CHUNK)):
            run.store(chunk)
            if on_progress is not None:
                on_progress(run.so_far())
        return run.so_far()


class _Given(NamedTuple):
    """An entity, and what it is stored as."""

    given: Entity
    entity: Entity
    current: Entity | None = None
    """What is stored already."""


@dataclass
class Import:
    """One import, and how far it has come."""

    table: Table
    replace: bool
    on_refused: Refused | None
    orders: Orders = field(default_factory=Orders)
    written: Counter[str] = field(default_factory=Counter[str])
    kept: Counter[str] = field(default_factory=Counter[str])
    refused: int = 0

    def so_far(self) -> Imported:
        """The counts."""
        return Imported(dict(self.written), dict(self.kept), self.refused)

    def store(self, chunk: Sequence[Entity]) -> None:
        """Store some entities.  What others change at the same moment is looked at again."""
        left, attempt = self._distinct(chunk), 0
        while left:
            left = self._write(self._wanted(left), alone=attempt > 0)
            attempt += 1
            if attempt == ATTEMPTS:
                for one in left:
                    self._refuse(one.given, self._taken(one.entity))
                return
            if left:
                self.table.sleep(pause_seconds(attempt))

    def _distinct(self, chunk: Sequence[Entity]) -> list[_Given]:
        """The entities as they will be stored, each once, without those that cannot be."""
        found: dict[AnyKey, _Given] = {}
        for given in chunk:
            if not isinstance(given, MOVED):
                raise RequestError(f"a {type(given).__name__} is nothing that is imported")
            entity = self._prepared(given)
            try:
                self.table.size_bytes(entity)
            except RequestError as error:
                self._refuse(given, error)
                continue
            identity = _identity(entity)
            if identity in found:
                self.kept[entity.spec.name] += 1
            if self.replace or identity not in found:
                found[identity] = _Given(given, entity)
        return list(found.values())

    def _prepared(self, entity: Entity) -> Entity:
        """An entity with what the store fills in where it is not given."""
        match entity:
            case Message(order=""):
                return entity.model_copy(update={"order": self._order()})
            case Span():
                return placed(entity, entity.arrival or self._order())
            case _:
                return entity

    def _order(self) -> str:
        return self.orders.next(self.table.clock(), 1)[0]

    def _wanted(self, left: Sequence[_Given]) -> list[_Given]:
        """Those that are to be written, with what they are to replace."""
        ids = list(dict.fromkeys(thread_id for one in left if (thread_id := thread_of(one.entity)) is not None))
        keys: list[AnyKey] = [_identity(one.entity) for one in left]
        found = self.table.get_each([*keys, *(Tombstone.Key(thread_id=thread_id) for thread_id in ids)])
        deleted = {thread_id for thread_id, mark in zip(ids, found[len(left) :], strict=True) if mark is not None}
        wanted: list[_Given] = []
        for (given, entity, _), current in zip(left, found, strict=False):
            if thread_of(entity) in deleted:
                self._refuse(given, thread_deleted(self.table.name))
            elif _is_foreign(current, entity):
                self._refuse(given, self._foreign(entity))
            elif current is not None and not self.replace:
                self.kept[entity.spec.name] += 1
            else:
                wanted.append(_Given(given, entity, current))
        return wanted

    def _write(self, wanted: Sequence[_Given], *, alone: bool) -> list[_Given]:
        """Write entities; those are left whose place another took meanwhile."""
        messages = {one.entity.id: one for one in wanted if isinstance(one.entity, Message)}
        others = [one for one in wanted if not isinstance(one.entity, Message)]
        done = gather_in_threads([partial(self._write_one, one) for one in others])
        left = [one for one, is_written in zip(others, done, strict=True) if not is_written]
        self.written.update(one.entity.spec.name for one, is_written in zip(others, done, strict=True) if is_written)
        for part in in_parts(self.table, _messages(messages.values()), 1 if alone else MESSAGES_AT_ONCE):
            left += self._write_messages([messages[message.id] for message in part])
        return left

    def _write_one(self, one: _Given) -> bool:
        thread_id = thread_of(one.entity)
        try:
            if thread_id is not None:
                self._write_in_thread(one, thread_id)
            elif one.current is None:
                self.table.create(one.entity)
            else:
                self.table.put(_over(one.entity, one.current))
        except ConditionFailedError:
            return False
        except TransactionFailedError as error:
            if not refused_at(error):
                raise
            return False
        return True

    def _write_in_thread(self, one: _Given, thread_id: str) -> None:
        """Write a thread, or a state of one, unless the thread was deleted."""
        with self.table.transaction() as tx:
            if one.current is None:
                tx.create(one.entity)
            elif isinstance(one.entity, Thread):
                owner = one.entity.resource_id
                tx.put(one.entity, where=lambda row: row.resource_id == owner)
            else:
                tx.put(_over(one.entity, one.current))
            tx.check_absent(Tombstone.Key(thread_id=thread_id))

    def _write_messages(self, some: Sequence[_Given]) -> Sequence[_Given]:
        """Write messages, all or none, unless a thread of theirs was deleted; those are left that were not written."""
        try:
            self._transact(some)
        except TransactionFailedError as error:
            if not refused_at(error):
                raise
            if len(some) > 1 or not _is_another(error.reasons[0].current, some[0].entity):
                return some
            self._refuse(some[0].given, self._taken(some[0].entity))
            return []
        except RequestError:
            # Two of them have, or leave and take, one place: each is written alone then.
            if len(some) == 1:
                raise
            return some
        self.written[Message.spec.name] += len(some)
        return []

    def _transact(self, some: Sequence[_Given]) -> None:
        with self.table.transaction() as tx:
            for one in some:
                if one.current is None:
                    tx.create(one.entity)
                else:
                    tx.put(one.entity, old=one.current)
            for thread_id in dict.fromkeys(thread_of(one.entity) for one in some):
                tx.check_absent(Tombstone.Key(thread_id=str(thread_id)))

    def _refuse(self, given: Entity, error: SingleTableError) -> None:
        if self.on_refused is None:
            raise error
        self.on_refused(given, error)
        self.refused += 1

    def _foreign(self, entity: Entity) -> AlreadyExistsError:
        """It holds nothing of what has the id."""
        return AlreadyExistsError(
            f"the id of a {entity.spec.name} is another resource's: import it under another id, or leave it out",
            operation="BatchGetItem",
            table=self.table.name,
            entity=entity.spec.name,
        )

    def _taken(self, entity: Entity) -> ConditionFailedError:
        return ConditionFailedError(
            f"another {entity.spec.name} has its place, or others keep changing it: import it again, or leave it out",
            operation="PutItem",
            table=self.table.name,
            entity=entity.spec.name,
        )


def _messages(some: Iterable[_Given]) -> Iterator[Message]:
    for one in some:
        if isinstance(one.entity, Message):
            yield one.entity


def _is_another(stored: object, entity: Entity) -> bool:
    return isinstance(stored, Message) and isinstance(entity, Message) and stored.id != entity.id


def _identity(entity: Entity) -> AnyKey:
    """By what an entity is found again: a message by its id, wherever it is."""
    return Message.ById(id=entity.id) if isinstance(entity, Message) else key_of(entity)


def _is_foreign(current: Entity | None, entity: Entity) -> bool:
    """Whether what is stored belongs to another resource; what names none may be given an owner."""
    owner = getattr(current, "resource_id", None)
    return owner is not None and owner != getattr(entity, "resource_id", None)


def _over(entity: Entity, current: Any) -> Entity:
    """The entity as one that replaces what was read."""
    name = entity.spec.automatic.get("version")
    return entity if name is None else entity.model_copy(update={name: getattr(current, name)})
