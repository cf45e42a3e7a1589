"""Leases: of several workers that see the same work, one does it, and one that fell asleep over it writes nothing."""

from singletable import DynamoDBStore, LeaseHeldError, LeaseLostError
from singletable.schemas import Message, Thread
from singletable.testing import Clock, MemoryTransport

clock = Clock()
store = DynamoDBStore("agents", transport=MemoryTransport(), clock=clock)
store.memory.save_thread(Thread(id="t1", resource_id="ada"))
hello, answer = (Message(thread_id="t1", role="assistant", content=text) for text in ("hello", "answer"))

# One holder at a time; the others wait for up to ten seconds.
with store.leases.acquire("t1", ttl=30, wait=10) as lease:
    store.memory.save_messages([hello], fence=lease)

# Whoever pauses for longer than the lease lasts may find that another has gone on.
with store.leases.acquire("t1", ttl=30) as lease:
    try:
        with store.leases.acquire("t1", ttl=30):
            pass
    except LeaseHeldError:
        print("somebody else is at it")
    clock.advance(minutes=1)
    with store.leases.acquire("t1", ttl=30) as other:
        print(other.token > lease.token)
        try:
            store.memory.save_messages([answer], fence=lease)
        except LeaseLostError:
            print("nothing was saved")
