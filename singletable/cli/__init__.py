"""The command `singletable`: a demo of the store, and the keys of its table."""

from __future__ import annotations

import sys
from typing import NoReturn

from singletable.errors import SingleTableError


def main() -> None:
    """Run the command line; every error of the library is one line on stderr."""
    try:
        # Here, because typer and rich are an extra.
        from .app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"typer", "rich"}:
            raise
        _stop("singletable needs its extra: pip install 'singletable[cli]'", 2)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except SingleTableError as error:
        # A missing extra is no failure of the command, but of the installation.
        _stop(f"singletable: {error}", 2 if isinstance(error.__cause__, ImportError) else 1)


def _stop(message: str, status: int) -> NoReturn:
    sys.stderr.write(" ".join(message.split()) + "\n")
    sys.exit(status)
