"""A session outlives its process: a second one resumes the agent, and finds what the first one offloaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from singletable import DynamoDBStore
from singletable.adapters.local import CREDENTIALS, REGION
from tests.servers import fresh_table

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["embedded", "server"])
def place(request):
    """The name and the address of a table: of the embedded DynamoDB, or of a server beside it."""
    if request.param == "server":
        url = request.getfixturevalue("moto_url")
        yield fresh_table(url), url
    else:
        with DynamoDBStore.local() as store:
            yield store.table.name, store.endpoint_url


def run(process, place):
    script = str(Path(__file__).with_name("agent_process.py"))
    command = [sys.executable, "-W", "ignore", script, process, *place]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_second_process_resumes_the_session_and_finds_the_needle(place):
    first = run("first", place)
    (offloaded,) = [key for key in first["keys"] if key.startswith("offloader/s1/")]
    table, url = place
    with DynamoDBStore(table, region=REGION, endpoint_url=url, credentials=CREDENTIALS) as store:
        head = store.blobs.head(offloaded)
        assert head is not None
        assert head.size > 1_000_000
    second = run("second", place)
    texts = json.dumps(second["messages"])
    assert "Write the report." in texts  # the session is that of the first process
    (result,) = [
        block["toolResult"]
        for message in second["messages"]
        for block in message["content"]
        if block.get("toolResult", {}).get("toolUseId") == "tu_2"
    ]
    assert "needle-42 is here" in json.dumps(result)
