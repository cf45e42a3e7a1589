"""A bucket of S3 for what no item holds, over boto3."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final, cast

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from ..errors import (
    AccessDeniedError,
    ConfigurationError,
    PayloadMissingError,
    StorageError,
    ThrottledError,
    UnreachableError,
)

DELETED_AT_ONCE: Final = 1000
"""Objects of one request."""
_CONFIG: Final[Any] = Config(retries={"mode": "standard", "total_max_attempts": 4}, connect_timeout=3, read_timeout=30)
_BY_CODE: Final[dict[str, type[StorageError]]] = {
    "AccessDenied": AccessDeniedError,
    "ExpiredToken": AccessDeniedError,
    "InvalidAccessKeyId": AccessDeniedError,
    "SignatureDoesNotMatch": AccessDeniedError,
    "SlowDown": ThrottledError,
    "ServiceUnavailable": ThrottledError,
}


class S3Blobs:
    """A bucket, or a part of it, in which blobs have their pieces.  Nothing is contacted before the first of them.

    Give a boto3 `client`, or nothing, for one as boto3 makes it.  The bucket needs no versions: objects are written
    once, under names that are never used again.  A lifecycle rule must not remove what is younger than its blobs."""

    def __init__(self, bucket: str, *, prefix: str = "singletable/", client: Any = None) -> None:
        if not bucket.strip():
            raise ConfigurationError("S3Blobs: bucket is blank")
        self.bucket = bucket
        self.prefix = prefix
        self._given = client

    @cached_property
    def _client(self) -> Any:
        # Any, because boto3 has no types.
        return self._given or cast(Any, boto3).client("s3", config=_CONFIG)

    def put(self, name: str, data: bytes) -> None:
        """Store an object."""
        self._call("put_object", Key=self.prefix + name, Body=data)

    def get(self, name: str) -> bytes:
        """The bytes of an object; raises PayloadMissingError where there is none."""
        try:
            response = self._call("get_object", Key=self.prefix + name)
            data: bytes = response["Body"].read()
        except BotoCoreError as error:
            raise UnreachableError(f"S3 did not send an object whole ({type(error).__name__})") from error
        return data

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; those that are not there are fine."""
        left = [{"Key": self.prefix + name} for name in names]
        while left:
            now, left = left[:DELETED_AT_ONCE], left[DELETED_AT_ONCE:]
            response = self._call("delete_objects", Delete={"Objects": now, "Quiet": True})
            for failure in response.get("Errors", ()):
                kind = _BY_CODE.get(failure.get("Code", ""), StorageError)
                raise kind(f"S3 did not delete all objects ({failure.get('Code')})", operation="DeleteObjects")

    def names(self, beginning: str) -> list[str]:
        """The names of the objects that begin so."""
        found: list[str] = []
        more: dict[str, str] = {}
        while True:
            page = self._call("list_objects_v2", Prefix=self.prefix + beginning, **more)
            found += [entry["Key"].removeprefix(self.prefix) for entry in page.get("Contents", ())]
            if not page.get("IsTruncated"):
                return found
            more = {"ContinuationToken": page["NextContinuationToken"]}

    def _call(self, operation: str, **params: Any) -> Any:
        try:
            return getattr(self._client, operation)(Bucket=self.bucket, **params)
        except ClientError as error:
            raise _refusal(operation, error) from error
        except BotoCoreError as error:
            why = type(error).__name__
            raise UnreachableError(f"S3 did not answer ({why}); check region, credentials and network") from error


def _refusal(operation: str, error: ClientError) -> Exception:
    response: Any = error.response
    code = str(response.get("Error", {}).get("Code", ""))
    if code == "NoSuchKey":
        return PayloadMissingError("an object with a piece of a blob is missing from its bucket")
    if code == "NoSuchBucket":
        return ConfigurationError("S3Blobs: there is no such bucket")
    kind = _BY_CODE.get(code, StorageError)
    return kind(f"S3 refused {operation} ({code}); check that the credentials may do this in the bucket")
