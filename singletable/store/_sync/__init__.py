# Generated from ../_async/__init__.py by scripts/generate_sync.py; edit that file.
"""The facade, written once; `singletable.store._sync` is generated from here by `make sync`."""
