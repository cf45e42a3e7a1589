"""TABLE_SETUP.md: its rows are what the store writes, its commands make the table, its policy is the template's.

Not run here, only checked for their syntax: the commands that start a server or install something.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import boto3
import pytest

from singletable import DynamoDBStore
from singletable.provision import TableDefinition, create_table_params
from singletable.provision.cloudformation import POLICIES, template
from singletable.schemas import BlobPiece, BlobUpload, Evaluation, Event, Message, Resource, Score, Span, Thread
from singletable.store.entities import ENTITIES
from singletable.store.span_forms import placed
from singletable.testing import MemoryTransport
from singletable.wire import WireItem
from tests import servers

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "TABLE_SETUP.md").read_text("utf-8")
DERIVED = create_table_params("agents", [entity.spec for entity in ENTITIES])
EXAMPLE_URL = "http://127.0.0.1:8000"
KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
STACK_REGION, COMMAND_REGION = "eu-west-1", "eu-west-3"
"""Two tables of one name on one server: moto keeps regions apart."""


class Block(NamedTuple):
    """A block of code, and the heading that it is under."""

    section: str
    language: str
    text: str


def blocks() -> list[Block]:
    found: list[Block] = []
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE):
        for _, language, text in re.findall(r"^( *)```(\w+)\n(.*?)^\1```$", section, re.MULTILINE | re.DOTALL):
            found.append(Block(section.partition("\n")[0], language, textwrap.dedent(text)))
    assert len(found) == PAGE.count("```") // 2
    return found


BLOCKS = blocks()
BASH = [block for block in BLOCKS if block.language == "bash"]
PYTHON = [block for block in BLOCKS if block.language == "python"]
AWS = [block for block in BASH if re.search(r"\baws ", block.text)]


def rows(first_heading: str) -> list[list[str]]:
    """The cells of the table whose first column has this heading, without those of the last column, which is prose."""
    (body,) = re.findall(rf"^ *\| {first_heading} \|.*\n *\|[-|]+\n((?: *\|.*\n)+)", PAGE, re.MULTILINE)
    return [[cell.strip(" `") for cell in line.strip(" |").split("|")][:-1] for line in body.splitlines()]


class Example:
    """What the page tells of Ada, done with a store."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 30, 22, tzinfo=UTC)
        self._transport = MemoryTransport()
        store = DynamoDBStore("agents", transport=self._transport, clock=lambda: self._now)
        self.memory = store.memory
        self.memory.save_resource(Resource(id="ada"))
        self.memory.save_thread(Thread(id="t1", resource_id="ada"))
        self._now += timedelta(seconds=5)
        order = "01796076005000000-0000-4f2a1c"
        self.memory.save_messages([Message(id="m1", thread_id="t1", role="user", content="hello", order=order)])
        self.memory.set_thread_state("t1", type="plan", value=["book a train"])
        started = {"status": "running", "context": {}}
        store.workflows.persist_workflow_snapshot(
            workflow_name="booking", run_id="r1", snapshot=started, resource_id="ada"
        )
        given = {"run_id": "r1", "resource_id": "ada", "output": "booked"}
        store.scores.save_score(
            Score(
                id="s1",
                scorer_id="tone",
                score=0.9,
                scorer={},
                source="LIVE",
                entity_type="AGENT",
                entity_id="guide",
                trace_id="w1",
                span_id="root",
                **given,
            )
        )
        store.observability.save_evaluation(
            Evaluation(id="e1", agent_name="guide", metric_name="tone", input="book", result={"score": 1}, **given)
        )
        step = {"trace_id": "w1", "started_at": self._now, "resource_id": "ada"}
        root = Span(span_id="root", name="guide", span_type="agent_run", arrival=order, **step)
        store.table.put(placed(root, order))
        store.observability.create_span(
            Span(span_id="model", parent_span_id="root", name="answer", span_type="model_generation", **step)
        )

        store.blobs.write("reports/may/oslo.txt", b"mild")
        store.table.put(BlobPiece(payload="9f2c", number=0, content=b"m"))
        store.table.put(BlobUpload(shelf="12", started_at=self._now, payload="9f2c", path="reports/may/oslo.pdf"))

        session = store.sessions.load("ada", "s1")
        store.sessions.commit(session, turn_id="turn1")
        store.table.put(Event(actor_id="ada", session_id="s1", order=order, data="searched", created_at=self._now))
        with store.leases.acquire("nightly report", ttl=30):
            pass

    def items(self) -> list[WireItem]:
        return self._transport.database.items("agents")

    def last_transaction(self) -> list[Any]:
        return [r for r in self._transport.requests if r.operation == "TransactWriteItems"][-1].params["TransactItems"]


