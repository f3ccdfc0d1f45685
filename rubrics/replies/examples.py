"""Examples of replies, for prompts: every text in them is a placeholder, and no placeholder is an answer."""

from __future__ import annotations

import re
from typing import Any

from rubrics.records.rankings import CHECKS, FLAGS

REASON = "<what you saw and where, in one or two sentences>"
QUOTE = "<the words that stand there>"
LEVEL = "<a level of its scale>"
CRITERION = "<name of the criterion>"
CANDIDATE = "<label of the candidate>"
FINDING = "<id of the finding>"
DETAIL = "<what can be read there and how>"
COMPARISON = "<how the candidates differ>"
ROUTE = "<path or reference, as a command names it>"
PLACE = "<pointer to where it stands>"

PLACEHOLDERS = (REASON, QUOTE, LEVEL, CRITERION, CANDIDATE, FINDING, DETAIL, COMPARISON, ROUTE, PLACE)
_WORDS = "|".join(r"\s+".join(map(re.escape, text.strip("<>").split())) for text in PLACEHOLDERS)
_ECHO = re.compile(rf"[\s<>]*(?:{_WORDS})[\s<>]*", re.IGNORECASE)


def is_placeholder(text: str) -> bool:
    """Whether the text is one of the placeholders, with or without its angle brackets, in any case and spacing."""
    return _ECHO.fullmatch(text) is not None


_POINTER = {"place": PLACE, "quote": QUOTE}
_FLAG = {"found": False, "evidence": []}

VERDICTS: dict[str, Any] = {
    "addressed_to_grader": {"reason": REASON, "found": False, "evidence": []},
    "verdicts": {CRITERION: {"reason": REASON, "level": LEVEL, "evidence": [_POINTER]}},
}
RANKING: dict[str, Any] = {
    "candidates": {
        CANDIDATE: {
            "reason": REASON,
            **dict.fromkeys(CHECKS, 3),
            "evidence": [_POINTER],
            **dict.fromkeys(FLAGS, _FLAG),
        }
    },
    "reason": COMPARISON,
    "no_clear_difference": False,
}
AUDIT: dict[str, Any] = {"findings": {FINDING: {"reason": REASON, "verdict": "unclear", "evidence": [_POINTER]}}}
PROBE: dict[str, Any] = {
    "reason": REASON,
    "findings": [{"kind": "other", "place": ROUTE, "detail": DETAIL, "remedy": "none", "evidence": [_POINTER]}],
}
