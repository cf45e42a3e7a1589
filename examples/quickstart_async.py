import asyncio

from singletable import AsyncDynamoDBStore
from singletable.schemas import Message, Thread


async def main() -> None:
    async with AsyncDynamoDBStore.local() as store:
        await store.memory.save_thread(Thread(id="t1", resource_id="ada", title="Trip"))
        await store.memory.save_messages([Message(thread_id="t1", role="user", content="Is Oslo nice in May?")])
        async for message in store.memory.iter_messages("t1"):
            print(message.role, message.content)


asyncio.run(main())
