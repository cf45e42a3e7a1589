"""What is built is what a user needs, and works in a project that has a `schemas` folder of its own.

The wheel is built from the sdist, the way `python -m build` does, and installed into a fresh venv outside the
repository.  Its dependencies are not downloaded again: the distributions that the wheel's metadata asks for, and what
those ask for in turn, are linked from the running environment into the venv, and nothing else is.  So a dependency that
is imported but not declared is missing there, as it would be at a user's; and the editable install of the running
environment is out of reach, since its .pth file is not linked.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).resolve().parents[2]
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_", "COVERAGE_"))}


class Built(NamedTuple):
    sdist: Path
    wheel: Path


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=CLEAN, capture_output=True, text=True, check=False
    )


def succeed(*command: str | Path, cwd: Path) -> str:
    done = run(*command, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("dist")
    succeed(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, REPOSITORY, cwd=folder)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return Built(sdist, wheel)


def required(asking: Distribution, extras: Iterable[str] = ()) -> Iterator[Distribution]:
    """The distributions that one asks for on this machine, and theirs in turn."""
    for requirement in map(Requirement, asking.requires or []):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras}):
            found = distribution(requirement.name)
            yield found
            yield from required(found, requirement.extras)


def link(found: Distribution, site_packages: Path) -> None:
    """Make one installed distribution importable from another environment."""
    for top in {file.parts[0] for file in found.files or [] if file.parts[0] not in ("..", "__pycache__")}:
        if not (site_packages / top).exists():
            (site_packages / top).symlink_to(Path(str(found.locate_file(top))))


@pytest.fixture(scope="module")
def project(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's project: a venv with the wheel, and a folder `schemas` that is none of ours."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "schemas").mkdir()
    (folder / "schemas" / "__init__.py").write_text("DECOY = True\n")
    succeed(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    site_packages = Path(
        succeed(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    )
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    succeed(*pip, "install", "--no-deps", "--no-index", built.wheel, cwd=folder)
    (installed,) = Distribution.discover(name="singletable", path=[str(site_packages)])
    for found in required(installed):
        link(found, site_packages)
    succeed(*pip, "check", cwd=folder)
    return folder


def test_the_wheel_holds_one_package(built: Built):
    names = zipfile.ZipFile(built.wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"singletable"}
    assert {"singletable/py.typed", "singletable/schemas/__init__.py"} <= set(names)
    assert len(names) == len(set(names))


def test_the_sdist_holds_schemas_once(built: Built):
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"schemas/__init__.py", "LICENSE", "README.md", "pyproject.toml"} <= names
    assert not any(name.startswith("singletable/schemas") for name in names)


def test_the_wheel_has_every_module_of_the_tree(built: Built):
    sources = {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "singletable").rglob("*.py")}
    schemas = {
        f"singletable/{path.relative_to(REPOSITORY).as_posix()}" for path in (REPOSITORY / "schemas").rglob("*.py")
    }
    wheel = {name for name in zipfile.ZipFile(built.wheel).namelist() if name.endswith(".py")}
    assert wheel == sources | schemas


def test_schemas_is_ours_beside_a_folder_of_that_name(project: Path):
    lines = succeed(
        project / "venv" / "bin" / "python",
        "-c",
        "import schemas, singletable.schemas as ours; print(schemas.DECOY, ours.__file__, sep='\\n')",
        cwd=project,
    ).splitlines()
    assert lines[0] == "True"
    assert Path(lines[1]).is_relative_to(project / "venv")


def test_schemas_is_no_module_of_its_own():
    done = run(sys.executable, "-c", "import schemas", cwd=REPOSITORY)
    assert done.returncode != 0
    assert "ImportError: import singletable.schemas" in done.stderr
