"""What the documents show is what the examples do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    path
    for path in (ROOT / "README.md", ROOT / "TABLE_SETUP.md", *sorted((ROOT / "docs").glob("*.md")))
    if path.exists()
]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
NOT_RUN = {"aws.py", "create_table.py"}
"""They need an account, or a server on a fixed port."""
TESTS = {"testing_your_app.py"}
"""It is run by pytest."""
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    return [(document.name, block) for document in DOCUMENTS for block in BLOCK.findall(document.read_text())]


@pytest.mark.parametrize(("document", "block"), blocks(), ids=lambda value: value[:24])
def test_a_code_block_is_part_of_an_example(document: str, block: str) -> None:
    starts = ("\n" + example.read_text() for example in EXAMPLES)
    assert any("\n" + block in text for text in starts), f"{document} shows code that is in no file of examples/"


def test_the_readme_opens_with_the_quick_start() -> None:
    assert BLOCK.findall((ROOT / "README.md").read_text())[0] == (ROOT / "examples/quickstart.py").read_text()


@pytest.mark.parametrize("example", [file for file in EXAMPLES if file.name not in NOT_RUN], ids=lambda file: file.stem)
def test_an_example_runs(example: Path) -> None:
    runner = ["-m", "pytest", "-q", "-p", "no:cacheprovider"] if example.name in TESTS else []
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", *runner, str(example)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_link_of_the_readme_to_a_file_leads_somewhere() -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", (ROOT / "README.md").read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []
