"""One JSON object out of the text of a reply, or of a tool call's arguments: whole, or not at all.

Accepted: the text is one JSON object (RFC 8259), with blanks around it or not; or one fenced block, opened by three
backticks with or without `json` and closed by three, that is the entire reply. Everything else is refused: JSON within
prose, text after it, two objects, comments, raw control characters in strings. Nothing is repaired.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from rubrics.replies.kinds import unusable

MAX_CHARACTERS = 1 << 20
"""A draft of two rubrics with 40 criteria each takes a tenth of it."""

_BLANKS = " \t\r\n"
_OPENED = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n")
_CLOSED = re.compile(r"\n[ \t]*```\Z")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_BROKEN_OFF = re.compile(
    r"(?:\\u[0-9a-fA-F]{0,3}|\\|t|tr|tru|f|fa|fal|fals|n|nu|nul|-|(?<=[0-9])\.|(?<=[0-9])[eE][+-]?)?\Z"
)
"""The beginning of a token, at the end of a text."""


def read_object(text: str, under: str = "", repeated: str = "repeated_key") -> dict[str, Any]:
    """The object that a reply consists of.

    Where a name stands twice in the object held by the top field `under`, the kind is `repeated` instead of
    `repeated_key`. Raises `UnusableReply`: `empty`, `too_long`, `truncated`, `not_json`, `repeated_key`, `shape`.
    """
    if len(text) > MAX_CHARACTERS:
        raise unusable("too_long", f"{len(text)} characters; at most {MAX_CHARACTERS}")
    doubled: list[tuple[dict[str, Any], str]] = []
    value = _parse(_body(text), doubled)
    if not isinstance(value, dict):
        raise unusable("shape", f"the reply is {_noun(value)}; wanted one object")
    if doubled:
        owner, name = doubled[0]
        kind = repeated if under and value.get(under) is owner else "repeated_key"
        raise unusable(kind, f"{json.dumps(name)[:200]} stands twice; name it once")
    if _SURROGATE.search(text) or not text.isascii():
        _refuse_half_characters(value)
    return value


def _body(text: str) -> str:
    stripped = text.strip(_BLANKS)
    if not stripped:
        raise unusable("empty", "the reply is empty; answer with one JSON object")
    opened = _OPENED.match(stripped)
    if opened is None:
        return stripped
    closed = _CLOSED.search(stripped, opened.end() - 1)
    if closed is None:
        return _unclosed(stripped[opened.end() :])
    return stripped[opened.end() : closed.start()].strip(_BLANKS)


def _unclosed(body: str) -> NoReturn:
    """What stands in a fence that nothing closes: the beginning of an object, or nothing of use."""
    rest = body.strip(_BLANKS)
    if rest.endswith(("\n`", "\n``")):
        rest = rest.rstrip("`").rstrip(_BLANKS)
    if rest:
        _parse(rest, [])
    raise unusable("truncated", "the fenced block is not closed")


def _parse(text: str, doubled: list[tuple[dict[str, Any], str]]) -> Any:
    def gather(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        gathered = dict(pairs)
        if len(gathered) != len(pairs):
            seen: set[str] = set()
            doubled.append((gathered, next(name for name, _ in pairs if name in seen or seen.add(name))))  # type: ignore[func-returns-value]
        return gathered

    try:
        return json.loads(text, object_pairs_hook=gather, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        if text[:1] == "{" and _breaks_off(text, error):
            raise unusable("truncated", f"the reply breaks off after {len(text)} characters") from None
        message = f"not one JSON object: {error.msg} at character {error.pos}; answer with JSON and nothing else"
        raise unusable("not_json", message) from None
    except RecursionError:
        raise unusable("shape", "the reply is nested too deeply") from None
    except ValueError:
        raise unusable("shape", "the reply holds a number of thousands of digits") from None


def _breaks_off(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the parser stopped because the text ends: nothing before its end is wrong."""
    match = _BROKEN_OFF.search(text)
    return error.msg.startswith("Unterminated string") or (match is not None and error.pos >= match.start())


def _no_number(word: str) -> NoReturn:
    raise unusable("not_json", f"{word} is no JSON number")


def _refuse_half_characters(value: dict[str, Any]) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise unusable("not_json", "a string holds half a surrogate pair, which is no character") from None


def _noun(value: Any) -> str:
    names = {list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")
