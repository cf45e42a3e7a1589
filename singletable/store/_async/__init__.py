"""The facade, written once; `singletable.store._sync` is generated from here by `make sync`."""
