"""The DynamoDBs of the contract suite, for the failures that users of such stores report."""

from tests.contract.conftest import backend, fake, loop, memory, moto, store

__all__ = ["backend", "fake", "loop", "memory", "moto", "store"]
