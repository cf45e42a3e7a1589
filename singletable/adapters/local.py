"""A DynamoDB for tests and demos, in this process: moto's server on the loopback interface."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib import import_module
from types import TracebackType
from typing import Any, cast

import boto3

from ..errors import ConfigurationError
from .pynamo import Credentials

REGION = "us-east-1"
CREDENTIALS = Credentials("local", "local")
"""What a transport to the server is given, so that it looks for neither in the environment."""


class LocalServer:
    """moto's server, running; `endpoint_url` is what a transport needs, with any credentials at all.

    It listens on 127.0.0.1 only, and keeps tables in memory until it stops.  moto has one memory per process: two
    servers at once show the same tables.
    """

    def __init__(self) -> None:
        self._server: Any = _moto_server()("127.0.0.1", 0, verbose=False)
        # A filter of each server's own, so that one that stops does not make the others loud.
        self._quiet = _Quiet()
        logging.getLogger("werkzeug").addFilter(self._quiet)
        self._server.start()
        self._stopped = False
        self.endpoint_url = "http://{}:{}".format(*self._server.get_host_and_port())
        self._tables: list[str] = []

    def create_table(self, params: Mapping[str, Any]) -> None:
        """Create a table that goes when the server stops."""
        self._client().create_table(**params)
        self._tables.append(params["TableName"])

    def stop(self) -> None:
        """Stop listening; a second call does nothing."""
        if self._stopped:
            return
        self._stopped = True
        try:
            for table in self._tables:
                self._client().delete_table(TableName=table)
        finally:
            self._server.stop()
            logging.getLogger("werkzeug").removeFilter(self._quiet)

    def _client(self) -> Any:
        keys = {"aws_access_key_id": CREDENTIALS.access_key_id, "aws_secret_access_key": CREDENTIALS.secret_access_key}
        return cast("Any", boto3).client("dynamodb", endpoint_url=self.endpoint_url, region_name=REGION, **keys)

    def __enter__(self) -> LocalServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def _moto_server() -> Any:
    try:
        # moto only warns where these two are missing, and breaks later.
        for needed in ("flask", "flask_cors"):
            import_module(needed)
        # Here, because moto is an extra, and takes long to import.
        from moto.server import ThreadedMotoServer
    except ImportError as error:
        raise ConfigurationError("LocalServer needs moto and flask: pip install 'singletable[local]'") from error
    return ThreadedMotoServer


class _Quiet(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        """False for werkzeug's line per request."""
        return record.levelno >= logging.WARNING
