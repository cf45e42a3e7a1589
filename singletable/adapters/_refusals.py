"""Which StorageError an error of botocore means.  Pure.

Messages hold DynamoDB's codes and advice, and never stored content: its own text is shown without the values sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from botocore.exceptions import ClientError

from ..errors import (
    AccessDeniedError,
    ConditionFailedError,
    OutcomeUnknownError,
    Reason,
    StorageError,
    TableNotFoundError,
    ThrottledError,
    TransactionConflictError,
    TransactionFailedError,
    UnreachableError,
)
from ..wire import Request
from ._botocore import READS

_BY_CODE: Final[Mapping[str, type[StorageError]]] = {
    "ConditionalCheckFailedException": ConditionFailedError,
    "TransactionCanceledException": TransactionFailedError,
    "TransactionConflictException": TransactionConflictError,
    "ResourceNotFoundException": TableNotFoundError,
    "AccessDenied": AccessDeniedError,
    "AccessDeniedException": AccessDeniedError,
    "ExpiredToken": AccessDeniedError,
    "ExpiredTokenException": AccessDeniedError,
    "IncompleteSignature": AccessDeniedError,
    "IncompleteSignatureException": AccessDeniedError,
    "InvalidClientTokenId": AccessDeniedError,
    "InvalidSignatureException": AccessDeniedError,
    "MissingAuthenticationToken": AccessDeniedError,
    "MissingAuthenticationTokenException": AccessDeniedError,
    "NotAuthorized": AccessDeniedError,
    "RequestExpired": AccessDeniedError,
    "SignatureDoesNotMatch": AccessDeniedError,
    "UnrecognizedClient": AccessDeniedError,
    "UnrecognizedClientException": AccessDeniedError,
    "ProvisionedThroughputExceeded": ThrottledError,
    "ProvisionedThroughputExceededException": ThrottledError,
    "RequestLimitExceeded": ThrottledError,
    "RequestThrottled": ThrottledError,
    "RequestThrottledException": ThrottledError,
    "Throttling": ThrottledError,
    "ThrottlingException": ThrottledError,
    "ThrottledException": ThrottledError,
    "TooManyRequestsException": ThrottledError,
}

# By name, because botocore's younger versions know classes that older ones lack; the closest base decides.
_BY_EXCEPTION: Final[Mapping[str, type[StorageError]]] = {
    "CredentialRetrievalError": AccessDeniedError,
    "LoginError": AccessDeniedError,
    "MetadataRetrievalError": AccessDeniedError,
    "NoAuthTokenError": AccessDeniedError,
    "NoCredentialsError": AccessDeniedError,
    "PartialCredentialsError": AccessDeniedError,
    "ProfileNotFound": AccessDeniedError,
    "RefreshWithMFAUnsupportedError": AccessDeniedError,
    "SSOError": AccessDeniedError,
    "TokenRetrievalError": AccessDeniedError,
    "UnknownCredentialError": AccessDeniedError,
    # Not connected, so nothing was sent: EndpointConnection, ConnectTimeout, ProxyConnection and SSL.
    "ConnectionError": UnreachableError,
    # Sent, but not answered: ReadTimeout, ConnectionClosed, ResponseStreaming.
    "HTTPClientError": OutcomeUnknownError,
    "ChecksumError": OutcomeUnknownError,
}

_ADVICE: Final[Mapping[type[StorageError], str]] = {
    StorageError: "{why}",
    ConditionFailedError: "the condition did not hold; nothing was written",
    TransactionFailedError: "the transaction was cancelled ({why}); nothing was written",
    TransactionConflictError: "a transaction on the same item was under way; nothing was written, try again",
    ThrottledError: "refused for lack of capacity ({why}); send less at a time, or raise the table's capacity",
    TableNotFoundError: "there is no such table or index; create it (TABLE_SETUP.md), or check region= and table_name=",
    AccessDeniedError: "{why}; check that the credentials are there, are current, and may do this on the table",
    UnreachableError: "no answer ({why}), and nothing was written; check endpoint_url=, region= and the network",
    OutcomeUnknownError: "no answer ({why}); it may or may not have been applied: read before writing again",
}

_NO_SUCH_INDEX: Final = "The table does not have the specified index"
_LONGEST_TEXT: Final = 500


def refusal(request: Request, cause: Exception, *, unanswered: bool) -> StorageError:
    """The error to raise from `cause`; `unanswered` says that an earlier attempt may have been applied."""
    kind = _kind(request, cause)
    # A transaction that is sent again carries its token: had the first attempt been applied, this one would succeed.
    if unanswered and kind is not TransactionFailedError:
        kind = OutcomeUnknownError
    return _error(kind, request, _why(kind, request, cause), _response(cause))


def unreadable(request: Request, response: Mapping[str, Any]) -> StorageError:
    """The error that a success with an unreadable body means."""
    kind = UnreachableError if request.operation in READS else OutcomeUnknownError
    return _error(kind, request, "the response was cut short, or is not DynamoDB's", response)


def table_names(params: Mapping[str, Any]) -> str:
    """The tables of a request, each once, in the order in which it names them."""
    names = [params["TableName"]] if "TableName" in params else list(params.get("RequestItems", ()))
    names += [part["TableName"] for member in params.get("TransactItems", ()) for part in member.values()]
    return ", ".join(dict.fromkeys(names))


def _kind(request: Request, cause: Exception) -> type[StorageError]:
    response = _response(cause)
    if isinstance(cause, ClientError):
        kind = _BY_CODE.get(response["Error"].get("Code", ""), StorageError)
        if kind is StorageError and response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= 500:
            kind = OutcomeUnknownError
        if kind is StorageError and response["Error"].get("Message", "").startswith(_NO_SUCH_INDEX):
            kind = TableNotFoundError
    else:
        known = (_BY_EXCEPTION.get(base.__name__) for base in type(cause).__mro__)
        kind = next((found for found in known if found), StorageError)
    return UnreachableError if kind is OutcomeUnknownError and request.operation in READS else kind


def _why(kind: type[StorageError], request: Request, cause: Exception) -> str:
    if not isinstance(cause, ClientError):
        # botocore's text may hold parameters or URLs; the cause has it.
        return type(cause).__name__
    response = _response(cause)
    code: str = response["Error"].get("Code", "")
    if kind is TransactionFailedError:
        return ", ".join(f"member {index}: {reason.code}" for index, reason in enumerate(_reasons(response)))
    # The text of a refused signature holds headers, and the session token with them.
    if kind is StorageError or code.startswith("AccessDenied"):
        return f"{code}: {_without_content(response['Error'].get('Message', ''), request)}".removesuffix(": ")
    return code


def _error(kind: type[StorageError], request: Request, why: str, response: Mapping[str, Any]) -> StorageError:
    table = table_names(request.params)
    message = f"{request.operation} on table '{table}': {_ADVICE[kind].format(why=why)}"
    context: dict[str, Any] = {
        "operation": request.operation,
        "table": table,
        "key": request.params.get("Key"),
        "request_id": response.get("ResponseMetadata", {}).get("RequestId"),
    }
    if kind is ConditionFailedError:
        return ConditionFailedError(message, item=response.get("Item") or None, **context)
    if kind is TransactionFailedError:
        return TransactionFailedError(message, reasons=_reasons(response), **context)
    return kind(message, **context)


def _reasons(response: Mapping[str, Any]) -> list[Reason]:
    return [
        Reason(code=reason.get("Code", "None"), message=reason.get("Message") or "", item=reason.get("Item") or None)
        for reason in response.get("CancellationReasons", ())
    ]


def _response(cause: Exception) -> Mapping[str, Any]:
    # botocore has no types: a ClientError always holds its parsed response.
    return cast("Any", cause).response if isinstance(cause, ClientError) else {}


def _without_content(text: str, request: Request) -> str:
    """DynamoDB's text without the values of the request, some of which it quotes: a number, or the members of a set."""
    for value in sorted(set(_values(request.params)), key=len, reverse=True):
        if value in text:
            text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "…", text)
    return text[:_LONGEST_TEXT]


def _values(part: Any) -> Iterator[str]:
    """Every text and number in a request's typed JSON."""
    if isinstance(part, Mapping):
        for name, inner in cast("Mapping[str, Any]", part).items():
            if name in {"S", "N"} and isinstance(inner, str) and inner:
                yield inner
            elif name in {"SS", "NS"} and isinstance(inner, (list, tuple, set)):
                yield from (member for member in cast("list[Any]", inner) if isinstance(member, str) and member)
            else:
                yield from _values(inner)
    elif isinstance(part, (list, tuple)):
        for inner in cast("list[Any]", part):
            yield from _values(inner)
