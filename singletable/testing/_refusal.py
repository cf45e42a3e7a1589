"""How DynamoDB says no, inside the fake, and the public errors these refusals become.  Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

from ..errors import ConditionFailedError, Reason, StorageError, TableNotFoundError, TransactionFailedError
from ..wire import Request, WireItem


class Refusal(Exception):
    """A request that DynamoDB refuses with an error code and a text."""

    def __init__(self, text: str, *, code: str = "ValidationException") -> None:
        super().__init__(f"{code}: {text}")
        self.text = text


class MissingResource(Refusal):
    """The table or the index does not exist."""


class ConditionFailure(Exception):
    """The condition of a single write did not hold."""

    def __init__(self, item: WireItem | None) -> None:
        super().__init__()
        self.item = item


class Cancellation(Exception):
    """A transaction in which at least one member objected."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        super().__init__()
        self.reasons = reasons


def raise_for(failure: Refusal | ConditionFailure | Cancellation, request: Request) -> NoReturn:
    """Raise the error that the transport over boto3 raises for `failure`."""
    context = error_context(request)
    match failure:
        case ConditionFailure():
            text = "ConditionalCheckFailedException: The conditional request failed"
            raise ConditionFailedError(text, item=failure.item, **context) from None
        case Cancellation():
            raise cancelled(request, failure.reasons) from None
        case MissingResource():
            raise TableNotFoundError(str(failure), **context) from None
        case Refusal():
            raise StorageError(str(failure), **context) from None


def cancelled(request: Request, reasons: Sequence[Reason]) -> TransactionFailedError:
    """The error of a cancelled transaction."""
    codes = ", ".join(reason.code for reason in reasons)
    text = "Transaction cancelled, please refer cancellation reasons for specific reasons"
    return TransactionFailedError(
        f"TransactionCanceledException: {text} [{codes}]", reasons=reasons, **error_context(request)
    )


def error_context(request: Request) -> dict[str, Any]:
    """Operation, table and key of a request, as far as it names one of each."""
    params = request.params
    context: dict[str, Any] = {"operation": request.operation, "table": _table_of(params)}
    if "Key" in params:
        context["key"] = params["Key"]
    elif isinstance(item := params.get("Item"), Mapping):
        stored = cast("WireItem", item)
        context["key"] = {name: stored[name] for name in ("pk", "sk") if name in stored}
    return context


def _table_of(params: Mapping[str, Any]) -> str:
    if "TableName" in params:
        return str(params["TableName"])
    if "RequestItems" in params:
        return str(next(iter(params["RequestItems"]), ""))
    for member in params.get("TransactItems", ()):
        for action in member.values():
            return str(action.get("TableName", ""))
    return ""
