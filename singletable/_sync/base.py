# Generated from ../_async/base.py by scripts/generate_sync.py; edit that file.
"""What all parts of a table stand on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from ..catalog import Catalog
from ..clock import Clock
from ..entity import Entity
from ..errors import RequestError
from ..items import from_item
from ..wire import WireItem
from .sender import Sender, Sleep

E = TypeVar("E", bound=Entity)


class TableBase:
    """The name, the entities and the sender of a table."""

    def __init__(self, name: str, catalog: Catalog, sender: Sender) -> None:
        self.name = name
        self.catalog = catalog
        self._sender = sender

    @property
    def clock(self) -> Clock:
        """The clock by which items expire."""
        return self._sender.clock

    @property
    def sleep(self) -> Sleep:
        """What waits between two attempts."""
        return self._sender.sleep

    @property
    def scope(self) -> str:
        """What stands before every partition key: empty, or that of a tenant."""
        return self._sender.settings.scope

    def load(self, model: type[E], item: WireItem) -> E:
        """The entity of an item in typed JSON, for example of an error's `.item`; raises CorruptItemError."""
        return from_item(model, item, self._sender.settings.expiry.attribute)

    def _read(self, wire: WireItem, model: type[Entity], *, consistent: bool, expired: bool = False) -> WireItem | None:
        self._require_models([model])
        request = self._sender.requests.get(wire, consistent=consistent)
        response = self._sender.send(request, entity=model.spec.name, key=wire)
        item = response.get("Item")
        return None if item is None or (self._is_past(item) and not expired) else item

    def _is_past(self, item: WireItem) -> bool:
        return self._sender.settings.expiry.is_past(item, self.clock())

    def _require_models(self, models: Iterable[type[Entity]]) -> None:
        for model in models:
            if model not in self.catalog.models:
                raise RequestError(f"{model.__name__} is not an entity of table {self.name}; name it in entities=")


def key_text(item: WireItem) -> str:
    """The key of an item, for use in a dict; no key text holds a NUL."""
    return f"{item['pk']['S']}\0{item['sk']['S']}"