@pytest.fixture
def example() -> Example:
    return Example()


def test_the_rows_of_the_table_are_what_the_store_writes(example: Example) -> None:
    items = example.items()
    example.memory.delete_thread("t1")
    items += [item for item in example.items() if item not in items]
    stored = [[item[name]["S"] for name in ("_entity", "pk", "sk")] for item in items]
    assert sorted(rows("entity")) == sorted(stored)


def test_the_rows_of_the_table_name_every_entity_and_every_pointer() -> None:
    specs = [entity.spec for entity in ENTITIES]
    pointers = [lookup.pk.prefix for spec in specs for lookup in spec.lookups.values()]
    assert {row[0] for row in rows("entity")} == {*(spec.name for spec in specs), *pointers}


def test_the_rows_of_the_indexes_are_what_the_store_writes(example: Example) -> None:
    stored = [
        [index, item["_entity"]["S"], item[f"{index}pk"]["S"], item[f"{index}sk"]["S"]]
        for index in (index["IndexName"] for index in DERIVED["GlobalSecondaryIndexes"])
        for item in example.items()
        if f"{index}pk" in item
    ]
    assert rows("index") == stored


def test_tombstones_expire_without_any_setting(example: Example) -> None:
    example.memory.delete_thread("t1")
    (tombstone,) = [item for item in example.items() if item["_entity"]["S"] == "tombstone"]
    assert datetime.fromtimestamp(int(tombstone["ttl"]["N"]), UTC) == datetime(2026, 12, 1, 22, 0, 5, tzinfo=UTC)


def test_a_saved_turn_is_one_transaction_of_five_items_in_no_index_but_the_threads(example: Example) -> None:
    example.memory.save_messages(
        Message(thread_id="t1", role=role, content="x" * 500) for role in ("user", "assistant")
    )
    kinds = [kind for member in example.last_transaction() for kind in member]
    assert sorted(kinds) == ["Put"] * 4 + ["Update"]
    (update,) = [member["Update"] for member in example.last_transaction() if "Update" in member]
    assert update["Key"]["sk"] == {"S": "thread#"}
    aliases = {name: alias for alias, name in update["ExpressionAttributeNames"].items()}
    set_ = {name for name, alias in aliases.items() if f"{alias} = " in update["UpdateExpression"]}
    assert set_ == {"updatedAt", "gsi2sk", "_write"}


def test_the_policies_are_those_of_the_features_and_of_the_stack() -> None:
    stack = {f"{feature}.json": name for feature, (name, _, _) in POLICIES.items()}
    assert {row[0]: row[1] for row in rows("policy")} == stack
    assert {file.name for file in (ROOT / "infra" / "iam").iterdir()} == stack.keys()


def test_the_parameters_are_those_of_the_template() -> None:
    parameters = template(TableDefinition.of("agents", ENTITIES))["Parameters"]
    for name, default in (row[:2] for row in rows("parameter")):
        assert str(parameters[name]["Default"]) == default


def test_links_within_the_page_lead_somewhere() -> None:
    anchors = {heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.*)$", PAGE, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]*)\)", PAGE)) <= anchors


@pytest.mark.parametrize("block", BASH, ids=lambda block: block.text.split("\n")[0][:40])
def test_bash_can_read_the_commands(block: Block) -> None:
    done = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_commands_that_are_not_run_here_are_known() -> None:
    others = [block for block in BASH if block not in AWS]
    assert [block.text.split()[0] for block in others] == [
        "cd",
        "terraform",
        "pip",
        "moto_server",
        "mkdir",
        "docker",
        "npx",
    ]
    assert {block.section for block in AWS} == {
        "With CloudFormation",
        "With AWS CLI commands",
        "Permissions",
        "Adding an index later",
    }


def test_the_python_code_runs(moto_url: str) -> None:
    names: dict[str, Any] = {}
    try:
        for block in PYTHON:
            exec(compile(block.text.replace(EXAMPLE_URL, moto_url), "TABLE_SETUP.md", "exec"), names)  # the page's own
            if "store" in names:
                names.pop("store").close()
        assert names["client"].describe_table(TableName="agents")["Table"]["TableStatus"] == "ACTIVE"
    finally:
        names["client"].delete_table(TableName="agents")
        names["client"].close()


