"""`singletable export` and `singletable import`: files that are whole, errors that name the line, and no content."""

from __future__ import annotations

import json
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from singletable import DynamoDBStore
from singletable.adapters.pynamo import Credentials
from singletable.cli import main
from singletable.cli.app import app
from singletable.cli.keeping import Keeper
from singletable.cli.transcripts import to_openai
from singletable.errors import InvalidCursorError, SingleTableError, TableNotFoundError
from singletable.provision import create_table_params
from singletable.schemas import Message, Resource, Thread
from singletable.store.entities import ENTITIES
from singletable.store.records import from_line, to_line
from tests import servers

WHO = "ada-lovelace"
SECRET = "a secret"
NAMES = ("from", "to")
KEY = Credentials("test", "test")
START = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)
TRANSCRIPTS = sorted(Path("examples/transcripts").glob("*.jsonl"))


class KilledError(Exception):
    """What ends a process at that moment."""


@pytest.fixture
def url(moto_url: str, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """A server with two tables."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    client = servers.dynamodb(moto_url)
    for name in NAMES:
        client.create_table(**create_table_params(name, [entity.spec for entity in ENTITIES]))
    yield moto_url
    for name in NAMES:
        client.delete_table(TableName=name)
    client.close()


def opened(url: str, name: str = "to", **options: Any) -> DynamoDBStore:
    return DynamoDBStore(name, region="us-east-1", endpoint_url=url, credentials=KEY, **options)


@pytest.fixture
def store(url: str) -> Generator[DynamoDBStore]:
    """The table `from`, with what is in it."""
    with opened(url, "from") as store:
        fill(store)
        yield store


@pytest.fixture
def target(url: str) -> Generator[DynamoDBStore]:
    """The table `to`, empty."""
    with opened(url) as store:
        yield store


def fill(store: DynamoDBStore) -> None:
    for name in ("t1", "t2", "t3"):
        store.memory.save_thread(Thread(id=name, resource_id=WHO, title=SECRET))
        store.memory.save_messages(
            Message(id=f"{name}{part}", thread_id=name, resource_id=WHO, role="user", content=SECRET) for part in "ab"
        )
    store.memory.save_resource(Resource(id=WHO, working_memory=SECRET))


def invoke(url: str, command: str, *options: object, table: str = "to", **given: Any) -> Result:
    where = ["--table", table, "--endpoint-url", url, "--region", "us-east-1"]
    return CliRunner().invoke(app, [command, *map(str, options), *where], **given)


def export(url: str, *options: object) -> Result:
    return invoke(url, "export", *options, table="from")


def everything(store: DynamoDBStore) -> list[bytes]:
    return sorted(to_line(one) for page in store.export_all(allow_scan=True) for one in page.items)


def written(tmp_path: Path, *lines: object) -> Path:
    """A file with these lines: bytes as they are, anything else as JSON."""
    path = tmp_path / "given.jsonl"
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines))
    return path


def line(entity: Any) -> bytes:
    return to_line(entity).strip()


def problem(result: Result) -> str:
    """The one line of a failure, as `main` prints it."""
    assert isinstance(result.exception, SingleTableError), result.output
    return str(result.exception)


# There and back


@pytest.mark.parametrize("selected", [["--all"], ["--resource", WHO]], ids=["all", "resource"])
def test_what_is_exported_is_imported(
    url: str, store: DynamoDBStore, target: DynamoDBStore, tmp_path: Path, selected: list[str]
) -> None:
    path = tmp_path / "out.jsonl"
    result = export(url, *selected, "--out", path)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    assert result.stderr == "exported: 6 message, 1 resource, 3 thread\n"
    result = invoke(url, "import", path)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    assert result.stderr == "written: 6 message, 1 resource, 3 thread; there already: nothing; left out: 0\n"
    assert everything(target) == everything(store)
    again = invoke(url, "import", path)
    assert again.stderr == "written: nothing; there already: 6 message, 1 resource, 3 thread; left out: 0\n"
    replaced = invoke(url, "import", path, "--replace")
    assert replaced.stderr == "written: 6 message, 1 resource, 3 thread; there already: nothing; left out: 0\n"
    assert everything(target) == everything(store)


def test_through_a_pipe(url: str, store: DynamoDBStore, target: DynamoDBStore) -> None:
    result = export(url, "--thread", "t1")
    assert [type(from_line(one)) for one in result.stdout_bytes.splitlines()] == [Thread, Message, Message]
    assert invoke(url, "import", "-", input=result.stdout_bytes).exit_code == 0
    assert [one.id for one in target.memory.list_messages("t1").items] == ["t1a", "t1b"]
    assert store.memory.list_messages("t1").items == target.memory.list_messages("t1").items


def test_for_a_tenant(url: str, store: DynamoDBStore, target: DynamoDBStore, tmp_path: Path) -> None:
    store.scoped("acme").memory.save_resource(Resource(id="r"))
    path = tmp_path / "out.jsonl"
    assert export(url, "--all", "--tenant", "acme", "--out", path).exit_code == 0
    assert invoke(url, "import", path, "--tenant", "other").exit_code == 0
    assert target.scoped("other").memory.get_resource_by_id("r") is not None
    assert everything(target) == []


def test_what_is_imported_expires_as_it_is_said(url: str, tmp_path: Path) -> None:
    path = written(tmp_path, line(Resource(id="r")), line(Thread(id="t", resource_id="r")))
    result = invoke(url, "import", path, "--ttl", "resource=60", "--ttl-attribute", "expiry")
    assert result.exit_code == 0, result.output
    client = servers.dynamodb(url)
    items = client.scan(TableName="to")["Items"]
    client.close()
    assert {item["_entity"]["S"]: "expiry" in item for item in items} == {"resource": True, "thread": False}


# The file


def test_the_file_is_private_and_the_note_goes(url: str, store: DynamoDBStore, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    assert export(url, "--resource", WHO, "--out", path).exit_code == 0
    assert [one.name for one in tmp_path.iterdir()] == ["out.jsonl"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_export_that_is_killed_after_any_page_goes_on(
    url: str, store: DynamoDBStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "whole.jsonl"
    assert export(url, "--resource", WHO, "--out", whole).exit_code == 0
    count, write = 0, Keeper.write

    def die(keeper: Keeper, page: Any) -> None:
        nonlocal count
        count += 1
        if count == last:
            keeper.file.write(b'{"entity": "half a li')
            keeper.file.flush()
            raise KilledError
        write(keeper, page)

    monkeypatch.setattr(Keeper, "write", die)
    last = 0
    for last in range(1, 30):
        path, count = tmp_path / f"{last}.jsonl", 0
        first = export(url, "--resource", WHO, "--out", path)
        if first.exit_code == 0:
            break
        assert isinstance(first.exception, KilledError)
        assert ("go on with --resume" in first.stderr) == path.exists() == (last > 1)
        count = last
        again = export(url, "--resource", WHO, "--out", path, "--resume")
        assert again.stderr == "exported: 6 message, 1 resource, 3 thread\n", again.output
        assert path.read_bytes() == whole.read_bytes()
        assert not path.with_name(path.name + ".progress").exists()
    assert last > 10


def test_resume_begins_where_nothing_was_begun(url: str, store: DynamoDBStore, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    assert export(url, "--resource", WHO, "--out", path, "--resume").exit_code == 0
    assert len(path.read_bytes().splitlines()) == 10


def test_no_file_is_overwritten(url: str, store: DynamoDBStore, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("mine")
    for more in ([], ["--resume"]):
        assert "is there already, and is complete" in problem(export(url, "--all", "--out", path, *more))
    note = tmp_path / "out.jsonl.progress"
    note.write_text(json.dumps({"cursor": None, "bytes": 2, "counts": {}}))
    assert "go on with --resume" in problem(export(url, "--all", "--out", path))
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("{", "the note beside the file is damaged"),
        ('{"bytes": 0}', "the note beside the file is damaged"),
        ("[]", "the note beside the file is damaged"),
        ('{"cursor": null, "bytes": "x", "counts": {}}', "the note beside the file is damaged"),
        ('{"cursor": null, "bytes": 5, "counts": {}}', "the file is shorter than the note beside it says"),
    ],
)
def test_a_damaged_note(url: str, store: DynamoDBStore, tmp_path: Path, note: str, expected: str) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("mine")
    (tmp_path / "out.jsonl.progress").write_text(note)
    assert expected in problem(export(url, "--all", "--out", path, "--resume"))
    assert path.read_text() == "mine"


def test_a_note_of_another_export(url: str, store: DynamoDBStore, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("")
    cursor = next(iter(store.export_resource(WHO))).cursor
    (tmp_path / "out.jsonl.progress").write_text(json.dumps({"cursor": cursor, "bytes": 0, "counts": {}}))
    assert isinstance(export(url, "--thread", "t1", "--out", path, "--resume").exception, InvalidCursorError)


def test_a_folder_that_is_not_there(url: str, store: DynamoDBStore, tmp_path: Path) -> None:
    assert "cannot be written (No such file" in problem(export(url, "--all", "--out", tmp_path / "no" / "out"))


# Errors of an export


def test_a_thread_that_is_not_there(url: str, tmp_path: Path) -> None:
    for more in ([], ["--out", tmp_path / "out.jsonl"]):
        assert "there is no such thread" in problem(export(url, "--thread", "none", *more))
    assert list(tmp_path.iterdir()) == []


def test_a_bad_item_is_left_out_and_told_of(url: str, store: DynamoDBStore) -> None:
    client = servers.dynamodb(url)
    items = client.scan(TableName="from")["Items"]
    bad = next(item for item in items if item["_entity"] == {"S": "message"})
    client.put_item(TableName="from", Item={**bad, "role": {"S": "nobody"}})
    client.close()
    result = export(url, "--all")
    assert len(result.stdout_bytes.splitlines()) == 9
    assert problem(result).startswith("1 items were left out; the first one: a stored message does not fit: role")
    assert result.exit_code == 1


@pytest.mark.parametrize(
    "options",
    [[], ["--all", "--thread", "t"], ["--thread", "t", "--resource", "r"], ["--all", "--resume"]],
    ids=lambda options: " ".join(options) or "none",
)
def test_an_export_that_is_asked_for_wrongly(options: list[str]) -> None:
    assert invoke("http://localhost:1", "export", *options).exit_code == 2


# Errors of an import

GOOD = line(Resource(id="good"))
BAD: list[tuple[object, str]] = [
    (b"{", "this is not JSON in UTF-8"),
    (b"\xff", "this is not JSON in UTF-8"),
    (b"[" * 100_000, "this is not JSON in UTF-8"),
    ([], "a line must be a JSON object"),
    ({}, "a line of an export is"),
    ({"entity": "resource", "version": True, "data": {}}, "a line of an export is"),
    ({"entity": "resource", "version": 0, "data": {}}, "a line of an export is"),
    ({"entity": "resource", "version": 1, "data": []}, "a line of an export is"),
    ({"entity": "resource", "version": 1, "data": {}, SECRET: 1}, "a line of an export is"),
    ({"entity": SECRET, "version": 1, "data": {}}, "this version imports no such entity; it knows thread, message"),
    ({"entity": ["resource"], "version": 1, "data": {}}, "this version imports no such entity"),
    ({"entity": "tombstone", "version": 1, "data": {}}, "this version imports no such entity"),
    ({"entity": "resource", "version": 1, "data": {}}, "this resource does not fit: id: missing"),
    ({"entity": "resource", "version": 1, "data": {"id": SECRET, "pk": SECRET}}, "leave it out"),
    ({"entity": "resource", "version": 1, "data": {"id": SECRET, "gsi9pk": SECRET}}, "leave it out"),
    ({"entity": "resource", "version": 1, "data": {"id": SECRET, "ttl": 1}}, "leave it out"),
    ({"entity": "resource", "version": 1, "data": {"id": SECRET, "": 1}}, "leave it out"),
    ({"entity": "resource", "version": 1, "data": {"id": SECRET, SECRET: {"$set": []}}}, "nothing that can be stored"),
    ({"entity": "resource", "version": 1, "data": {"id": SECRET, "metadata": {"": 1}}}, "nothing that can be stored"),
    ({"entity": "resource", "version": 1, "data": {"id": " "}}, "id"),
    (b" " * 8_500_000 + b"{}", "the line is longer than any item"),
]


@pytest.mark.parametrize(("bad", "expected"), BAD)
def test_a_bad_line_stops_the_import_and_is_named(
    url: str, target: DynamoDBStore, tmp_path: Path, bad: object, expected: str
) -> None:
    path = written(tmp_path, GOOD, b"", bad, line(Resource(id="after")))
    result = invoke(url, "import", path)
    assert problem(result).startswith("given.jsonl, line 3: ")
    assert expected in problem(result)
    assert "stopped after 0; run it again to go on" in result.stderr
    assert SECRET not in result.output + problem(result)
    assert everything(target) == []


@pytest.mark.parametrize(("bad", "expected"), BAD)
def test_bad_lines_are_left_out_on_request(
    url: str, target: DynamoDBStore, tmp_path: Path, bad: object, expected: str
) -> None:
    path = written(tmp_path, GOOD, bad, line(Resource(id="after")))
    result = invoke(url, "import", path, "--skip-bad")
    assert result.exit_code == 0, result.output
    first, last = result.stderr.splitlines()
    assert first.startswith("given.jsonl, line 2: ")
    assert expected in first
    assert first.endswith("; left out")
    assert last == "written: 2 resource; there already: nothing; left out: 1"
    assert SECRET not in result.output
    assert target.memory.get_resource_by_id("after") is not None


def test_what_the_store_refuses_is_named_by_its_line(url: str, target: DynamoDBStore, tmp_path: Path) -> None:
    target.memory.save_thread(Thread(id="t", resource_id="bob"))
    large = Message(id="m", thread_id="t", role="user", content="x" * 500_000, order="1")
    path = written(tmp_path, GOOD, line(Thread(id="t", resource_id=WHO)), b"", line(large))
    result = invoke(url, "import", path, "--skip-bad")
    told = result.stderr.splitlines()
    assert [one.split(":")[0] for one in told[:2]] == ["given.jsonl, line 4", "given.jsonl, line 2"]
    assert told[2] == "written: 1 resource; there already: nothing; left out: 2"
    assert problem(invoke(url, "import", path)).startswith("given.jsonl, line 4: message: the item has 500,")


def test_lines_far_behind_are_numbered_as_well(url: str, tmp_path: Path) -> None:
    path = written(tmp_path, *(line(Resource(id=f"r{number}")) for number in range(250)), b"{")
    result = invoke(url, "import", path)
    assert problem(result).startswith("given.jsonl, line 251: ")
    assert "stopped after 200; run it again to go on" in result.stderr


def test_windows_line_ends_and_a_byte_order_mark(url: str, target: DynamoDBStore, tmp_path: Path) -> None:
    path = written(tmp_path, b"\xef\xbb\xbf" + GOOD + b"\r", line(Resource(id="after")) + b"\r", b"\r")
    assert invoke(url, "import", path).exit_code == 0
    assert len(everything(target)) == 2


@pytest.mark.parametrize(
    "options",
    [
        ["--format", "xml"],
        ["--format", "openai"],
        ["--format", "openai", "--thread", "t"],
        ["--thread", "t"],
        ["--resource", "r", "--format", "mastra"],
        ["--format", "openai", "--thread", "t", "--resource", "r", "--skip-bad"],
        ["--mastra-table", "mastra_threads"],
        ["--format", "mastra", "--mastra-table", "mastra_traces"],
        ["--ttl", "message"],
        ["--ttl", "message=0"],
        ["--ttl", "nothing=60"],
    ],
    ids=" ".join,
)
def test_an_import_that_is_asked_for_wrongly(options: list[str]) -> None:
    assert invoke("http://localhost:1", "import", "x.jsonl", *options).exit_code == 2


def test_a_file_that_is_not_there(url: str, tmp_path: Path) -> None:
    assert "the file cannot be read (No such file" in problem(invoke(url, "import", tmp_path / "none.jsonl"))


def test_a_table_that_is_not_there(url: str, tmp_path: Path) -> None:
    result = invoke(url, "import", written(tmp_path, GOOD), table="none")
    assert isinstance(result.exception, TableNotFoundError)
    assert result.stderr == "stopped after 0; run it again to go on\n"


def test_a_failure_is_one_line_and_a_status(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--table", "to", "--endpoint-url", url, "--region", "us-east-1"]
    monkeypatch.setattr("sys.argv", ["singletable", "import", str(written(tmp_path, b"{")), *where])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("singletable: given.jsonl, line 1: this is not JSON")


# Transcripts


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_transcript_becomes_a_thread(url: str, target: DynamoDBStore, path: Path) -> None:
    options = ["--format", "openai", "--thread", "trip", "--resource", WHO]
    chats = [json.loads(one) for one in path.read_text().split("\n") if one]
    result = invoke(url, "import", path, *options)
    assert result.stderr == f"written: {len(chats)} message, 1 thread; there already: nothing; left out: 0\n"
    messages = target.memory.list_messages("trip", per_page=None).items
    assert [to_openai(one) for one in messages] == chats
    assert {one.resource_id for one in messages} == {WHO}
    thread = target.memory.get_thread_by_id("trip")
    assert thread is not None
    assert (thread.resource_id, thread.created_at, thread.updated_at) == (
        WHO,
        messages[0].created_at,
        messages[-1].created_at,
    )
    before = everything(target)
    again = invoke(url, "import", path, *options)
    assert again.stderr == f"written: nothing; there already: {len(chats)} message, 1 thread; left out: 0\n"
    assert everything(target) == before


CHATS = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]


@pytest.mark.parametrize(
    "content",
    [
        [json.dumps(CHATS, indent=2).encode()],
        [b"\xef\xbb\xbf  " + json.dumps(CHATS).encode()],
        CHATS,
        [{"messages": CHATS}],
    ],
    ids=["list", "list with a mark", "lines", "conversation"],
)
def test_forms_of_a_transcript(url: str, target: DynamoDBStore, tmp_path: Path, content: list[object]) -> None:
    options = ["--format", "openai", "--thread", "t", "--resource", WHO]
    assert invoke(url, "import", written(tmp_path, *content), *options).exit_code == 0
    assert [to_openai(one) for one in target.memory.list_messages("t").items] == CHATS


def test_several_conversations_become_several_threads(url: str, target: DynamoDBStore, tmp_path: Path) -> None:
    path = written(tmp_path, {"messages": CHATS}, {"messages": CHATS[:1]})
    assert invoke(url, "import", path, "--format", "openai", "--thread", "t", "--resource", WHO).exit_code == 0
    assert [len(target.memory.list_messages(name).items) for name in ("t", "t-2")] == [2, 1]


@pytest.mark.parametrize("bad", [b"[", b'[{"role": "nobody"}]', b"{}", b""])
def test_a_bad_transcript(url: str, target: DynamoDBStore, tmp_path: Path, bad: bytes) -> None:
    options = ["--format", "openai", "--thread", "t", "--resource", WHO]
    assert problem(invoke(url, "import", written(tmp_path, bad), *options)).startswith("given.jsonl")
    assert everything(target) == []


# Rows of Mastra's


def test_rows_of_mastras_tables(url: str, target: DynamoDBStore) -> None:
    path = Path("tests/data/mastra_rows.jsonl")
    result = invoke(url, "import", path, "--format", "mastra")
    counts = "2 message, 1 resource, 1 score, 1 thread, 1 thread_state, 2 trace, 1 workflow_snapshot"
    assert result.stderr == f"written: {counts}; there already: nothing; left out: 0\n", result.output
    messages = target.memory.list_messages("trip").items
    assert [one.id for one in messages] == ["question", "answer"]
    assert messages[0].created_at == START
    assert messages[1].metadata == {"model": "large"}
    assert isinstance(messages[1].content, dict)
    assert messages[1].content["metadata"] == {"model": "large"}
    assert [one.span_id for one in target.observability.list_traces().items] == ["root"]
    run = target.workflows.get_workflow_run_by_id("run", workflow_name="book")
    assert run is not None
    assert (run.status, run.updated_at) == ("suspended", START + timedelta(seconds=5))
    again = invoke(url, "import", path, "--format", "mastra")
    assert again.stderr == f"written: nothing; there already: {counts}; left out: 0\n"


def test_rows_of_one_table(url: str, target: DynamoDBStore, tmp_path: Path) -> None:
    row = {"id": "R", "workingMemory": "tea", "createdAt": "2026-11-30T22:00:00.000Z"}
    result = invoke(url, "import", written(tmp_path, row), "--format", "mastra", "--mastra-table", "mastra_resources")
    assert result.exit_code == 0, result.output
    assert target.memory.get_resource_by_id("R") == Resource(
        id="R", working_memory="tea", created_at=START, updated_at=START
    )


def test_a_bad_row_is_named_by_its_line(url: str, tmp_path: Path) -> None:
    row = {"table": "mastra_threads", "id": SECRET}
    result = invoke(url, "import", written(tmp_path, b"", row), "--format", "mastra")
    assert problem(result) == "given.jsonl, line 2: mastra_threads: createdAt is missing"
