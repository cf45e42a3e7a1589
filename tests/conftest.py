"""Servers that the whole test run shares; under pytest-xdist each worker has its own."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests import servers

MEASURED_ON_ANOTHER = {"fake-async", "moto-sync", "moto-async", "dynalite-sync", "dynalite-async"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Measure what a suite covers on the sync fake alone: the others run the same lines.

    Under measurement they take three times as long."""
    for item in items:
        params = (
            item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
        )
        if any(isinstance(param, str) and param in MEASURED_ON_ANOTHER for param in params):
            item.add_marker(pytest.mark.no_cover)


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
