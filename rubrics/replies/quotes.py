"""Whether a quote stands in a text: word for word, but for blanks and for how prompts show what is hidden.

Both sides are compared with runs of blanks as one blank, with invisible characters as their escapes
(`rubrics.visible`), and without backslashes: prompts show a bidi mark as `\\u202e` and a mark of ours as `[\\[turn`,
and a model may quote what it was shown or what that stands for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rubrics.visible import visible

MIN_SUBSTANCE = 3
"""Characters other than blanks that a quote has at least."""
_MARKER = re.compile(r"^[+-]", re.MULTILINE)


def folded(text: str) -> str:
    """The form that is compared."""
    return " ".join(visible(text).replace("\\", "").split())


def foldings(text: str) -> tuple[str, ...]:
    """The forms of a text that a quote is looked for in: also without carriage returns, where it has any."""
    return (folded(text), folded(text.replace("\r", ""))) if "\r" in text else (folded(text),)


class Quote:
    """A quote, folded once."""

    __slots__ = ("_folded", "_text")

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        self._folded = foldings(text)

    def has_substance(self) -> bool:
        return len(self._folded[0].replace(" ", "")) >= MIN_SUBSTANCE

    def is_in_any(self, texts: Sequence[str]) -> bool:
        """Whether it stands in one of the texts just as it is: the cheap question, asked first."""
        wanted = self._text
        for text in texts:  # noqa: SIM110 - half the time of any()
            if wanted in text:
                return True
        return False

    def is_in_forms(self, forms: Sequence[str]) -> bool:
        """Whether it stands in one of the folded texts."""
        return any(form in text for form in self._folded for text in forms)

    def starts_on(self, hunk: Sequence[str], at: int) -> bool:
        """Whether it starts on line `at` of the hunk, and ends within as many lines as it has itself.

        The lines of a hunk carry their markers. The quote may follow the new file, the old one or the diff; with the
        markers or without them.
        """
        if self._text in hunk[at]:
            return True
        plain = (self._text, self._text.replace("\r", "")) if "\r" in self._text else (self._text,)
        for form in (*plain, _MARKER.sub("", self._text)):
            wanted = folded(form)
            count = form.strip().count("\n") + 1
            if wanted and any(_starts(wanted, lines) for lines in _readings(hunk, at, count)):
                return True
        return False


def _readings(hunk: Sequence[str], at: int, count: int) -> list[list[str]]:
    """The `count` lines from `at` on: of the diff with markers and without, of the new file, of the old one."""
    lines = hunk[at : at + count]
    others = [mark for mark in "-+" if count > 1 and hunk[at][0] != mark]
    return [list(lines), [line[1:] for line in lines], *(_side(hunk, at, count, other) for other in others)]


def _side(hunk: Sequence[str], at: int, count: int, other: str) -> list[str]:
    """`count` lines of one side from `at` on: those that do not carry the other side's marker."""
    side: list[str] = []
    for line in hunk[at:]:
        if line[0] != other:
            side.append(line[1:])
            if len(side) == count:
                break
    return side


def _starts(wanted: str, lines: Sequence[str]) -> bool:
    parts = [folded(line) for line in lines]
    position = " ".join(part for part in parts if part).find(wanted)
    return 0 <= position < len(parts[0])
