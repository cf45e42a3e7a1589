# Generated from ../_async/__init__.py by scripts/generate_sync.py; edit that file.
"""The table and what it hands out, written once; `singletable._sync` is generated from here by `make sync`."""
