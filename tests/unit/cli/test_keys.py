"""`singletable keys` shows what the entities compile to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from singletable.cli.app import app
from singletable.store.entities import ENTITIES


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, ["keys", "--json"])
    assert result.exit_code == 0
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def test_json_holds_the_key_of_every_index_and_lookup(rows: list[dict[str, Any]]) -> None:
    expected = [
        (model.spec.name, str(index.pk), str(index.sk), index.pk.attribute, index.sk.attribute)
        for model in ENTITIES
        for index in (*model.spec.indexes.values(), *model.spec.lookups.values())
    ]
    assert expected == [
        (row["entity"], row["pk"]["template"], row["sk"]["template"], row["pk"]["attribute"], row["sk"]["attribute"])
        for row in rows
    ]


def test_json_of_messages(rows: list[dict[str, Any]]) -> None:
    assert [row for row in rows if row["entity"] == "message"] == [
        {
            "entity": "message",
            "index": "table",
            "classes": ["Key", "InThread"],
            "pk": {"attribute": "pk", "template": "conversation#{thread_id}"},
            "sk": {"attribute": "sk", "template": "message#{created_at}#{order}"},
            "collection": "conversation",
        },
        {
            "entity": "message",
            "index": "pointer",
            "classes": ["ById"],
            "pk": {"attribute": "pk", "template": "message_by_id#{id}"},
            "sk": {"attribute": "sk", "template": "message_by_id#"},
            "collection": None,
        },
    ]


def test_json_of_an_index(rows: list[dict[str, Any]]) -> None:
    (row,) = [row for row in rows if (row["entity"], row["index"]) == ("thread", "gsi1")]
    assert row["classes"] == ["ByResource"]
    assert row["sk"] == {"attribute": "gsi1sk", "template": "thread#{created_at}"}


@pytest.mark.parametrize("columns", ["80", "200"])
def test_the_table_holds_every_template_whole(columns: str, rows: list[dict[str, Any]]) -> None:
    shown = CliRunner().invoke(app, ["keys"], env={"COLUMNS": columns}).stdout
    assert max(map(len, shown.splitlines())) <= int(columns)
    for row in rows:
        for half in (row["pk"], row["sk"]):
            assert half["attribute"] in shown
            assert half["template"] in shown
