"""Messages go after 30 days, threads 90 days after the last message; resources stay."""

from singletable import DynamoDBStore
from singletable.schemas import Thread

DAY = 24 * 3600

with DynamoDBStore.local(
    ttl={
        "message": {"enabled": True, "default_ttl_seconds": 30 * DAY},
        "thread": {"enabled": True, "default_ttl_seconds": 90 * DAY},
    }
) as store:
    print(store.memory.save_thread(Thread(id="t1", resource_id="ada")))
