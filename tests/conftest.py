"""Servers that the whole test run shares; under pytest-xdist each worker has its own."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests import servers


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
