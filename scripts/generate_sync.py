"""Writes the synchronous twin of every asynchronous module.

`--check` writes nothing: it exits with 1 and names the twins that are not what their sources give.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import unasync

REPOSITORY = Path(__file__).resolve().parents[1]
PARENTS = ("singletable", "singletable/store", "tests/unit")
"""The folders that hold a source `_async` and its twin `_sync`."""

NAMES = {
    "asyncio": "time",  # of which only `sleep` is used
    "_async": "_sync",
    "aclose": "close",
    "gather_in_tasks": "gather_in_threads",
    "in_other_thread": "in_this_thread",
    "repeating_in_task": "repeating_in_thread",
    "RepeatingInTask": "RepeatingInThread",
    "asynccontextmanager": "contextmanager",
    "aclosing": "closing",
    "aiter": "iter",
    "anext": "next",
    "enter_async_context": "enter_context",
    "AbstractAsyncContextManager": "AbstractContextManager",
}
"""What changes besides `async`, `await` and names that begin with `Async`; `__aenter__` and its like unasync knows."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the twins, or check them; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a twin differs")
    parser.add_argument("--root", type=Path, default=REPOSITORY, help="the tree to work on")
    options = parser.parse_args(arguments)
    root: Path = options.root.absolute()
    twins = generate(root)
    changed = sorted(path for path in twins.keys() | present(root) if text(root / path) != twins.get(path))
    if options.check:
        return report(changed)
    for path in changed:
        write(root / path, twins.get(path))
        print(f"{'wrote' if path in twins else 'removed'} {path}")
    return 0


def generate(root: Path) -> dict[Path, str]:
    """The text of every twin, by its path below the root."""
    sources = [path for parent in PARENTS for path in sorted((root / parent / "_async").rglob("*.py"))]
    names = NAMES | async_names(path.read_text("utf-8") for path in sources)
    with TemporaryDirectory() as folder:
        output = Path(folder).resolve()
        rules = [
            unasync.Rule(f"{root / parent / '_async'}{os.sep}", f"{output / parent / '_sync'}{os.sep}", names)
            for parent in PARENTS
        ]
        unasync.unasync_files([str(path) for path in sources], rules)  # pyright: ignore[reportUnknownMemberType]
        for twin in output.rglob("*.py"):
            twin.write_text(heading(twin.relative_to(output)) + twin.read_text("utf-8"), "utf-8")
        polish(output)
        return {twin.relative_to(output): twin.read_text("utf-8") for twin in output.rglob("*.py")}


def async_names(sources: Iterable[str]) -> dict[str, str]:
    """`AsyncTable` to `Table`, for every name of the sources that begins like it."""
    return {name: name.removeprefix("Async") for source in sources for name in re.findall(r"\bAsync[A-Z]\w*", source)}


def heading(twin: Path) -> str:
    """The line that warns whoever opens a twin."""
    source = Path(*("_async" if part == "_sync" else part for part in twin.parts))
    return f"# Generated from {os.path.relpath(source, twin.parent)} by scripts/generate_sync.py; edit that file.\n"


def polish(folder: Path) -> None:
    """Sort the imports and format: shorter names fall into other places and leave room on their lines."""
    for command in (["check", "--fix", "--select", "I"], ["format"]):
        config = ["--config", str(REPOSITORY / "pyproject.toml"), "--no-cache", "--quiet"]
        subprocess.run([sys.executable, "-m", "ruff", *command, *config, str(folder)], cwd=REPOSITORY, check=True)


def present(root: Path) -> set[Path]:
    """The twins that are in the tree now."""
    return {path.relative_to(root) for parent in PARENTS for path in (root / parent / "_sync").rglob("*.py")}


def text(path: Path) -> str | None:
    """What a file holds, or None if there is none."""
    return path.read_text("utf-8") if path.exists() else None


def write(path: Path, content: str | None) -> None:
    """Give a twin its text; None removes it."""
    if content is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")


def report(changed: Sequence[Path]) -> int:
    """Name the twins that differ, with the remedy; the exit status."""
    for path in changed:
        print(f"{path} is not what its source gives", file=sys.stderr)
    if changed:
        print("run `make sync` and commit what it writes", file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
