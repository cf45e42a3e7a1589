"""How the bytes of a blob, or of each of its pieces, are compressed.  Pure."""

from __future__ import annotations

import gzip
import zlib
from types import ModuleType
from typing import Literal, TypeAlias

from ..errors import ConfigurationError, CorruptPayloadError

Compression: TypeAlias = Literal["gzip", "zstd"]
Encoding: TypeAlias = Literal["identity", "gzip", "zstd"]


def check_compression(compression: Compression | None) -> None:
    """Raise ConfigurationError for a compression that is none, or whose extra is not installed."""
    if compression not in (None, "gzip", "zstd"):
        raise ConfigurationError('compression is "gzip", "zstd" or None')
    if compression == "zstd":
        _zstandard()


def compressed(data: bytes, compression: Compression | None) -> bytes:
    """The bytes as they are stored."""
    match compression:
        case None:
            return data
        case "gzip":
            return gzip.compress(data, mtime=0)
        case "zstd":
            stored: bytes = _zstandard().ZstdCompressor().compress(data)
            return stored


def expanded(stored: bytes, encoding: Encoding, size: int) -> bytes:
    """The `size` bytes that were compressed; raises CorruptPayloadError where these are others."""
    try:
        data = _expand(stored, encoding, size)
    except (OSError, EOFError, zlib.error) as error:
        raise _corrupt() from error
    if len(data) != size:
        raise _corrupt()
    return data


def _expand(stored: bytes, encoding: Encoding, size: int) -> bytes:
    match encoding:
        case "identity":
            return stored
        case "gzip":
            return gzip.decompress(stored)
        case "zstd":
            zstandard = _zstandard()
            try:
                if zstandard.frame_content_size(stored) not in (size, -1):  # before room is made for so many bytes
                    raise _corrupt()
                data: bytes = zstandard.ZstdDecompressor().decompress(stored, max_output_size=max(size, 1))
            except zstandard.ZstdError as error:
                raise _corrupt() from error
            return data


def _corrupt() -> CorruptPayloadError:
    return CorruptPayloadError("what is stored of a blob is not what was written: its length differs")


def _zstandard() -> ModuleType:
    try:
        import zstandard
    except ImportError as error:
        raise ConfigurationError('zstd needs an extra: pip install "singletable[zstd]"') from error
    return zstandard
