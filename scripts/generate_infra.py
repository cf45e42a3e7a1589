"""Writes what in `infra/` is derived from the entities of a store: `create-table.json`, and the key and indexes of the
table in `template.yaml`; `--check` compares only."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from singletable.provision import create_table_params
from singletable.store.entities import ENTITIES

INFRA = Path(__file__).parents[1] / "infra"
DERIVED = re.compile(r"^      AttributeDefinitions:\n.*?(?=^      TimeToLiveSpecification:)", re.MULTILINE | re.DOTALL)
FROM_ENTITIES = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")


def as_yaml(value: Mapping[str, Any] | list[Any], indent: str) -> Iterator[str]:
    """The lines of mappings, lists and plain texts, in the style of the template."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            plain = isinstance(inner, str)
            yield f"{indent}{name}: {inner}" if plain else f"{indent}{name}:"
            yield from [] if plain else as_yaml(inner, f"{indent}  ")
    else:
        for inner in value:
            lines = [f"{indent}  {inner}"] if isinstance(inner, str) else [*as_yaml(inner, f"{indent}  ")]
            yield f"{indent}- {lines[0].strip()}"
            yield from lines[1:]


def derived() -> dict[Path, str]:
    """The content of each file."""
    params: dict[str, Any] = create_table_params("agents", [entity.spec for entity in ENTITIES])
    lines = as_yaml({name: params[name] for name in FROM_ENTITIES}, "      ")
    template, made = INFRA / "template.yaml", "".join(f"{line}\n" for line in lines)
    return {
        INFRA / "create-table.json": json.dumps(params, indent=2) + "\n",
        template: DERIVED.sub(lambda _: made, template.read_text("utf-8")),
    }


def main() -> int:
    """Write what differs, or say that it does."""
    outdated = {path: text for path, text in derived().items() if not path.exists() or path.read_text("utf-8") != text}
    for path, text in outdated.items():
        if "--check" in sys.argv:
            print(f"infra/{path.name} is not what the entities need: run `make infra`", file=sys.stderr)
        else:
            path.write_text(text, "utf-8")
            print(f"wrote infra/{path.name}")
    return 1 if outdated and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
