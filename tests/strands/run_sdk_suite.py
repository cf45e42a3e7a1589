"""Runs a suite of the SDK's own tests with our storage in the place of the SDK's.

Called with the folder of the SDK's source, the name of a suite, and arguments for pytest.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

SUITES = {
    "storage": "storage/test_in_memory_storage.py",
    "session": "session/test_snapshot_session_manager.py",
    "memory": "vended_memory_stores/file_memory_store/test_store.py",
}


def main(source: Path, suite: str, *arguments: str) -> int:
    """pytest's exit status."""
    sys.path[:0] = [str(source), str(Path(__file__).parent)]
    ours: Any = importlib.import_module("our_storage").OurStorage
    public: Any = importlib.import_module("strands.storage")
    if suite == "session":
        public.LocalFileStorage = in_folders(ours)
    else:
        public.InMemoryStorage = importlib.import_module("strands.storage.in_memory_storage").InMemoryStorage = ours
    config = ["--rootdir", str(source), "-c", str(source / "pyproject.toml"), "-p", "no:cacheprovider"]
    return pytest.main(["-q", *config, str(source / "tests" / "strands" / SUITES[suite]), *arguments])


def in_folders(ours: Any) -> type:
    """A storage that takes a folder, as the SDK's for files does: one folder has one set of values."""

    class LocalFileStorage(ours):
        def __init__(self, base_dir: str = ".") -> None:
            super().__init__(partition=str(base_dir))

    return LocalFileStorage


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
