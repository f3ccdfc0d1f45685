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


def has_substance(quote: str) -> bool:
    return len("".join(folded(quote).split())) >= MIN_SUBSTANCE


def stands_in(quote: str, forms: Sequence[str]) -> bool:
    """Whether the quote stands in one of the folded texts."""
    return any(folded(form) in text for form in _quote_forms(quote) for text in forms)


def starts_on(quote: str, hunk: Sequence[str], at: int) -> bool:
    """Whether the quote starts on line `at` of the hunk, and ends within as many lines as it has itself.

    The lines of a hunk carry their markers. The quote may follow the new file, the old one or the diff; with the
    markers or without them.
    """
    if quote.strip() in hunk[at]:
        return True
    for form in (*_quote_forms(quote), _MARKER.sub("", quote.strip())):
        wanted = folded(form)
        count = form.strip().count("\n") + 1
        if wanted and any(_starts(wanted, lines) for lines in _readings(hunk, at, count)):
            return True
    return False


def _quote_forms(quote: str) -> tuple[str, ...]:
    return (quote, quote.replace("\r", "")) if "\r" in quote else (quote,)


def _readings(hunk: Sequence[str], at: int, count: int) -> list[list[str]]:
    """The `count` lines from `at` on: of the diff with markers and without, of the new file, of the old one."""
    lines = hunk[at : at + count]
    readings = [list(lines), [line[1:] for line in lines]]
    if count > 1:
        for other in "-+":
            if hunk[at][0] != other:
                side = [line[1:] for line in hunk[at : at + 1]]
                position = at + 1
                while len(side) < count and position < len(hunk):
                    if hunk[position][0] != other:
                        side.append(hunk[position][1:])
                    position += 1
                readings.append(side)
    return readings


def _starts(wanted: str, lines: Sequence[str]) -> bool:
    parts = [folded(line) for line in lines]
    position = " ".join(part for part in parts if part).find(wanted)
    return 0 <= position < len(parts[0])
