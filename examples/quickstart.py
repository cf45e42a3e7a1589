from singletable import DynamoDBStore
from singletable.schemas import Message, Thread

with DynamoDBStore.local() as store:  # or DynamoDBStore(table_name="agents", region="eu-north-1")
    store.memory.save_thread(Thread(id="t1", resource_id="ada", title="Trip"))
    question = Message(thread_id="t1", role="user", content="Is Oslo nice in May?")
    answer = Message(thread_id="t1", role="assistant", content="Yes: mild, and light until ten.")
    store.memory.save_messages([question, answer])
    turn = store.memory.context("t1", last=20)  # one request: the thread and its newest 20 messages
    print(turn.thread)
    print(*turn.messages, sep="\n")
