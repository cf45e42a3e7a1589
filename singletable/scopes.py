"""Scopes: the items of one tenant, whose partition keys all begin with who it is.  Pure."""

from __future__ import annotations

from .keys import END, KeyPart, decode_part, encode_part

SCOPE = "@"
"""Begins the partition keys of a scope; the name of an entity or of a collection never begins so."""
_TENANT = KeyPart("tenant", str)


def scope_text(tenant: str) -> str:
    """What stands before every partition key of a tenant: `@acme#`; raises InvalidKeyError for a blank one."""
    return SCOPE + encode_part(_TENANT, tenant) + END


def split_scope(text: str) -> tuple[str, str]:
    """The text of the scope in a partition key, empty where there is none, and the rest."""
    if not text.startswith(SCOPE):
        return "", text
    tenant, end, rest = text.partition(END)
    return tenant + end, rest


def tenant_of(text: str) -> str | None:
    """The tenant whose scope a partition key is in; None where it is in none."""
    scope, _ = split_scope(text)
    return str(decode_part(_TENANT, scope[1:-1])) if scope else None
