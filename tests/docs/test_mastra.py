"""docs/MASTRA.md: no case of Mastra's storage suite is forgotten, and the verbs that it names are there."""

from __future__ import annotations

import ast
import json
import re
from inspect import getmembers, isroutine
from itertools import chain
from pathlib import Path

import pytest

from singletable import DynamoDBStore
from singletable.store._sync.memory import Memory
from singletable.store._sync.observability import Observability
from singletable.store._sync.scores import Scores
from singletable.store._sync.workflows import Workflows
from singletable.store.mastra_rows import TABLES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "MASTRA.md").read_text("utf-8")
GROUPS: dict[str, dict[str, str]] = json.loads((ROOT / "tests" / "data" / "mastra_cases.json").read_text("utf-8"))
CASES = {case: text for group in GROUPS.values() for case, text in group.items()}
FAMILIES = {case[:-2].lower() for case in CASES}
DOMAINS: dict[str, type] = {
    "store": DynamoDBStore,
    "store.memory": Memory,
    "store.workflows": Workflows,
    "store.scores": Scores,
    "store.observability": Observability,
}
every_domain = pytest.mark.parametrize("domain", DOMAINS)


def cases_of(test: str) -> list[str]:
    """The cases that the name of a test begins with: of test_o01_o03_to_o05_and_what_it_does these are four."""
    found: list[str] = []
    is_range = False
    for word in test.removeprefix("test_").split("_"):
        if re.fullmatch(r"[a-z]{1,2}\d\d", word) and word[:-2] in FAMILIES:
            family, number = word[:-2].upper(), int(word[-2:])
            first = int(found[-1][-2:]) + 1 if is_range else number
            found += [f"{family}{one:02}" for one in range(first, number + 1)]
        elif word not in ("and", "to"):
            break
        is_range = word == "to" and bool(found)
    return found


def contract_tests() -> list[str]:
    """The names of all contract tests."""
    modules = (ast.parse(file.read_text("utf-8")) for file in sorted((ROOT / "tests/contract").glob("test_*.py")))
    nodes = chain.from_iterable(map(ast.walk, modules))
    return [node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def section(heading: str) -> str:
    """What is under a heading, up to the next one of its level or above."""
    level = heading.partition(" ")[0]
    (found,) = re.findall(rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return found


def cells(text: str) -> list[list[str]]:
    """The cells of a table, row by row, without its head."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


TESTED = set(chain.from_iterable(map(cases_of, contract_tests())))
DIFFERING = set(
    chain.from_iterable(row[0].split(", ") for row in cells(section("## Differs on purpose")) if row[0] != "–")
)


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("test_o01_a_span_of_t05", ["O01"]),
        ("test_t02_t21_a_title", ["T02", "T21"]),
        ("test_tf01_to_tf03_ts14_to_ts15_threads", ["TF01", "TF02", "TF03", "TS14", "TS15"]),
        ("test_o39_to_o41_and_o53_a_text", ["O39", "O40", "O41", "O53"]),
        ("test_o99_what_no_suite_has", ["O99"]),
        ("test_p93_a_pain", []),
        ("test_to_and_from", []),
        ("test_a_span_of_o01", []),
    ],
)
def test_a_name_says_its_cases(name: str, cases: list[str]) -> None:
    assert cases_of(name) == cases


def test_every_case_is_tested_or_differs_on_purpose() -> None:
    assert len(CASES) == sum(map(len, GROUPS.values())) == 260
    assert CASES.keys() - TESTED - DIFFERING == set()


def test_no_case_is_made_up() -> None:
    assert TESTED - CASES.keys() == set()
    assert DIFFERING - CASES.keys() == set()


def test_every_difference_says_what_is_done_and_why() -> None:
    rows = cells(section("## Differs on purpose"))
    assert all(len(row) == 3 and all(row) for row in rows)


def verbs(domain: str) -> set[str]:
    """The verbs of a domain: all its methods that are public."""
    return {name for name, _ in getmembers(DOMAINS[domain], isroutine) if not name.startswith("_")} - {"clock", "local"}


@every_domain
def test_the_verbs_of_the_page_are_those_of_the_store(domain: str) -> None:
    named = {verb for row in cells(section(f"### {domain}")) for verb in re.findall(r"`(\w+)`", row[1])}
    assert named == verbs(domain)


@every_domain
def test_every_verb_of_mastra_has_an_answer(domain: str) -> None:
    rows = cells(section(f"### {domain}"))
    assert all(len(row) == 3 for row in rows)
    assert all("`" in row[1] or (row[1] in ("not offered", "not a call") and row[2]) for row in rows)


def test_the_tables_of_the_page_are_those_of_the_import() -> None:
    assert set(re.findall(r"mastra_[a-z_]+", section("## Moving data"))) == TABLES.keys()


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", PAGE)
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
