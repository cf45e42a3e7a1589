"""The SDK's own tests of storages, from its source distribution, pass on ours."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "strands"
VERSION = version("strands-agents")


@pytest.fixture(scope="session")
def source() -> Path:
    """The SDK's source, with its tests."""
    folder = CACHE / f"strands_agents-{VERSION}"
    CACHE.mkdir(parents=True, exist_ok=True)
    # Under a lock, because each worker of pytest-xdist comes here.
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            # Not :all:, which would have pip build the tools that it builds with.
            wanted = ["--no-deps", "--no-binary", "strands-agents", f"strands-agents=={VERSION}"]
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
            subprocess.run([*pip, "download", *wanted, "-d", str(CACHE)], check=True, timeout=300)
            with tarfile.open(f"{folder}.tar.gz") as archive:
                archive.extractall(CACHE, filter="data")
    return folder


@pytest.mark.parametrize(("suite", "count"), [("storage", 23), ("session", 117), ("memory", 38)])
def test_the_tests_of_the_sdk_pass_on_our_storage(source, suite, count):
    command = [sys.executable, str(Path(__file__).with_name("run_sdk_suite.py")), str(source), suite]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST"))}
    # In its own folder, where it leaves a report.
    done = subprocess.run(
        command,
        cwd=source,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"\n{count} passed" in done.stdout
