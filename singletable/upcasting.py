"""Items of earlier versions of an entity, as the next version would have stored them.  Pure."""

from __future__ import annotations

from typing import Any

from . import codec
from .codec import AttributeValue
from .specs import RESERVED, VERSION, EntitySpec
from .wire import WireItem


def stored_version(item: WireItem) -> int:
    """The version of the entity that wrote an item."""
    return int(item[VERSION]["N"])


def is_behind(spec: EntitySpec, item: WireItem) -> bool:
    """Whether an item must be cast up before this version of its entity can read or change it."""
    return bool(spec.upcasters) and stored_version(item) in spec.upcasters


def upcast(spec: EntitySpec, item: WireItem) -> WireItem:
    """The item as this version stores it; itself where it is not behind.

    Attributes that no upcaster touches stay as they are stored, to the last digit."""
    if not is_behind(spec, item):
        return item
    own = {name: value for name, value in item.items() if RESERVED.fullmatch(name)}
    wire = {name: value for name, value in item.items() if name not in own}
    before = _encoded(spec, {name: codec.decode(value) for name, value in wire.items()})
    values = {name: codec.decode(value) for name, value in wire.items()}
    for version in range(stored_version(item), spec.version):
        values = spec.upcasters[version](values)
    after = _encoded(spec, values)
    kept = {name: wire[name] for name, value in after.items() if before.get(name) == value}
    return {**own, **after, **kept, VERSION: {"N": str(spec.version)}}


def _encoded(spec: EntitySpec, values: dict[str, Any]) -> dict[str, AttributeValue]:
    return {name: codec.encode(value, f"{spec.name}.{name}") for name, value in values.items()}
