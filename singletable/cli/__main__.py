"""`python -m singletable.cli` is the command `singletable`."""

from . import main

main()
