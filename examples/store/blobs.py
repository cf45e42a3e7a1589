"""Bytes of any size under path-like keys."""

from singletable import DynamoDBStore, VersionConflictError
from singletable.testing import MemoryTransport

store = DynamoDBStore("agents", transport=MemoryTransport())
files = store.blobs.namespace("users/ada")

etag = files.write("notes/oslo.txt", b"mild in May")
print(files.read("notes/oslo.txt"))
print(files.list("notes/"), store.blobs.list("users/"))

# What no item holds is stored in pieces, and counts only when the last one is there.
files.write("photos/oslo.raw", (bytes(100_000) for _ in range(20)))
print(files.head("photos/oslo.raw"))
print(files.read_range("photos/oslo.raw", 1_999_990))

# Only over what was read; only where there is nothing.
files.write("notes/oslo.txt", b"warm in June", if_match=etag)
try:
    files.write("notes/oslo.txt", b"cold", if_match=etag)
except VersionConflictError:
    print("somebody else was faster")

# What is written here expires after an hour.
store.blobs.namespace("offloader", ttl_seconds=3600).write("tool_1", b"a long result")

# What writings left that died a day ago, or earlier.
print(store.blobs.gc(dry_run=True))
