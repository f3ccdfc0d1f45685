r"""What a search looks for, matched in time linear in the text: no pattern of a model can hold up a search. Pure.

Plain text, whatever its case; `|` separates alternatives, `.*` stands for anything on the same line, and a backslash
before a sign means that sign. Nothing else of regular expressions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 500
"""Characters of a pattern."""
HELP = r"Plain text, case does not matter; | separates alternatives, .* is anything on the line, \| is a bar."
_TOKEN = re.compile(r"\\(\W)|(\.\*)|(\|)|(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Alternatives, each the pieces that have to follow one another on a line."""

    alternatives: tuple[tuple[str, ...], ...]

    def found_in(self, line: str) -> bool:
        lowered = line.lower()
        return any(_follow(pieces, lowered) for pieces in self.alternatives)

    def place_in(self, line: str) -> int:
        """Where the first piece of an alternative that matches stands, from 0; 0 when none does."""
        lowered = line.lower()
        return min((lowered.find(pieces[0]) for pieces in self.alternatives if _follow(pieces, lowered)), default=0)


def parse(text: str) -> Pattern:
    """Raises `ValueError` for a pattern that is empty, matches every line, or is too long."""
    if len(text) > LONGEST:
        raise ValueError(f"the pattern has {len(text)} characters; at most {LONGEST}")
    alternatives = [[""]]
    for escaped, gap, bar, plain in _TOKEN.findall(text):
        if bar:
            alternatives.append([""])
        elif gap:
            alternatives[-1].append("")
        else:
            alternatives[-1][-1] += (escaped or plain).lower()
    kept = tuple(tuple(piece for piece in pieces if piece) for pieces in alternatives)
    if not all(kept):
        raise ValueError("the pattern, or one of its alternatives, is empty")
    return Pattern(kept)


def _follow(pieces: tuple[str, ...], line: str) -> bool:
    place = 0
    for piece in pieces:
        found = line.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return True
