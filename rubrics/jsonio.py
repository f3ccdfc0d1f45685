"""JSON of dumps: the fast parser first, the lenient one for what it refuses."""

from __future__ import annotations

import json
from typing import Any

import orjson


def loads(data: bytes | str) -> Any:
    """Parse one JSON value.

    Raw control characters inside strings are accepted (agents print them). Raises `ValueError` when
    the text is not JSON, holds bytes that are not UTF-8, or is nested too deeply to be read.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        return json.loads(text, strict=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def dumps(value: Any) -> str:
    """Compact JSON with sorted keys: equal values have equal text. Lone surrogates become `\\udXXX` escapes."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except (TypeError, orjson.JSONEncodeError):
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def encoded(value: Any) -> bytes:
    """Compact JSON with keys in their own order, as UTF-8. Lone surrogates become `\\udXXX` escapes.

    Raises `TypeError` or `ValueError` for what is no JSON value.
    """
    try:
        return orjson.dumps(value)
    except (TypeError, orjson.JSONEncodeError):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()
