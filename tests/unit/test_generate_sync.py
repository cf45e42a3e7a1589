"""The sync twins are what the script makes of their sources."""

import textwrap
from pathlib import Path

import pytest

from scripts.generate_sync import main

TABLE = '''
    """A table."""

    from __future__ import annotations

    import asyncio
    from collections.abc import AsyncIterator
    from types import TracebackType

    from ..transport import AsyncTransport
    from .query import AsyncQuery

    __all__ = ["AsyncTable"]


    class AsyncTable:
        """One table."""

        def __init__(self, transport: AsyncTransport) -> None:
            self.transport = transport

        async def __aenter__(self) -> AsyncTable:
            return self

        async def __aexit__(self, *error: object) -> None:
            await self.transport.aclose()

        async def items(self, query: AsyncQuery) -> AsyncIterator[str]:
            async for item in query:
                await asyncio.sleep(0.1)
                yield item
'''
TABLE_TWIN = '''
    # Generated from ../_async/table.py by scripts/generate_sync.py; edit that file.
    """A table."""

    from __future__ import annotations

    import time
    from collections.abc import Iterator
    from types import TracebackType

    from ..transport import Transport
    from .query import Query

    __all__ = ["Table"]


    class Table:
        """One table."""

        def __init__(self, transport: Transport) -> None:
            self.transport = transport

        def __enter__(self) -> Table:
            return self

        def __exit__(self, *error: object) -> None:
            self.transport.close()

        def items(self, query: Query) -> Iterator[str]:
            for item in query:
                time.sleep(0.1)
                yield item
'''
MEMORY = '''
    """Threads and messages."""

    from ..._async.table import AsyncTable


    async def open_threads(first_table: AsyncTable, second_table: AsyncTable, *, limit_of_threads: int) -> list[str]:
        return [thread async for table in (first_table, second_table) async for thread in table.items(limit_of_threads)]
'''
MEMORY_TWIN = '''
    # Generated from ../../_async/deep/memory.py by scripts/generate_sync.py; edit that file.
    """Threads and messages."""

    from ..._sync.table import Table


    def open_threads(first_table: Table, second_table: Table, *, limit_of_threads: int) -> list[str]:
        return [thread for table in (first_table, second_table) for thread in table.items(limit_of_threads)]
'''


def dedent(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for path, text in {"singletable/_async/table.py": TABLE, "singletable/store/_async/deep/memory.py": MEMORY}.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(dedent(text))
    return tmp_path


def run(tree: Path, *options: str) -> int:
    return main([*options, "--root", str(tree)])


def test_a_twin_is_its_source_without_async(tree: Path):
    assert run(tree) == 0
    assert (tree / "singletable/_sync/table.py").read_text() == dedent(TABLE_TWIN)
    assert (tree / "singletable/store/_sync/deep/memory.py").read_text() == dedent(MEMORY_TWIN)
    assert run(tree, "--check") == 0


def test_check_names_what_differs_and_writes_nothing(tree: Path, capsys: pytest.CaptureFixture[str]):
    run(tree)
    source, twin = tree / "singletable/_async/table.py", tree / "singletable/_sync/table.py"
    source.write_text(source.read_text().replace("0.1", "0.2"))
    assert run(tree, "--check") == 1
    message = capsys.readouterr().err
    assert "singletable/_sync/table.py" in message
    assert "memory.py" not in message
    assert "make sync" in message
    assert "0.1" in twin.read_text()


def test_check_notices_an_edited_twin_and_a_missing_one(tree: Path):
    run(tree)
    twin = tree / "singletable/_sync/table.py"
    twin.write_text(twin.read_text() + "\nEDITED = True\n")
    assert run(tree, "--check") == 1
    twin.unlink()
    assert run(tree, "--check") == 1


def test_a_twin_goes_when_its_source_is_gone(tree: Path):
    run(tree)
    (tree / "singletable/_async/table.py").unlink()
    assert run(tree, "--check") == 1
    assert run(tree) == 0
    assert not (tree / "singletable/_sync/table.py").exists()
    assert run(tree, "--check") == 0
