"""The table and what it hands out, written once; `singletable._sync` is generated from here by `make sync`."""
