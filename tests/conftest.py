"""Servers that the whole test run shares (under pytest-xdist each worker has its own), and what is run on which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Sequence

import pytest
from hypothesis import HealthCheck, settings

from tests import servers

# No test is timed; else a busy machine fails it.
settings.register_profile("untimed", parent=settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

OTHERS = {"fake-async", "moto-sync", "moto-async", "dynalite-sync", "dynalite-async"}
"""The DynamoDBs that are not the sync fake, on which everything is run."""
ASKED_OF_OTHERS = 3
MEASURED = 6


@pytest.hookimpl(trylast=True)  # after -k and -m, which would otherwise leave nothing of a test
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Ask everything of the sync fake, and of each other DynamoDB every behaviour, but not every variation of it.

    A test with more than three sets of parameters is run on the others with three of them, unless it is about what
    the DynamoDBs themselves do (the mark `every_engine`).  What a test covers is measured in six of its
    variations on the sync fake: the rest runs the same lines, and takes three times as long under measurement."""
    runs = defaultdict[tuple[str, str | None], list[pytest.Item]](list)
    for item in items:
        runs[item.nodeid.partition("[")[0], _other(item)].append(item)
    spared = set[pytest.Item]()
    for (_, other), variations in runs.items():
        if other and variations[0].get_closest_marker("every_engine") is None:
            spared.update(set(variations).difference(_spread(variations, ASKED_OF_OTHERS)))
        for item in variations if other else set(variations).difference(_spread(variations, MEASURED)):
            item.add_marker(pytest.mark.no_cover)
    if spared:
        config.hook.pytest_deselected(items=list(spared))
        items[:] = [item for item in items if item not in spared]


def _other(item: pytest.Item) -> str | None:
    """The DynamoDB that a test is run on, unless that is the sync fake or none."""
    params = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    return next((param for param in params if isinstance(param, str) and param in OTHERS), None)


def _spread(variations: Sequence[pytest.Item], count: int) -> list[pytest.Item]:
    """The first, the last and some between, as far apart as may be."""
    last = len(variations) - 1
    return [variations[round(n * last / (count - 1))] for n in range(count)] if last >= count else list(variations)


@pytest.fixture(scope="session")
def moto_url() -> Generator[str]:
    with servers.moto() as url:
        yield url


@pytest.fixture(scope="session")
def dynalite_url() -> Generator[str]:
    # Entered by hand, so that only its start can skip or fail: an error of a test is none of the server's.
    server = servers.dynalite()
    try:
        url = server.__enter__()
    except servers.Unavailable as error:
        give_up = pytest.fail if servers.required_in_ci() else pytest.skip
        give_up(f"NOTHING IS TESTED AGAINST DYNALITE: {error}")
    try:
        yield url
    finally:
        server.__exit__(None, None, None)
