"""Paths as diffs write them: quoted, prefixed, followed by a time."""

from __future__ import annotations

import re

NOWHERE = "/dev/null"

_ESCAPE = re.compile(r'\\([0-7]{1,3}|[abfnrtv"\\])')
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", '"': '"', "\\": "\\"}
_TIME = re.compile(r"[ \t]+\d{4}-\d\d-\d\d[ T][0-9:.]+.*$")
_PREFIXES = frozenset({("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"), ("1/", "2/")})


def header_path(text: str) -> str:
    """The path in what follows `--- ` or `+++ `: without its time, unquoted."""
    text = text.split("\t", 1)[0].strip()
    if text.startswith('"'):
        return unquote(text)
    if ":" in text:
        text = _TIME.sub("", text)
    return text.replace("\\", "/")


def unquote(text: str) -> str:
    """A path as git quotes it, in its plain form; other text comes back as it is."""
    if len(text) < 2 or not text.startswith('"') or not text.endswith('"'):
        return text
    inner = text[1:-1]
    if "\\" not in inner:
        return inner
    data = bytearray()
    position = 0
    for match in _ESCAPE.finditer(inner):
        data += inner[position : match.start()].encode("utf-8", "surrogatepass")
        code = match.group(1)
        data += bytes([int(code, 8) & 255]) if code[0] in "01234567" else _ESCAPES[code].encode()
        position = match.end()
    data += inner[position:].encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "replace")


def git_paths(text: str) -> tuple[str, str]:
    """Both paths of what follows `diff --git `; two empty strings where they cannot be told apart."""
    text = text.strip()
    if text.startswith('"'):
        end = text.find('" ')
        if end > 0:
            return unquote(text[: end + 1]), unquote(text[end + 2 :])
        return "", ""
    if text.endswith('"') and ' "' in text:
        cut = text.index(' "')
        return text[:cut], unquote(text[cut + 1 :])
    middle = len(text) // 2  # the usual case: the same path twice, which may hold blanks
    if text[middle : middle + 1] == " " and text[:middle].split("/", 1)[-1] == text[middle + 1 :].split("/", 1)[-1]:
        return text[:middle], text[middle + 1 :]
    cut = text.find(" b/")
    if cut < 0:
        cut = text.find(" ")
    return (text[:cut], text[cut + 1 :]) if cut > 0 else ("", "")


def strip_prefixes(old: str, new: str) -> tuple[str, str]:
    """Both paths without `a/` and `b/` (or git's mnemonic pairs), when both carry them or one is nowhere."""
    pair = (old[:2], new[:2])
    if pair in _PREFIXES:
        old, new = old[2:], new[2:]
    elif old == NOWHERE and new[:2] in ("b/", "w/", "i/", "2/"):
        new = new[2:]
    elif new == NOWHERE and old[:2] in ("a/", "c/", "i/", "1/"):
        old = old[2:]
    return _tidy(old), _tidy(new)


def _tidy(path: str) -> str:
    while path.startswith("./"):
        path = path[2:]
    return path
