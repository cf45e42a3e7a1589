"""An entity that changes: items of its first version are read, changed and indexed by the second."""

from typing import Any

from singletable import Entity, Index, Pk, PrimaryKey, SkRange, Table
from singletable.testing import MemoryTransport


class OldPerson(Entity, entity="person", version=1):
    id: str
    full_name: str

    class Key(PrimaryKey["OldPerson"]):
        id: Pk[str]


def names_in_two(stored: dict[str, Any]) -> dict[str, Any]:
    """From version 1 to version 2, by the names under which the fields are stored."""
    given, _, family = stored.pop("fullName").partition(" ")
    return {**stored, "givenName": given, "familyName": family}


class Person(Entity, entity="person", version=2, upcasters={1: names_in_two}):
    id: str
    given_name: str
    family_name: str

    class Key(PrimaryKey["Person"]):
        id: Pk[str]

    class ByFamily(Index["Person"], on="gsi1"):  # new in version 2
        family_name: Pk[str]
        given_name: SkRange[str] = None


transport = MemoryTransport()
Table("people", transport, entities=[OldPerson]).put(OldPerson(id="p1", full_name="Ada Lovelace"))

table = Table("people", transport, entities=[Person])
print(table.get(Person.Key(id="p1")))  # cast up when it is read; stored anew when it is written

for done in table.reindex(Person.ByFamily, per_second=50):  # or: singletable reindex app.models:Person.ByFamily
    print(f"{done.read} read, {done.written} written, go on with {done.cursor}")
print(table.query(Person.ByFamily(family_name="Lovelace")).all())
