"""Expiry: from the `ttl` setting to the seconds that an item carries, and what they mean.  Pure.

DynamoDB removes expired items hours or days late, so an expired item counts as absent on every read and condition.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StrictBool, StrictInt, ValidationError

from .errors import ConfigurationError
from .wire import WireItem

DEFAULT_ATTRIBUTE = "ttl"


class TtlSettings(BaseModel):
    """What one entry of the `ttl` setting may say, in snake_case or in Mastra's camelCase."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: StrictBool = True
    default_ttl_seconds: StrictInt | None = Field(
        None, gt=0, validation_alias=AliasChoices("default_ttl_seconds", "defaultTtlSeconds")
    )
    attribute_name: str = Field(
        DEFAULT_ATTRIBUTE, min_length=1, validation_alias=AliasChoices("attribute_name", "attributeName")
    )

    @property
    def names_attribute(self) -> bool:
        """Whether it says which attribute holds the expiry: not if it is switched off, and names none."""
        return self.enabled or "attribute_name" in self.model_fields_set


@dataclass(frozen=True)
class Expiry:
    """Which attribute holds the expiry, and after how many seconds each entity expires."""

    attribute: str = DEFAULT_ATTRIBUTE
    seconds: Mapping[str, int] = field(default_factory=dict[str, int])

    def stamp(self, entity: str, now: datetime) -> int | None:
        """The epoch seconds at which an item written `now` expires; None where the entity does not."""
        seconds = self.seconds.get(entity)
        return None if seconds is None else int(now.timestamp()) + seconds

    def is_past(self, item: WireItem, now: datetime) -> bool:
        """Whether an item has expired."""
        stamp = item.get(self.attribute)
        # DynamoDB takes no notice of an expiry that is no number.
        return stamp is not None and "N" in stamp and float(stamp["N"]) <= now.timestamp()


def read_expiry(config: Mapping[str, object], defaults: Mapping[str, int | None]) -> Expiry:
    """The expiry that a `ttl` setting asks for over the entities' defaults; raises ConfigurationError."""
    settings = {entity: read_entry(entity, entry, defaults) for entity, entry in config.items()}
    names = {entry.attribute_name for entry in settings.values() if entry.names_attribute}
    if len(names) > 1:
        raise ConfigurationError(f"ttl: a table has one TTL attribute, but {' and '.join(sorted(names))} are asked for")
    seconds = {entity: default for entity, default in defaults.items() if default is not None}
    for entity, entry in settings.items():
        seconds.pop(entity, None)
        if (life := life_seconds(entity, entry)) is not None:
            seconds[entity] = life
    return Expiry(names.pop() if names else DEFAULT_ATTRIBUTE, seconds)


def read_entry(entity: str, entry: object, entities: Collection[str]) -> TtlSettings:
    """One entry of the setting; raises ConfigurationError that lists the valid entities and keys."""
    if entity not in entities:
        raise ConfigurationError(f"ttl: there is no entity {entity!r}; valid are {', '.join(sorted(entities))}")
    try:
        return TtlSettings.model_validate(entry)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'entry'}: {e['msg']}" for e in error.errors())
        raise ConfigurationError(
            f"ttl[{entity!r}]: {problems}; valid keys are {', '.join(TtlSettings.model_fields)}"
        ) from error


def life_seconds(entity: str, entry: TtlSettings) -> int | None:
    """After how many seconds an entity expires; None for one that does not.  Raises ConfigurationError."""
    if not entry.enabled:
        return None
    if entry.default_ttl_seconds is None:
        raise ConfigurationError(f"ttl[{entity!r}] is enabled without default_ttl_seconds")
    return entry.default_ttl_seconds
