"""Fences: untrusted text inside a prompt, between lines that the text cannot know. Pure.

The boundary is derived from a digest of the label and the text: the same text always stands in the same fence (replies
stay cacheable, the static part of a prompt stays a shared prefix), and a text that held its own boundary would have
another one. What looks like a fence line is escaped all the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rubrics.digests import digest128
from rubrics.visible import defused, one_line

_LABEL = re.compile(r"[a-z][a-z0-9]*(?:[ -][a-zA-Z0-9]+)*")
_LINE = re.compile(rf"\[\[\[(begin|end) ({_LABEL.pattern}) ([0-9a-f]{{16}})\]\]\]")


class Shown(str):
    """Text that may stand in a fence: made visible, defused, laid out. Only this package makes it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Section:
    label: str
    text: str
    """What stands between the two lines of the fence, without the line end before the second one."""


def shown(text: str) -> Shown:
    """Plain untrusted text, fit for a fence. Raises `TypeError` for what is no text, sealed text above all."""
    if not isinstance(text, str):
        raise TypeError(f"{type(text).__name__} is no text that a prompt may show")
    return Shown(defused(text))


@lru_cache(maxsize=4096)
def shown_name(name: str) -> Shown:
    """An untrusted name (of a file, a tool, a test) on one line."""
    return Shown(defused(one_line(name)))


def fence(label: str, text: Shown) -> str:
    """The text between its fence lines. The label is ours: a few plain words, never taken from what is fenced.

    Raises `TypeError` for text that was not made by `shown` or a view, `ValueError` for another label.
    """
    if not isinstance(text, Shown):
        raise TypeError(f"the text of the fence {label!r} was not made safe; pass it through `shown` first")
    if _LABEL.fullmatch(label) is None:
        raise ValueError(f"{label!r} is no label of a fence; wanted plain words such as `patch`")
    boundary = _boundary(label, text)
    return f"[[[begin {label} {boundary}]]]\n{text}\n[[[end {label} {boundary}]]]"


def parse_fences(prompt: str) -> tuple[Section, ...]:
    """The fenced sections of a prompt, in order. Raises `ValueError` where a fence is not whole."""
    return tuple(part for part in _split(prompt) if isinstance(part, Section))


def outside_fences(prompt: str) -> str:
    """The prompt with every fenced section replaced by its label: all that speaks with our voice."""
    return "\n".join(f"[[[{part.label}]]]" if isinstance(part, Section) else part for part in _split(prompt))


def _boundary(label: str, text: str) -> str:
    return digest128([label, text])[:16]


def _split(prompt: str) -> list[str | Section]:
    parts: list[str | Section] = []
    inside: list[str] | None = None
    label = boundary = ""
    for line in prompt.split("\n"):
        match = _LINE.fullmatch(line)
        if inside is None:
            if match is None:
                parts.append(line)
            elif match[1] == "end":
                raise ValueError(f"{line!r} ends a fence that nothing began")
            else:
                inside, label, boundary = [], match[2], match[3]
        elif match is None:
            inside.append(line)
        else:
            text = "\n".join(inside)
            if match.group(1, 2, 3) != ("end", label, boundary) or _boundary(label, text) != boundary:
                raise ValueError(f"{line!r} stands inside the fence {label!r}")
            parts.append(Section(label, text))
            inside = None
    if inside is not None:
        raise ValueError(f"the fence {label!r} has no end")
    return parts
