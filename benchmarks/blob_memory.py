"""What streaming a large blob takes of memory: `python -m benchmarks.blob_memory`.

The DynamoDB is moto's in a process of its own, so that what grows here is the client.
"""

from __future__ import annotations

import hashlib
import resource
import subprocess
import sys
from collections.abc import Iterator

from singletable import DynamoDBStore
from singletable.adapters.local import CREDENTIALS, REGION

MEGABYTES = 64
SERVER = """
import sys
from singletable import DynamoDBStore
with DynamoDBStore.local() as store:
    print(store.table.name, store.endpoint_url, flush=True)
    sys.stdin.read()
"""


def main() -> None:
    """Print the growth of the peak after a write and a read."""
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        table, url = server.stdout.readline().split()
        with DynamoDBStore(table, region=REGION, endpoint_url=url, credentials=CREDENTIALS) as store:
            measure(store)
        server.stdin.close()


def measure(store: DynamoDBStore) -> None:
    """Write and read once a little, for what is loaded at the first use, and then much."""
    store.blobs.write("warm", bytes(1_000_000))
    store.blobs.read("warm")
    before = peak_megabytes()
    store.blobs.write("large", megabytes(MEGABYTES))
    written = peak_megabytes()
    digest = hashlib.sha256()
    for part in store.blobs.read_stream("large"):
        digest.update(part)
    head = store.blobs.head("large")
    assert head is not None
    assert head.digest == digest.hexdigest()
    print(f"{MEGABYTES} MB streamed; the peak grew by {written - before:.1f} MB over the write, ", end="")
    print(f"{peak_megabytes() - before:.1f} MB over write and read")


def megabytes(count: int) -> Iterator[bytes]:
    """So many megabytes, one at a time."""
    return (bytes([number % 251]) * 1_000_000 for number in range(count))


def peak_megabytes() -> float:
    """The most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
