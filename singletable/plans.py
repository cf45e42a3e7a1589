"""What is read, as a value: of which entities, under which conditions, which of their fields.  Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel

from .errors import RequestError
from .expressions import Condition, Placeholders, all_of, record
from .items import check_projection, from_item, from_projection
from .settings import Settings
from .specs import EntitySpec
from .wire import Request, WireItem

if TYPE_CHECKING:
    from .entity import Entity

M = TypeVar("M")
LARGEST_LIMIT = 2**31 - 1
"""What DynamoDB takes for Limit; a page ends at 1 MB long before."""
FILTERED_PAGE = 100
"""With a filter, DynamoDB's Limit counts what is read before it: smaller pages would cost a request for each hit."""


@dataclass(frozen=True)
class Lane:
    """How far one part of a reading has come: a query has one, a scan has one for each of its segments."""

    after: WireItem | None = None
    """What it goes on after, with its key; None at its beginning."""
    finished: bool = False


@dataclass(frozen=True, kw_only=True)
class Plan(ABC):
    """A reading of one or several entities."""

    settings: Settings
    models: tuple[type[Entity], ...]
    """The entities that are asked for."""
    consistent: bool
    filters: tuple[Condition, ...] = ()
    projection: type[BaseModel] | None = None
    counting: bool = False
    """Only the number of the items is wanted."""
    with_expired: bool = False
    """What has expired is wanted as well."""

    @property
    def specs(self) -> list[EntitySpec]:
        """The entities that are asked for."""
        return [model.spec for model in self.models]

    @property
    @abstractmethod
    def key_attributes(self) -> Sequence[str]:
        """The attributes that say where an item lies in the reading."""

    @property
    def hydrates(self) -> bool:
        """Whether only keys are read, and then the items by these keys."""
        return False

    @property
    def counts_itself(self) -> bool:
        """Whether DynamoDB can count, without sending anything back."""
        return True

    @property
    def is_selective(self) -> bool:
        """Whether DynamoDB reads more than it sends back."""
        return bool(self.filters)

    @abstractmethod
    def lanes(self) -> list[Lane]:
        """The parts of the reading, at their beginnings."""

    @abstractmethod
    def request(
        self, now: datetime, *, lane: int = 0, after: WireItem | None = None, limit: int | None = None
    ) -> Request:
        """The request for one page of a part."""

    @abstractmethod
    def model_of(self, item: WireItem) -> type[Entity] | None:
        """The entity of an item; None where it is not asked for."""

    def covers(self, item: WireItem) -> bool:
        """Whether an item of the table is still what is asked for."""
        return self.model_of(item) is not None

    @abstractmethod
    def onward(self, lanes: Sequence[Lane]) -> str:
        """The cursor with which a later page goes on from there."""

    def reading(self, *, consistent: bool) -> Self:
        """The same, strongly consistent or not."""
        return replace(self, consistent=consistent)

    def filtered(self, test: Callable[[Any], bool]) -> Self:
        """The same under one more condition; raises RequestError where several entities are read."""
        condition = record(test, self._only("filter"))
        return replace(self, filters=(*self.filters, condition))

    def selecting(self, model: type[BaseModel]) -> Self:
        """The same with only the fields of `model`; raises RequestError unless one entity is read that has them."""
        check_projection(model, self._only("projection"))
        return replace(self, projection=model)

    def counted(self) -> Self:
        """The same, to be counted."""
        return replace(self, projection=None, counting=True)

    def page_limit(self, left: int | None) -> int | None:
        """How many items DynamoDB should read for `left` results; None for as many as fit into a page."""
        if left is None:
            return None
        return min(max(left, FILTERED_PAGE) if self.is_selective else left, LARGEST_LIMIT)

    def load(self, model: type[Entity], item: WireItem) -> BaseModel:
        """The result that an item is; raises CorruptItemError where it does not fit its entity."""
        if self.projection is None:
            return from_item(model, item, self.settings.expiry.attribute)
        return from_projection(self.projection, item, model.spec)

    def _params(self, to: Placeholders, conditions: Iterable[Condition]) -> dict[str, Any]:
        """What requests of all kinds have in common."""
        params: dict[str, Any] = {"TableName": self.settings.table}
        wanted = [*conditions, *self.filters]
        if wanted:
            params["FilterExpression"] = all_of(wanted).render(to)
        if self.counting and self.counts_itself:
            params["Select"] = "COUNT"
        elif attributes := self._attributes():
            params["ProjectionExpression"] = ", ".join(map(to.name, attributes))
        return params

    def _attributes(self) -> list[str]:
        """What is read of each item; empty where it is all of it, which upcasters need."""
        if self.hydrates or self.counting:
            return [*self.key_attributes]
        if self.projection is None or any(spec.upcasters for spec in self.specs):
            return []
        (spec,) = self.specs
        stored = [spec.fields[name].stored for name in self.projection.model_fields]
        return [*dict.fromkeys([*self.key_attributes, *stored])]

    def _question(self) -> tuple[object, ...]:
        """What a cursor is bound to, of what all kinds of reading have in common."""
        to = Placeholders()
        question = [spec.name for spec in self.specs], [one.render(to) for one in self.filters], to.params()
        return (*question, "with_expired") if self.with_expired else question

    def _only(self, what: str) -> EntitySpec:
        if len(self.models) != 1:
            raise RequestError(f"a {what} applies to one entity; this reads several")
        (model,) = self.models
        return model.spec