class Aws:
    """The AWS CLI, talking to moto, in a directory that looks like the root of the repository."""

    def __init__(self, program: str, url: str, directory: Path) -> None:
        self._url, self._directory = url, directory
        self._environment = {
            "PATH": os.pathsep.join([str(Path(program).parent), os.environ["PATH"]]),
            "HOME": str(directory),
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_PAGER": "",
        }
        shutil.copytree(ROOT / "infra", directory / "infra")

    def run(self, section: str, region: str) -> None:
        """Run all commands of a section as one script."""
        script = "\n".join(block.text for block in AWS if block.section == section)
        where = {"AWS_REGION": region, "AWS_DEFAULT_REGION": region}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self._directory,
            env=self._environment | where,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{section}: {done.stderr}"

    def client(self, service: str, region: str) -> Any:
        return boto3.client(service, endpoint_url=self._url, region_name=region, **KEYS)


class Role(NamedTuple):
    """The role `chat-application`."""

    iam: Any

    def policies(self) -> list[dict[str, Any]]:
        return self.iam.list_attached_role_policies(RoleName="chat-application")["AttachedPolicies"]


def find_aws() -> str | None:
    """The AWS CLI of this environment, else that of the machine; None where it does not run."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    program = shutil.which("aws", path=path)
    if program is None or subprocess.run([program, "--version"], capture_output=True, check=False).returncode:
        return None
    return program


@pytest.fixture
def aws(moto_url: str, tmp_path: Path) -> Aws:
    program = find_aws()
    if program is None:
        give_up = pytest.fail if servers.required_in_ci() else pytest.skip
        give_up("THE COMMANDS OF TABLE_SETUP.md ARE NOT RUN: there is no AWS CLI; pip install awscli")
    return Aws(program, moto_url, tmp_path)


def shape(description: dict[str, Any]) -> dict[str, Any]:
    """The part of a description that CreateTable was given."""
    return {
        "TableName": description["TableName"],
        "BillingMode": description["BillingModeSummary"]["BillingMode"],
        "AttributeDefinitions": description["AttributeDefinitions"],
        "KeySchema": description["KeySchema"],
        "GlobalSecondaryIndexes": [
            {name: index[name] for name in ("IndexName", "KeySchema", "Projection")}
            for index in description["GlobalSecondaryIndexes"]
        ],
    }


@pytest.fixture
def role(aws: Aws) -> Generator[Role]:
    """The role of the application, which the page takes for granted."""
    iam = aws.client("iam", STACK_REGION)
    iam.create_role(RoleName="chat-application", AssumeRolePolicyDocument="{}")
    made = Role(iam)
    yield made
    for policy in made.policies():
        iam.detach_role_policy(RoleName="chat-application", PolicyArn=policy["PolicyArn"])
        iam.delete_policy(PolicyArn=policy["PolicyArn"])
    iam.delete_role(RoleName="chat-application")


def test_the_commands_for_a_stack_make_the_table_and_attach_its_policy(aws: Aws, role: Role) -> None:
    aws.run("With CloudFormation", STACK_REGION)
    assert shape(aws.client("dynamodb", STACK_REGION).describe_table(TableName="agents")["Table"]) == DERIVED
    assert [policy["PolicyName"].split("-")[:2] for policy in role.policies()] == [["agents", "ChatPolicy"]]


def test_the_commands_make_the_table_and_one_more_index(aws: Aws) -> None:
    dynamodb = aws.client("dynamodb", COMMAND_REGION)
    aws.run("With AWS CLI commands", COMMAND_REGION)
    table = dynamodb.describe_table(TableName="agents")["Table"]
    assert shape(table) == DERIVED
    assert table["DeletionProtectionEnabled"] is True
    assert table["SSEDescription"]["Status"] == "ENABLED"
    expiry = dynamodb.describe_time_to_live(TableName="agents")["TimeToLiveDescription"]
    assert expiry == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    backups = dynamodb.describe_continuous_backups(TableName="agents")["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"

    aws.run("Adding an index later", COMMAND_REGION)
    indexes = dynamodb.describe_table(TableName="agents")["Table"]["GlobalSecondaryIndexes"]
    assert [index["IndexName"] for index in indexes] == [f"gsi{number}" for number in range(1, 10)]


def test_the_commands_make_the_policy_and_attach_it(aws: Aws, role: Role) -> None:
    aws.run("Permissions", COMMAND_REGION)
    assert [policy["PolicyName"] for policy in role.policies()] == ["agents-chat"]
