"""The entity of the examples around it: a document with automatic fields, and an index of three parts."""

from datetime import datetime

from pydantic import Field

from singletable import (
    KEEP,
    Change,
    Changes,
    CreatedAt,
    Entity,
    Index,
    Pk,
    PrimaryKey,
    SkRange,
    UpdatedAt,
    Version,
    utc_now,
)


class Document(Entity, entity="document", version=1):
    id: str
    author: str
    title: str
    state: str = "draft"
    folder: str = "inbox"
    created_at: CreatedAt = Field(default_factory=utc_now)  # the first write, by the table's clock
    updated_at: UpdatedAt = Field(default_factory=utc_now)  # the last one
    version: Version = ""  # changes with every write, and never comes back

    class Key(PrimaryKey["Document"]):
        id: Pk[str]

    class ByState(Index["Document"], on="gsi1"):
        state: Pk[str]
        folder: SkRange[str] = None
        title: SkRange[str] = None

    class ByAuthor(Index["Document"], on="gsi2"):
        author: Pk[str]
        updated_at: SkRange[datetime] = None

    class Patch(Changes["Document"]):
        state: Change[str] = KEEP
        folder: Change[str] = KEEP
        title: Change[str] = KEEP
