"""One of several processes that take turns of one session: one that all are given, and some of its own."""

from __future__ import annotations

import json
import sys

from singletable import DynamoDBStore, VersionConflictError
from singletable.adapters.pynamo import Credentials


def main(url: str, table: str, name: str) -> None:
    store = DynamoDBStore(table, region="us-east-1", endpoint_url=url, credentials=Credentials("test", "test"))

    @store.sessions.turn_handler
    def handle(session, request):
        session.state = {"seen": [*session.state.get("seen", []), request]}
        return len(session.state["seen"])

    def insist(turn_id: str) -> int:
        while True:
            try:
                return handle(turn_id, actor_id="ada", session_id="s1", turn_id=turn_id)
            except VersionConflictError:
                continue  # a queue delivers it again

    shared = [insist("shared")]
    own = [insist(f"{name}-{number}") for number in range(6)]
    shared.append(insist("shared"))
    assert shared[0] == shared[1]
    sys.stdout.write(json.dumps({"shared": shared[0], "own": own}))


if __name__ == "__main__":
    main(*sys.argv[1:])
