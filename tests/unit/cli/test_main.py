"""The command line ends with one line and a status, whatever goes wrong."""

from __future__ import annotations

import subprocess
import sys

import pytest

from singletable import cli
from singletable.errors import ConfigurationError, NotFoundError


def run(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    def fail() -> None:
        raise error

    monkeypatch.setattr("singletable.cli.app.app", fail)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


def test_an_error_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, NotFoundError("there is no\nthread")) == 1
    assert capsys.readouterr() == ("", "singletable: there is no thread\n")


def test_a_missing_local_extra_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("moto", "moto.server"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(sys, "argv", ["singletable", "demo", "examples/transcripts/trip_to_oslo.jsonl"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_import_error_elsewhere_is_a_fault_of_the_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ConfigurationError("pip install 'singletable[local]'")
    error.__cause__ = ImportError("moto")
    assert run(monkeypatch, error) == 2


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_a_missing_cli_extra_is_named(missing: str) -> None:
    program = f"import sys; sys.modules[{missing!r}] = None; from singletable.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "singletable needs its extra: pip install 'singletable[cli]'\n"


def test_a_missing_module_of_our_own_is_no_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "singletable.cli.app", raising=False)
    monkeypatch.setitem(sys.modules, "singletable.cli.app", None)
    with pytest.raises(ModuleNotFoundError):
        cli.main()


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, KeyboardInterrupt()) == 130
    assert capsys.readouterr() == ("", "")
