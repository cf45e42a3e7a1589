"""What an import loads: counted in modules, because milliseconds are the machine's."""

from __future__ import annotations

import ast
import inspect
import pickle
import subprocess
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

PACKAGES = ["singletable", "singletable.store", "singletable.testing"]
DRIVERS = {"boto3", "botocore", "pynamodb"}
EXTRAS = {"flask", "moto", "pytest", "rich", "typer"}


def loaded(statement: str) -> set[str]:
    """The modules that a new process has after a statement, beside those that it begins with."""
    script = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.split())


def test_an_import_of_the_package_loads_no_driver() -> None:
    assert not loaded("import singletable") & (DRIVERS | EXTRAS)


def test_a_mapper_without_a_transport_loads_no_driver_and_no_facade() -> None:
    modules = loaded("from singletable import Entity, Index, Pk, PrimaryKey, Query, Table, Transaction")
    assert not modules & (DRIVERS | EXTRAS | {"singletable.store", "singletable._async.table"})


def test_a_store_loads_no_extra() -> None:
    assert not loaded("from singletable import DynamoDBStore") & EXTRAS


@pytest.fixture(params=PACKAGES)
def package(request: pytest.FixtureRequest) -> ModuleType:
    return import_module(request.param)


def test_every_public_name_is_there_and_is_no_module(package: ModuleType) -> None:
    for name in package.__all__:
        assert not isinstance(getattr(package, name), ModuleType), name
    assert set(package.__all__) <= set(dir(package))


def test_checkers_and_interpreter_import_a_name_from_the_same_module(package: ModuleType) -> None:
    tree = ast.parse(inspect.getsource(package))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    for_checkers = {
        alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert for_checkers == package._HOMES


def test_a_star_import_gives_every_public_name(package: ModuleType) -> None:
    names: dict[str, Any] = {}
    exec(f"from {package.__name__} import *", names)
    assert {name: names[name] for name in package.__all__} == {name: getattr(package, name) for name in package.__all__}


def test_a_name_that_is_not_there_is_an_attribute_error(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Tabel'"):
        package.Tabel  # noqa: B018 - to look it up is the test


def test_public_classes_can_be_pickled(package: ModuleType) -> None:
    for name in package.__all__:
        value = getattr(package, name)
        if isinstance(value, type):
            assert pickle.loads(pickle.dumps(value)) is value
