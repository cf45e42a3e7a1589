"""docs/COSTS.md: its figures are compared by `make check-costs`; here is what that comparison rests on."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.costs_mastra import Mastra
from scripts.costs_meter import TABLE, Bill
from scripts.generate_costs import (
    MESSAGE_BYTES,
    PAGE,
    RUN_BYTES,
    SECTION,
    THREAD_BYTES,
    HigherError,
    Ours,
    Row,
    of_messages,
    rows,
    settle,
)
from singletable.codec import item_size_bytes

SIZES_KB = (1, 8)


def text_of(size_kb: int, beside: int) -> str:
    return "x" * (size_kb * 1024 - beside)


def test_the_page_has_tables_to_compare() -> None:
    page = PAGE.read_text("utf-8")
    assert [int(size) for _, size in SECTION.findall(page)] == [*SIZES_KB]
    assert page.count("\n| a turn of two messages") == 2 * len(SIZES_KB)


@pytest.mark.parametrize("size_kb", SIZES_KB)
@pytest.mark.parametrize(
    ("fill", "beside"),
    [
        (lambda store, text: store.fill_thread(1, text), MESSAGE_BYTES),
        (lambda store, text: store.fill_threads(1, text), THREAD_BYTES),
        (lambda store, text: store.persist_run(text), RUN_BYTES),
    ],
    ids=["message", "thread", "run"],
)
def test_an_item_is_of_the_size_in_the_heading(fill, beside, size_kb) -> None:
    stores = [Ours(), Mastra()]
    for store in stores:
        fill(store, text_of(size_kb, beside))
    largest = [max(item_size_bytes(item) for item in store.meter.database.items(TABLE)) for store in stores]
    assert size_kb * 1024 - 120 < max(largest) <= size_kb * 1024


@pytest.mark.parametrize("size_kb", SIZES_KB)
def test_a_run_is_of_the_size_in_the_heading_after_its_step_too(size_kb) -> None:
    ours, text = Ours(), text_of(size_kb, RUN_BYTES)
    ours.persist_run(text)
    ours.update_results()
    (run,) = ours.meter.database.items(TABLE)
    assert item_size_bytes(run) <= size_kb * 1024


@pytest.mark.parametrize("size_kb", SIZES_KB)
def test_theirs_takes_what_was_worked_out_by_hand(size_kb) -> None:
    theirs, text = Mastra(), text_of(size_kb, MESSAGE_BYTES)
    theirs.fill_thread(8, text)
    # Two messages and their copies in the index; the thread and its copy.
    assert theirs.meter.bill(lambda: theirs.save_messages([8, 9], text)) == Bill(3, 0, 4 * size_kb + 2)
    # Eventually consistent: half a unit for each 4 KB.
    kilobytes = sum(item_size_bytes(item) for item in theirs.list_messages()) / 1024
    listed = theirs.meter.bill(theirs.list_messages)
    assert (listed.requests, listed.write_units) == (1, 0)
    assert kilobytes / 8 <= listed.read_units < kilobytes / 8 + 0.5
    assert theirs.meter.bill(theirs.delete_thread) == Bill(12, listed.read_units, 20 * size_kb + 2)
    assert theirs.meter.database.items(TABLE) == []


@pytest.mark.parametrize("size_kb", SIZES_KB)
def test_theirs_reads_a_short_thread_for_less_as_the_page_says(size_kb) -> None:
    text = text_of(size_kb, MESSAGE_BYTES)
    with pytest.raises(HigherError, match="context"):
        next(of_messages(70, text))
    assert "context" in next(of_messages(95, text)).call


def test_a_read_of_more_requests_is_refused_where_theirs_gives_all() -> None:
    two, one = Bill(2, 1, 0), Bill(1, 1, 0)
    with pytest.raises(HigherError, match="a call"):
        Row("a call", two, one, "", is_read=True)
    assert Row("a call", two, one, "", is_read=True, is_whole=False).ours == two


def test_a_table_says_how_many_write_units_atomicity_takes() -> None:
    lines = [str(row) for row in rows(1, messages=1_100, threads=120, deleted=3)]
    (atomic,) = [line for line in lines if line.startswith("| a turn of two messages: `save_messages` |")]
    assert atomic.endswith("10 write units more |")


def test_a_page_that_differs_is_named_with_the_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "COSTS.md"
    page.write_text("old")
    assert settle(page, "new", check=True) == 1
    assert capsys.readouterr().err == "docs/COSTS.md is not what the calls cost: run `make costs`\n"
    assert page.read_text() == "old"
    assert settle(page, "new", check=False) == 0
    assert (page.read_text(), settle(page, "new", check=True)) == ("new", 0)
