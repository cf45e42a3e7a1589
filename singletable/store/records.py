"""Entities as lines of JSON and back: `{"entity": "message", "version": 1, "data": {…}}`.  Pure.

`data` holds the attributes by their stored names, as DynamoDB gives them back: times are texts, numbers are numbers,
free-form JSON is JSON.  What JSON lacks is an object of one name: `{"$bytes": "…"}`, `{"$set": […]}`, and
`{"$number": "…"}` for a number of more digits than a float has; an object that looks like one of these is itself
wrapped, in `{"$map": {…}}`.

Not in a line is what belongs to the table or to one write: keys, scope, expiry and the id of the write.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import cast

from singletable.schemas import Lease, Tombstone

from .. import codec
from ..codec import AttributeValue
from ..entity import Entity
from ..errors import CorruptItemError, InvalidValueError, RequestError
from ..items import from_item, to_item
from ..specs import ENTITY, RESERVED, VERSION, EntitySpec
from ..ttl import DEFAULT_ATTRIBUTE
from ..upcasting import stored_version
from .entities import ENTITIES

MARKS = frozenset({"$bytes", "$set", "$number", "$map"})
MOVED: tuple[type[Entity], ...] = tuple(model for model in ENTITIES if model not in (Lease, Tombstone))
"""What is moved: everything but the marks of what was deleted, and of who works at what."""
MODELS = {model.spec.name: model for model in MOVED}
NO_KEY: AttributeValue = {"S": ""}
"""In the place of a key: the table makes that anew, from the fields."""


class RecordError(RequestError):
    """A line is none of an export; the message holds nothing of its content."""


def to_line(entity: Entity) -> bytes:
    """The line of an entity, with its end; what a later version of the entity has stored is in it, save index keys."""
    item = to_item(entity)
    texts = {field.stored for field in entity.spec.fields.values() if field.json_text}
    data = {
        name: codec.decode_json(value) if name in texts and "S" in value else _plain(value)
        for name, value in item.items()
        if not _is_the_tables(name)
    }
    record = {"entity": entity.spec.name, "version": stored_version(item), "data": data}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def from_line(line: bytes) -> Entity:
    """The entity of a line, cast up where an earlier version wrote it; raises RecordError for what is no such line."""
    record = parsed_object(line)
    name, version, data = (record.get(part) for part in ("entity", "version", "data"))
    if len(record) != 3 or type(version) is not int or version < 1 or not isinstance(data, dict):
        raise RecordError('a line of an export is {"entity": …, "version": …, "data": {…}}')
    model = MODELS.get(name) if isinstance(name, str) else None
    if model is None:
        raise RecordError(f"this version imports no such entity; it knows {', '.join(MODELS)}")
    item = _item(model.spec, cast("Mapping[str, object]", data))
    item |= {ENTITY: {"S": model.spec.name}, VERSION: {"N": str(version)}, "pk": NO_KEY, "sk": NO_KEY}
    try:
        return from_item(model, item, DEFAULT_ATTRIBUTE)
    except CorruptItemError as error:
        raise RecordError(str(error).replace("a stored ", "this ", 1)) from None


def parsed_object(line: bytes) -> dict[str, object]:
    """The JSON object of a line; raises RecordError for anything else."""
    try:
        value: object = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise RecordError("this is not JSON in UTF-8; one JSON object per line is expected") from None
    if not isinstance(value, dict):
        raise RecordError("a line must be a JSON object")
    return cast("dict[str, object]", value)


def _item(spec: EntitySpec, data: Mapping[str, object]) -> dict[str, AttributeValue]:
    """The attributes that `data` stands for; what no field has is what another version stores."""
    texts = {field.stored: field.json_text for field in spec.fields.values()}
    item: dict[str, AttributeValue] = {}
    for name, value in data.items():
        # It would take the place of a key, or of the expiry.
        if not name or _is_the_tables(name):
            raise RecordError(f"{spec.name}: data holds a key, an expiry, or a mark of the table's own: leave it out")
        path = f"{spec.name}.{name}" if name in texts else f"{spec.name}: an attribute"
        try:
            item[name] = codec.encode_json(value, path) if texts.get(name) else _typed(value)
        except (InvalidValueError, ValueError, ArithmeticError, RecursionError):
            raise RecordError(f"{path} is nothing that can be stored") from None
    return item


def _is_the_tables(name: str) -> bool:
    return name == DEFAULT_ATTRIBUTE or RESERVED.fullmatch(name) is not None


def _plain(value: AttributeValue) -> object:
    """Typed JSON as JSON."""
    ((kind, content),) = value.items()
    match kind:
        case "N":
            return _number(content)
        case "B":
            raw = codec.decode(value)
            return {"$bytes": base64.b64encode(cast("bytes", raw)).decode()}
        case "M":
            inner = {name: _plain(one) for name, one in content.items()}
            return {"$map": inner} if len(inner) == 1 and MARKS & inner.keys() else inner
        case "L":
            return [_plain(one) for one in content]
        case "SS" | "NS" | "BS":
            return {"$set": [_plain({kind[0]: member}) for member in content]}
        case _:
            return codec.decode(value)


def _number(text: str) -> object:
    number = Decimal(text)
    if number == number.to_integral_value():
        return int(number)
    return float(text) if Decimal(repr(float(text))) == number else {"$number": text}


def _typed(value: object) -> AttributeValue:
    """The typed JSON that `_plain` gave; raises ValueError for what it never gives."""
    if isinstance(value, list):
        return {"L": [_typed(one) for one in cast("list[object]", value)]}
    if not isinstance(value, dict):
        return codec.encode(value, "")
    inner = cast("dict[str, object]", value)
    if len(inner) == 1 and MARKS & inner.keys():
        ((mark, content),) = inner.items()
        return _marked(mark, content)
    return _map(inner)


def _marked(mark: str, content: object) -> AttributeValue:
    match mark, content:
        case "$bytes", str():
            return {"B": _bytes(content)}
        case "$number", str():
            return codec.encode(Decimal(content), "")
        case "$set", list():
            return _set(cast("list[object]", content))
        case "$map", dict():
            return _map(cast("dict[str, object]", content))
        case _:
            raise ValueError("a mark with nothing that it marks")


def _map(inner: Mapping[str, object]) -> AttributeValue:
    if "" in inner:
        raise ValueError("a name without a character")
    return {"M": {codec.encode(name, "")["S"]: _typed(one) for name, one in inner.items()}}


def _set(members: Sequence[object]) -> AttributeValue:
    typed = [_typed(member) for member in members]
    kinds = {kind for one in typed for kind in one}
    if len(kinds) != 1 or not kinds <= {"S", "N", "B"}:
        raise ValueError("a set of members of several kinds")
    (kind,) = kinds
    return {f"{kind}S": [one[kind] for one in typed]}


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError("no base64") from None
