"""What the commands share to write to a terminal, or to whatever stands in for it."""

from __future__ import annotations

import io
import sys
import unicodedata

from rich import box
from rich.console import Console
from rich.text import Text

SIMPLE = box.SIMPLE_HEAD


def output() -> Console:
    """A console on stdout that replaces what its encoding lacks, and colours nothing by guessing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Console(highlight=False)


def plain(text: str, *, style: str = "") -> Text:
    """Text of a user on one line: no markup, no control characters that a terminal would obey."""
    printable = "".join(" " if unicodedata.category(char) == "Cc" else char for char in text)
    return Text(" ".join(printable.split()), style=style)
