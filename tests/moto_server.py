"""moto's server, one request at a time: with several it checks a condition on what another request is changing."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple


def one_at_a_time(app: Callable[..., Any]) -> Callable[..., Any]:
    """The application under a lock."""
    lock = threading.Lock()

    def locked(environ: Any, start_response: Any) -> Any:
        with lock:
            return app(environ, start_response)

    return locked


if __name__ == "__main__":
    port = sys.argv[1]
    os.environ["MOTO_PORT"] = port
    app = one_at_a_time(DomainDispatcherApplication(create_backend_app))
    run_simple("127.0.0.1", int(port), app, threaded=True, request_handler=MotoRequestHandler)
