"""A session outlives its process: a second one resumes the agent, and finds what the first one offloaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from singletable import DynamoDBStore
from singletable.adapters.local import CREDENTIALS, REGION
from tests import servers

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["embedded", "server", "server-and-bucket"])
def place(request):
    """The name and the address of a table, of the embedded DynamoDB or of a server beside it, and a bucket there."""
    if request.param == "embedded":
        with DynamoDBStore.local() as store:
            yield store.table.name, store.endpoint_url, ""
            return
    url = request.getfixturevalue("moto_url")
    bucket = f"agents-{uuid4().hex}" if request.param == "server-and-bucket" else ""
    if bucket:
        servers.s3(url).create_bucket(Bucket=bucket)
    yield servers.fresh_table(url), url, bucket
    if bucket:
        (piece,) = servers.s3(url).list_objects_v2(Bucket=bucket)["Contents"]
        assert piece["Size"] > 1_000_000


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
    table, url, _ = place
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
