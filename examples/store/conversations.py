"""The memory of an agent: threads, messages, what is remembered of a user, and what an agent keeps of a thread."""

from datetime import timedelta

from singletable import DynamoDBStore, gte, utc_now
from singletable.schemas import Message, Thread
from singletable.store import Include, MessageUpdate
from singletable.testing import MemoryTransport

store = DynamoDBStore("agents", transport=MemoryTransport())
memory = store.memory

memory.save_thread(Thread(id="t1", resource_id="ada", title="Trip", metadata={"topic": "travel", "pinned": True}))
memory.save_messages(
    [
        Message(id="m1", thread_id="t1", resource_id="ada", role="user", content="Is Oslo nice in May?"),
        Message(
            id="m2", thread_id="t1", resource_id="ada", role="assistant", content="Yes: mild, and light until ten."
        ),
    ]
)

# The next turn: one request, and never a tool's result without its call.
turn = memory.context("t1", last=20, align="turn")
print(turn.thread, *turn.messages, sep="\n")

# Lists: by page or by cursor, of one thread, of several, or of a resource.
print(memory.list_threads("ada", metadata={"topic": "travel"}, order_by="updated_at").items)
print(memory.list_messages("t1", last=10).items)
print(memory.list_messages(["t1", "t2"], created_at=gte(utc_now() - timedelta(days=7))).items)
print(memory.list_messages("t1", per_page=1, include=[Include("m2", previous=1)]).items)
print(memory.list_messages_by_resource_id("ada", include_total=True).total)

# Changes that keep what others change at the same time.
memory.update_messages([MessageUpdate(id="m2", metadata={"rating": 5})])
memory.update_thread_metadata("t1", resource_id="ada", update=lambda old: {**old, "pinned": False})

# Working memory, replaced only if it is what was read.
memory.update_working_memory("ada", "likes trains", expected=None)
memory.update_working_memory("ada", "likes trains and tea", expected="likes trains")

# One value for each type beside the messages: a plan, a cursor, a draft.
memory.set_thread_state("t1", type="plan", value=["book a train", "find a hotel"])
print(memory.get_thread_state("t1", type="plan"))

# Whole threads: copied, given to somebody else, looked into, deleted.
copy = memory.clone_thread("t1", new_thread_id="t2", title="What if we fly?")
print(copy.thread, copy.message_ids)
memory.transfer_thread("t2", to_resource_id="grace")
print(memory.stats("t1"), memory.diagnose("t1"))
memory.delete_thread("t2")
