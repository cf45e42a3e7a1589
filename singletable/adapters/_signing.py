"""Signature version 4 for the plain requests of DynamoDB's API, in one pass; botocore's takes a sixth of a read."""

from __future__ import annotations

import hmac
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from botocore import UNSIGNED

_OURS: Final = "singletable.signing"
_VERSION: Final = "v4"
_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}


class Signer:
    """Signs for one client, with the credentials, the region and the service that botocore would sign with."""

    def __init__(self) -> None:
        self._kept: tuple[tuple[str, ...], bytes] = ((), b"")
        """A scope and its key, in one attribute because threads share it."""

    def register(self, client: Any) -> None:
        """Sign the requests of a client from now on."""
        client.meta.events.register("choose-signer.dynamodb", self.choose)
        # Last, because what the other handlers change is signed too.
        client.meta.events.register_last("before-sign", self.sign)

    def choose(self, *, signature_version: object, context: dict[str, Any], **_: Any) -> Any:
        """That botocore need not sign, where it would do so as we do."""
        if signature_version != _VERSION:
            return None
        context[_OURS] = True
        return UNSIGNED

    def sign(self, *, request: Any, signing_name: str, region_name: str, request_signer: Any, **_: Any) -> None:
        """Add a signature, unless botocore is about to add one."""
        if not request.context.pop(_OURS, False):
            return
        given: dict[str, Any] = request.context.get("signing", {})
        service, region = given.get("signing_name") or signing_name, given.get("region") or region_name
        auth = request_signer.get_auth_instance(service, region, _VERSION, given.get("request_credentials"))
        url = urlsplit(str(request.url))
        if auth.credentials is None or url.path not in {"", "/"} or url.query or not isinstance(request.data, bytes):
            auth.add_auth(request)
            return
        self._add_signature(
            request, url, auth.credentials, (region, service), datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        )

    def _add_signature(
        self, request: Any, url: SplitResult, credentials: Any, place: tuple[str, str], time: str
    ) -> None:
        """Add the headers that make up a signature."""
        _set(request.headers, "X-Amz-Date", time)
        if credentials.token:
            _set(request.headers, "X-Amz-Security-Token", credentials.token)
        lines = _canonical(request.headers, url)
        names = ";".join(sorted(lines))
        headers = "".join(f"{name}:{lines[name]}\n" for name in sorted(lines))
        canonical = f"{request.method}\n/\n\n{headers}\n{names}\n{sha256(request.data).hexdigest()}"
        scope = "/".join((time[:8], *place, "aws4_request"))
        text = f"{_ALGORITHM}\n{time}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"
        signature = hmac.digest(self._key_for(credentials.secret_key, time[:8], *place), text.encode(), sha256).hex()
        who = f"{_ALGORITHM} Credential={credentials.access_key}/{scope}"
        _set(request.headers, "Authorization", f"{who}, SignedHeaders={names}, Signature={signature}")

    def _key_for(self, *scope: str) -> bytes:
        """The key of a secret, a day, a region and a service; it changes once a day, or with the credentials."""
        kept, key = self._kept
        if scope != kept:
            secret, *parts = scope
            key = f"AWS4{secret}".encode()
            for part in (*parts, "aws4_request"):
                key = hmac.digest(key, part.encode(), sha256)
            self._kept = (scope, key)
        return key


def _canonical(headers: Any, url: SplitResult) -> dict[str, str]:
    """The headers that must be signed, by their lower-case names; values without superfluous spaces."""
    lines = {"host": url.netloc.rpartition("@")[2].lower().removesuffix(_DEFAULT_PORTS.get(url.scheme, ""))}
    for name, value in headers.items():
        lower = name.lower()
        if lower.startswith("x-amz-") or lower in {"content-type", "host"}:
            lines[lower] = " ".join(value.split())
    return lines


def _set(headers: Any, name: str, value: str) -> None:
    del headers[name]  # assignment alone would add a second one
    headers[name] = value
