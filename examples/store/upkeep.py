"""What a keeper of data has to do: let it expire, move it, erase all of one user."""

from pathlib import Path
from tempfile import TemporaryDirectory

from singletable import DynamoDBStore
from singletable.schemas import Message, Thread
from singletable.store import from_line, to_line
from singletable.testing import MemoryTransport

store = DynamoDBStore(
    "agents",
    transport=MemoryTransport(),
    ttl={
        "thread": {"enabled": True, "default_ttl_seconds": 90 * 24 * 3600},
        "message": {"enabled": True, "default_ttl_seconds": 90 * 24 * 3600},
        "trace": {"enabled": True, "default_ttl_seconds": 14 * 24 * 3600},
    },
)
store.memory.save_thread(Thread(id="t1", resource_id="ada"))
store.memory.save_messages([Message(thread_id="t1", role="user", content="Is Oslo nice in May?")])

# All of one user as JSON Lines, and into another table.  On the command line: singletable export, singletable import.
copy = DynamoDBStore("copy", transport=MemoryTransport())
with TemporaryDirectory() as folder:
    file = Path(folder) / "ada.jsonl"
    with file.open("wb") as lines:
        for page in store.export_resource("ada"):  # page.cursor is where to go on after an interruption
            lines.writelines(to_line(entity) for entity in page.items)
    with file.open("rb") as lines:
        print(copy.import_entities(from_line(line) for line in lines))  # doing it again changes nothing

# Erasure: what would go, then what went.  On the command line: singletable erase.
print(store.erase_resource("ada", dry_run=True))
print(store.erase_resource("ada").counts)

# What has expired is invisible at once; this removes it before DynamoDB gets round to it.
print(store.purge_expired(allow_scan=True).deleted)
