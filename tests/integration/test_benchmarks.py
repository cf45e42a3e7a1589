"""The benchmarks run; what they measure is read by people, on a machine that is theirs alone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.servers import ROOT


@pytest.mark.parametrize("path", [os.environ.get("PATH", ""), ""], ids=["a compiler, if there is one", "no compiler"])
def test_a_run_ends_in_a_row_for_each_candidate(path: str) -> None:
    command = [sys.executable, "-m", "benchmarks", "--rounds", "1", "--only", "boto3 Table"]
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
    assert [row[0] for row in rows[2:]] == [
        "tuned botocore",
        "boto3 Table",
        "singletable",
        "target of the default transport",
    ]
    assert all(float(ratio) > 0 for ratio in rows[4][1:])
    assert path or "Python" in done.stderr.splitlines()[0]
