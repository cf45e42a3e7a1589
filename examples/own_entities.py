"""Your own entities on one table.  MemoryTransport stands in for DynamoDB here."""

from datetime import UTC, datetime, timedelta
from typing import Literal

from singletable import KEEP, Change, Changes, Entity, Index, Lookup, Pk, PrimaryKey, SkRange, Table, add, gte
from singletable.testing import MemoryTransport


class Order(Entity, entity="order", version=1):
    id: str
    customer_id: str
    number: str
    status: Literal["open", "paid", "sent"] = "open"
    reminders: int = 0
    placed_at: datetime

    class Key(PrimaryKey["Order"]):
        id: Pk[str]

    class ByCustomer(Index["Order"], on="gsi1"):
        customer_id: Pk[str]
        placed_at: SkRange[datetime] = None

    class ByNumber(Lookup["Order"]):  # unique: no two orders have one number
        number: Pk[str]

    class Patch(Changes["Order"]):
        status: Change[Literal["open", "paid", "sent"]] = KEEP
        reminders: Change[int] = KEEP


table = Table("shop", MemoryTransport(), entities=[Order])
now = datetime.now(UTC)

with table.transaction() as tx:  # both or none
    tx.create(Order(id="o1", customer_id="ada", number="2026-001", placed_at=now - timedelta(days=9)))
    tx.create(Order(id="o2", customer_id="ada", number="2026-002", placed_at=now))

print(table.get(Order.Key(id="o1")))  # Order, or None
print(table.get(Order.ByNumber(number="2026-002")))  # by the other key, strongly consistent

recent = table.query(Order.ByCustomer(customer_id="ada", placed_at=gte(now - timedelta(days=7)))).reverse()
print(recent.request())  # what would be sent; nothing is before the query is iterated
for order in recent:
    print(order.number, order.status)

paid = Order.Patch(status="paid", reminders=add(1))
print(table.update(Order.Key(id="o1"), paid, where=lambda order: order.status == "open"))
