"""What the checkers accept and refuse of the public API."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def mypy_lines(file: Path) -> set[int]:
    run = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), "--no-pretty"]
    done = subprocess.run([*run, str(file)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return {int(line) for line in re.findall(rf"{re.escape(file.name)}:(\d+): error", done.stdout)}


def pyright_lines(file: Path) -> set[int]:
    config = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "include": [str(file)],
        "extraPaths": [str(ROOT)],
        "reportUnusedExpression": False,
        "reportMissingTypeStubs": False,
        "reportUnusedImport": False,
    }
    project = file.parent / "pyrightconfig.json"
    project.write_text(json.dumps(config), "utf-8")
    run = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(project)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {entry["range"]["start"]["line"] + 1 for entry in found if entry["severity"] == "error"}


Errors = Callable[[Path], set[int]]


@pytest.fixture(params=[mypy_lines, pyright_lines], ids=["mypy", "pyright"])
def errors(request: pytest.FixtureRequest) -> Errors:
    found: Errors = request.param
    return found


def test_the_accepted_lines_are_accepted(errors: Errors, tmp_path: Path) -> None:
    file = tmp_path / "accepted.py"
    file.write_text((HERE / "accepted.py").read_text("utf-8"), "utf-8")
    assert errors(file) == set()


def test_the_refused_lines_are_refused_and_no_others(errors: Errors, tmp_path: Path) -> None:
    source = (HERE / "refused.py.txt").read_text("utf-8")
    file = tmp_path / "refused.py"
    file.write_text(source, "utf-8")
    expected = {number for number, line in enumerate(source.splitlines(), 1) if "# E[" in line}
    assert errors(file) == expected
