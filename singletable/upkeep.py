"""Writes that bring a stored item up to date with its entity, and change nothing that the entity says.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .codec import AttributeValue
from .expressions import Condition, Placeholders, exists
from .items import from_item, index_keys, missing, table_key, to_item
from .moment import Moment
from .presence import holds, same
from .scopes import split_scope
from .settings import Settings
from .specs import WRITE
from .upcasting import is_behind
from .updates import Update
from .wire import WireItem
from .writes import Write, write_params

if TYPE_CHECKING:
    from .entity import Entity


def upcast(settings: Settings, model: type[Entity], item: WireItem, moment: Moment) -> Write:
    """Put an item of an earlier version as this one stores it, unless it has changed since it was read."""
    scope, _ = split_scope(item["pk"]["S"])
    attribute = settings.expiry.attribute
    anew = to_item(from_item(model, item, attribute), scope) | {WRITE: {"S": moment.write_id}}
    if attribute in item:
        anew[attribute] = item[attribute]
    params = write_params(settings.table, exists("pk") & same(item), Placeholders(), Item=anew)
    return Write("Put", params, model, table_key(item), "replace", model.spec.name, write_id=moment.write_id)


def rekey(settings: Settings, model: type[Entity], item: WireItem, index: str, moment: Moment) -> Write | None:
    """Give an item the key of an index that its fields say, whatever scope it is in; None where it has it."""
    if is_behind(model.spec, item):
        return upcast(settings, model, item, moment)
    spec, entity = model.spec.indexes[index], from_item(model, item, settings.expiry.attribute)
    parts = {part.name: getattr(entity, part.name) for part in spec.parts}
    scope, _ = split_scope(item["pk"]["S"])
    wanted: dict[str, AttributeValue] = {} if missing(spec, parts) else index_keys(spec, parts, scope)
    halves = (spec.pk.attribute, spec.sk.attribute)
    if all(item.get(half) == wanted.get(half) for half in halves):
        return None
    update = Update(Placeholders())
    for half in halves:
        update.set(half, wanted.get(half))
    condition: Condition = exists("pk") & holds(model.spec, parts)
    wire, expression = table_key(item), update.render()
    params = write_params(settings.table, condition, update.placeholders, Key=wire, UpdateExpression=expression)
    return Write("Update", params, model, wire, "update", model.spec.name)
