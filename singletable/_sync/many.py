# Generated from ../_async/many.py by scripts/generate_sync.py; edit that file.
"""Writing many entities, without conditions and not as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..declare import PrimaryKey
from ..entity import Entity
from ..errors import PartialBatchError, RequestError
from ..items import key_item, table_key
from ..wire import WireItem
from .base import TableBase, key_text
from .batch import Member, Unwritten, batch_write


class Many(TableBase):
    """Batches over any mix of the table's entities."""

    def put_many(self, entities: Iterable[Entity], *, ordered: bool = False) -> None:
        """Store entities, 25 a request, not as one: raises PartialBatchError with those that are not stored.

        Several requests go at once, unless `ordered`: then what is stored is a beginning of `entities`, but for the
        last 25.  Raises RequestError, before anything is sent, for an entity with lookups and for one that comes
        twice.  A batch has no conditions: a `Version` is not compared."""
        wanted = list(entities)
        self._require_plain(type(entity) for entity in wanted)
        moment = self._sender.moment()
        members: dict[str, Member] = {}
        by_key: dict[str, object] = {}
        for entity in wanted:
            item = self._sender.writes.item(entity, moment)
            if key_text(item) in members:
                raise RequestError("a batch puts one item twice; keep the one that is meant")
            members[key_text(item)] = {"PutRequest": {"Item": item}}
            by_key[key_text(item)] = entity
        left = batch_write(self._sender, list(members.values()), ordered=ordered)
        self._raise_partial(left, by_key)

    def delete_many(self, keys: Iterable[PrimaryKey[Any]], *, ordered: bool = False) -> None:
        """Delete by key, 25 a request, not as one: raises PartialBatchError with the keys that are not deleted."""
        wanted = list(keys)
        self._require_plain(key.declared_for for key in wanted)
        wire = {key_text(item): item for item in (key_item(key, self.scope) for key in wanted)}
        by_key = {key_text(key_item(key, self.scope)): key for key in wanted}
        members = [{"DeleteRequest": {"Key": key}} for key in wire.values()]
        left = batch_write(self._sender, members, ordered=ordered)
        self._raise_partial(left, by_key)

    def _raise_partial(self, left: Unwritten, by_key: Mapping[str, object]) -> None:
        if not left.members:
            return
        texts = {key_text(_key(member)) for member in left.members}
        raise PartialBatchError(
            f"{len(texts)} items of a batch were not written; .unwritten has them, for another try",
            unwritten=[value for text, value in by_key.items() if text in texts],
            operation="BatchWriteItem",
            table=self.name,
        ) from left.error

    def _require_plain(self, models: Iterable[type[Entity]]) -> None:
        for model in dict.fromkeys(models):
            self._require_models([model])
            if model.spec.lookups:
                raise RequestError(
                    f"{model.spec.name} has lookups, which a batch cannot keep; use create, delete or a transaction"
                )


def _key(member: Member) -> WireItem:
    return member["DeleteRequest"]["Key"] if "DeleteRequest" in member else table_key(member["PutRequest"]["Item"])
