"""Writes `infra/`: what makes the table of a store, and the policies of its applications, each in the form of a tool;
`--check` compares only."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from singletable.provision import FEATURES, TableDefinition, cdk, cloudformation, policy, setup_requests, terraform
from singletable.store.entities import ENTITIES

INFRA = Path(__file__).parents[1] / "infra"
ARN = "arn:aws:dynamodb:*:*:table/agents"
"""Of any region and account: a policy reaches no other account by itself."""


def derived() -> dict[Path, str]:
    """The content of each file."""
    definition = TableDefinition.of("agents", ENTITIES)
    policies = {f"iam/{name}.json": as_json(policy(name, ARN, bucket="agents-payloads")) for name in FEATURES}
    files = {
        "create-table.json": as_json(setup_requests(definition)["CreateTable"]),
        "template.yaml": cloudformation(definition),
        "cdk/app.py": cdk(definition),
        "terraform/main.tf": terraform(definition),
        **policies,
    }
    return {INFRA / name: text for name, text in files.items()}


def as_json(value: object) -> str:
    """JSON as a file of its own."""
    return json.dumps(value, indent=2) + "\n"


def main() -> int:
    """Write what differs, or say that it does."""
    outdated = {path: text for path, text in derived().items() if not path.exists() or path.read_text("utf-8") != text}
    for path, text in outdated.items():
        name = path.relative_to(INFRA.parent)
        if "--check" in sys.argv:
            print(f"{name} is not what the entities need: run `make infra`", file=sys.stderr)
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
            print(f"wrote {name}")
    return 1 if outdated and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
