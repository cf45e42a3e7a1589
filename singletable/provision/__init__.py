"""From entities to the table that they need: its definition as a value, what makes such a table, and what is wrong with
one that is there.  Pure."""

from .cdk import cdk
from .cloudformation import cloudformation
from .createtable import create_table_params, setup_requests
from .definition import Capacity, IndexDefinition, StreamView, TableDefinition
from .policies import FEATURES, policy
from .terraform import terraform

__all__ = [
    "FEATURES",
    "Capacity",
    "IndexDefinition",
    "StreamView",
    "TableDefinition",
    "cdk",
    "cloudformation",
    "create_table_params",
    "policy",
    "setup_requests",
    "terraform",
]
