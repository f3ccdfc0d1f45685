"""Lint of what a criterion rests on: its anchor stands, its names are no accident, its words are no copy. Pure."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator

from rubrics.authors.lint_records import Ground, Wrong
from rubrics.records.rubrics import Criterion, Kind

SHORTEST_QUOTE = 12
"""Characters of a quote: shorter ones stand in every spec."""
COPIED_RUN = 8
"""Words in a row that make a copy; code that small is written twice by chance, more is not."""
COPIED_LINE = 20
"""Characters of a whole line that make a copy; shorter lines stand everywhere."""

_PLACE = re.compile(r"([^\s:][^:\n]*):(\d{1,9})(?::[ \t]+(.*))?", re.DOTALL)
_TICKED = re.compile(r"`([^`\n]+)`")
_COINED = re.compile(
    r"(?<![\w'])(?:[^\W\d]\w*_\w+|_\w+|[a-z]+[a-z0-9]*[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[^\W\d]\w+(?=\())(?!\w)"
)
_CONSTANT = re.compile(r"'((?:[^']|'')*)'")
_WORD = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(r"\w+")
_ELLIPSIS = re.compile(r"(?:\.\.\.|…)$")
_KNOWN = frozenset({*keyword.kwlist, *dir(builtins), "self", "cls", "args", "kwargs"})


def anchored(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """A quote that stands in the spec, a `path:line: quote` that stands there, or, for a guard, a named fault."""
    if criterion.anchor is None:
        if criterion.fault is not None:
            return None
        return Wrong(
            "it has no anchor", "Quote the passage of the spec that asks for it, or name a line of a file; else drop it"
        )
    if spec_anchored(criterion, ground.spec):
        return None
    place = _PLACE.fullmatch(criterion.anchor.strip())
    if place is not None:
        if ground.line_stands(place[1], int(place[2]), place[3] or ""):
            return None
        return Wrong(
            f"its anchor {place[1]}:{place[2]} is no line of a file, or reads otherwise",
            "Name a line that you have read, and quote it as it is",
        )
    return Wrong(
        "its anchor does not stand in the spec, word for word",
        f"Quote at least {SHORTEST_QUOTE} characters of the spec as they are, or name a line of a file",
    )


def spec_anchored(criterion: Criterion, spec: str | None) -> bool:
    """Whether the anchor is a passage of the spec, blanks collapsed."""
    quote = _ELLIPSIS.sub("", collapsed(criterion.anchor or "").strip("\"'`“”")).rstrip()
    return len(quote) >= SHORTEST_QUOTE and quote in collapsed(spec or "")


def accident(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """No name that one solution alone made up: neither spec nor base nor a second attempt has it."""
    for name in dict.fromkeys(_names(criterion)):
        if name in _KNOWN or _stands(name, ground.spec or ""):
            continue
        owners = [item.label for item in ground.studied if _stands(name, item.added)]
        if len(owners) >= 2 or ground.name_stands(name):
            continue
        whose = f"only {owners[0]} has" if owners else "nothing shown to you has"
        return Wrong(
            f"{whose} the name '{name[:80]}': neither spec nor repository asks for it",
            "Say what is required without the name that one solution gave it, or drop it",
        )
    return None


def _names(criterion: Criterion) -> Iterator[str]:
    """What looks like a name of code in texts, and every constant of the rule."""
    for text in (criterion.text, criterion.guidance or ""):
        for ticked in _TICKED.findall(text):
            yield from (ticked,) if _WORD.fullmatch(ticked) or _is_path(ticked) else _COINED.findall(ticked)
        yield from _COINED.findall(_TICKED.sub(" ", text))
    if criterion.rule is not None:
        for constant in _CONSTANT.findall(criterion.rule):
            value = constant.replace("''", "'")
            path, _, name = value.partition("::")
            yield from (part for part in (path, *name.split(".")) if len(part) > 1)


def _is_path(text: str) -> bool:
    return "/" in text and not any(character.isspace() for character in text)


def _stands(name: str, text: str) -> bool:
    """Whether the text holds the name as a whole, blanks collapsed where the name has any."""
    if _WORD.fullmatch(name) is None:
        return collapsed(name) in collapsed(text)
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def copied(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """No passage of an attempt: a criterion says what is required, not how one attempt wrote it."""
    texts = own_texts(criterion)
    for attempt in ground.studied:
        found = shared_passage(texts, attempt.added, ground.spec or "")
        if found is not None:
            return Wrong(f"it copies {attempt.label}: '{found[:80]}'", "Say in words what is required of any solution")
    return None


def copies_sealed(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """Nothing of what is sealed, also where the author knows it from elsewhere. The message does not say what."""
    if not ground.copies_sealed(own_texts(criterion)):
        return None
    return Wrong("it repeats code or text that may not stand in a rubric", "Say in words what the spec requires")


def own_texts(criterion: Criterion) -> str:
    """All that the criterion says in words of its author, the anchor left out: that is a quote."""
    return "\n".join(part for part in (criterion.text, criterion.guidance, criterion.rule, criterion.fault) if part)


def shared_passage(text: str, source: str, allowed: str = "") -> str | None:
    """A passage of the source that the text repeats: a whole line of some length, or several words in a row.

    What stands in `allowed` too is no copy.
    """
    plain, permitted = collapsed(text), collapsed(allowed)
    for line in source.splitlines():
        passage = collapsed(line)
        if len(passage) >= COPIED_LINE and " " in passage and passage in plain and passage not in permitted:
            return passage
    words = _TOKEN.findall(text)
    ours, theirs = _spaced(_TOKEN.findall(source)), _spaced(_TOKEN.findall(allowed))
    for start in range(len(words) - COPIED_RUN + 1):
        run = _spaced(words[start : start + COPIED_RUN])
        if run in ours and run not in theirs:
            return run.strip()
    return None


def _spaced(words: list[str]) -> str:
    return f" {' '.join(words)} "


def collapsed(text: str) -> str:
    """The text with one blank wherever it has any."""
    return " ".join(text.split())
