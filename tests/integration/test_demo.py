"""The demo as a user starts it: a real command, a real second process, nothing of AWS in the environment."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRANSCRIPTS = sorted((ROOT / "examples/transcripts").glob("*.jsonl"))
HELLO = {"role": "user", "content": "hello"}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "singletable.cli", *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")} | more


def run(*arguments: object, cwd: Path = ROOT, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=environment(**more),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("columns", ["80", "200"])
def test_it_plays_resumes_and_shows_the_transcripts(columns: str) -> None:
    done = run("demo", *TRANSCRIPTS, COLUMNS=columns)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Saved trip_to_oslo: 31 messages in 16 turns." in done.stdout
    assert "Threads of ada" in done.stdout
    assert "Trip to oslo: resumed from its newest 20 messages" in done.stdout
    assert "完璧です🎉" in done.stdout
    assert "→ get_wind" in done.stdout
    assert "The working memory of ada was updated" in done.stdout
    for file in TRANSCRIPTS:
        assert f"pk = conversation#{file.stem}" in done.stdout


def test_it_shows_every_item() -> None:
    shown = run("demo", *TRANSCRIPTS, COLUMNS="200").stdout
    messages = sum(len(file.read_bytes().splitlines()) for file in TRANSCRIPTS)
    row = r"^ {entity} +{key}.* +[\d,]+ +{expiry} *$"
    date = r"\d{4}-\d\d-\d\d"
    expected = {
        ("message", r"message#\S+Z#\d{17}-\d{4}-\w{6}", date): messages,
        ("message_by_id", r"message_by_id#\S+ +message_by_id#", date): messages,
        ("thread", "thread#", date): len(TRANSCRIPTS),
        ("resource", "resource#ada +resource#", "never"): 1,
    }
    for (entity, key, expiry), count in expected.items():
        found = re.findall(row.format(entity=entity, key=key, expiry=expiry), shown, re.MULTILINE)
        assert len(found) == count, entity
    assert f"{2 * messages + len(TRANSCRIPTS) + 1} items" in shown
    assert len(re.findall("gsi1: thread#ada / thread#", shown)) == len(TRANSCRIPTS)


def test_a_transcript_of_the_user(tmp_path: Path) -> None:
    mine = tmp_path / "my [bold]chat.jsonl"
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]
    chats = [HELLO, {"role": "assistant", "content": "\x1b[31mhi\x07"}, {"role": "user", "content": parts}]
    mine.write_text(json.dumps({"messages": chats}) + "\n")
    (tmp_path / "json.py").write_text("raise SystemExit('a file of the user was imported')")
    done = subprocess.run(
        [str(Path(sys.executable).with_name("singletable")), "demo", mine.name, mine.name, "--resource", "bob"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Threads of bob" in done.stdout
    assert "conversation#my%20[bold]chat-2" in done.stdout
    assert "look [image_url]" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("content", [None, b"", b"SECRET", b'{"role": "SECRET"}\n', b'{"role": "user", "content": 1}'])
def test_a_bad_file_is_one_line(content: bytes | None, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    if content is not None:
        bad.write_bytes(content)
    done = run("demo", TRANSCRIPTS[0], bad)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "bad.jsonl" in done.stderr
    assert "SECRET" not in done.stderr


def test_a_second_process_that_fails_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os, sys\nif 'resume' in sys.orig_argv: os._exit(3)\n")
    done = run("demo", TRANSCRIPTS[0], PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("singletable: the second process failed with exit status 3")


def test_an_interrupt_ends_it_quietly(tmp_path: Path) -> None:
    # Long enough that it cannot have ended, on however busy a machine, before the signal comes.
    chats = [HELLO, {"role": "assistant", "content": "hi"}] * 500
    endless = tmp_path / "endless.jsonl"
    endless.write_text(json.dumps({"messages": chats}) + "\n")
    demo = subprocess.Popen(
        command("demo", endless), cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert demo.stdout is not None
    while b"DynamoDB is at" not in demo.stdout.readline():
        assert demo.poll() is None
    demo.send_signal(signal.SIGINT)
    _, errors = demo.communicate(timeout=60)
    assert (demo.returncode, errors) == (130, b"")
