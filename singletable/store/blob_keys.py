"""The keys of blobs: how they are written, and which folder lists them.  Pure."""

from __future__ import annotations

import re

from ..errors import InvalidKeyError

FOLDER_DEPTH = 2
"""So many leading parts of a key make its folder: sessions, and the like, have one each."""


def blob_path(key: str) -> str:
    """A key without the slashes that say nothing; raises InvalidKeyError for one that could mean another place.

    The rules are those of Strands' own storages."""
    path = _collapsed(key).strip("/")
    if not path:
        raise InvalidKeyError("the key of a blob must not be empty")
    _require_plain(path)
    return path


def blob_prefix(prefix: str) -> str:
    """The beginning of keys; a slash at its end stays, and ends a part."""
    text = _collapsed(prefix).lstrip("/")
    _require_plain(text)
    return text


def folder_of(path: str) -> str:
    """The folder that lists a path."""
    return "/" + "/".join(path.split("/")[:-1][:FOLDER_DEPTH])


def is_within_one_folder(prefix: str) -> bool:
    """Whether all paths with this beginning are listed by `folder_of(prefix)`."""
    return prefix.count("/") >= FOLDER_DEPTH


def _collapsed(key: object) -> str:
    if not isinstance(key, str):
        raise InvalidKeyError(f"the key of a blob is a text, not a {type(key).__name__}")
    return re.sub("/+", "/", key)


def _require_plain(path: str) -> None:
    if "\\" in path or ".." in path.split("/"):
        raise InvalidKeyError("the key of a blob must have no backslash, and no part that is '..'")
