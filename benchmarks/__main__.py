"""`python -m benchmarks [--rounds N] [--only NAME ...]`: measures, and prints a table in Markdown."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from statistics import median
from typing import Final

from .candidates import BASE, Candidate, installed
from .measure import OPERATIONS, Seconds, measured, ratio

OURS: Final = "singletable"
TARGETS: Final[Mapping[str, float]] = {
    "get": 0.85,
    "query 100": 0.14,
    "put": 0.90,
    "batch write 25": 0.65,
    "batch get 100": 0.14,
    "transact 10": 0.75,
}
"""What the default transport may cost, in proportion to tuned botocore."""


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="each round measures everything once (default: 30)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help=f"candidates beside {BASE} and {OURS}")
    settings = parser.parse_args()
    kinds = _chosen(settings.only)
    seconds = measured(kinds, settings.rounds, _say)
    print(f"{_machine()}; {settings.rounds} rounds\n")
    print(table(seconds))


def _chosen(only: list[str] | None) -> dict[str, type[Candidate]]:
    kinds: dict[str, type[Candidate]] = {}
    for name, kind in installed():
        if only is not None and name not in {BASE, OURS, *only}:
            continue
        if kind is None:
            _say(f"left out, because it is not installed: {name} (pip install -r benchmarks/requirements.txt)")
        else:
            kinds[name] = kind
    return kinds


def table(seconds: Seconds) -> str:
    """CPU time per operation: milliseconds for the base, ratios to it for the others, and the targets."""
    base = [f"{1000 * median(times):.2f} ms" for times in seconds[BASE].values()]
    rows = [["CPU, ratio to tuned botocore", *OPERATIONS], ["---"] * (len(OPERATIONS) + 1), [BASE, *base]]
    for name in seconds:
        if name != BASE:
            rows.append([name, *(f"{ratio(seconds, name, operation):.2f}" for operation in OPERATIONS)])
    rows.append(["target of the default transport", *(f"≤ {TARGETS[operation]:.2f}" for operation in OPERATIONS)])
    return "\n".join(_row(cells) for cells in rows)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _machine() -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("botocore", "pynamodb", "pydantic"))
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {libraries}"


def _say(progress: str) -> None:
    """Progress, apart from the result."""
    print(progress, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
