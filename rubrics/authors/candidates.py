"""Candidate criteria mined from what passing and failing attempts did. Pure.

Two sorts. *Likeness* criteria are graded: how close the change comes to passing attempts and how far it
keeps from failing ones, in one aspect. *Named* criteria say one thing that every
passing attempt does and no failing one does, or the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rubrics.authors.author import StudiedAttempt
from rubrics.digests import digest128
from rubrics.records.rubrics import Criterion, Kind

_NOT_WORD = re.compile(r"[^a-z0-9]+")
MAX_NAMED = 3
"""Named criteria per fact: more would say the same again."""
MIN_AGREEING = 2
"""Attempts that must agree on a named thing: what one alone did may be an accident."""
SHOWN = 4
"""Names shown in a criterion's text."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A criterion before its trial, with the names it is about (for its anchor)."""

    criterion: Criterion
    names: tuple[str, ...]
    fault: str | None = None
    """Makes it a guard where it does not tell the studied attempts apart."""


@dataclass(frozen=True, slots=True)
class _Likeness:
    id: str
    aspect: str
    fact: str
    text: str
    weight: float
    fault: str | None = None
    """Fault it guards against where it does not tell the studied attempts apart."""


@dataclass(frozen=True, slots=True)
class _Named:
    fact: str
    verb: str
    does: str
    does_not: str


_LIKENESS = (
    _Likeness("uses-what-passes-use", "tokens", "tokens_added_all",
              "Works with the names and values that passing attempts work with", 2),
    _Likeness("brings-in-what-passes-bring", "new_tokens", "tokens_added",
              "Brings in what passing attempts bring in", 2),
    _Likeness("changes-where-passes-change", "places", "lines_kept_near",
              "Changes the code at the places where passing attempts change it", 2,
              "the change is made in another place"),
    _Likeness("changes-the-functions", "functions", "functions_edited",
              "Changes the functions that passing attempts change", 1, "other functions are changed"),
    _Likeness("takes-out-what-passes-take", "removed_tokens", "tokens_removed",
              "Takes out what passing attempts take out", 1, "what has to go is left in"),
    _Likeness("adds-the-lines", "lines", "lines_added_text",
              "Adds lines that passing attempts add", 1),
    _Likeness("reads-like-passes", "text", "lines_added_text",
              "Its added code reads like that of passing attempts", 1),
)  # fmt: skip

AGAINST = 0.4
"""Weight of likeness to failing attempts against likeness to passing ones; measured on public attempts."""
_LIKENESS_RULE = (
    "(coalesce({aspect}_like_passing, 1)"
    f" - {AGAINST} * coalesce({{aspect}}_like_failing, 0) + {AGAINST}) / {1 + AGAINST}"
)

_NAMED = (
    _Named("functions_edited", "edits", "Changes `{name}`.", "Leaves `{name}` alone."),
    _Named("calls_added", "calls", "Calls `{name}`.", "Does not call `{name}`."),
    _Named("conditions_added", "tests", "Tests `{name}`.", "Does not decide by `{name}`."),
    _Named("tokens_added", "uses", "Brings in `{name}`.", "Does not bring in `{name}`."),
    _Named("tokens_removed", "drops", "Takes out `{name}`.", "Keeps `{name}`."),
)
NAMED_WEIGHT = 0.5


def candidates(kind: Kind, studied: Sequence[StudiedAttempt]) -> list[Candidate]:
    """Candidates of one kind, likeness first. Wants attempts of both outcomes; without them there are none."""
    passing = [attempt for attempt in studied if attempt.passed]
    failing = [attempt for attempt in studied if not attempt.passed]
    if not passing or not failing:
        return []
    if kind == "behavior":
        return [_needed_reading(passing)]
    found = [_likeness(item, passing, failing) for item in _LIKENESS]
    return found + [candidate for named in _NAMED for candidate in _named(named, passing, failing)]


def _likeness(item: _Likeness, passing: Sequence[StudiedAttempt], failing: Sequence[StudiedAttempt]) -> Candidate:
    names = _telling(item.fact, passing, failing)
    text = f"{item.text}{_such_as(names)}; likeness to failing attempts counts against it."
    rule = _LIKENESS_RULE.format(aspect=item.aspect)
    return Candidate(Criterion(item.id, text, item.weight, "rule", rule=rule), tuple(names), item.fault)


def _needed_reading(passing: Sequence[StudiedAttempt]) -> Candidate:
    names = _telling("files_edited", passing, ())
    text = "Reads the files that passing attempts change" + _such_as(names) + "."
    rule = "coalesce(needed_files_read, 1)"
    return Candidate(
        Criterion("reads-what-must-change", text, 2, "rule", rule=rule),
        tuple(names),
        "the code that has to change was never looked at",
    )


def _such_as(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{_short(name)}`" for name in names[:SHOWN])
    return f", such as {shown}" if shown else ""


def _telling(fact: str, passing: Sequence[StudiedAttempt], failing: Sequence[StudiedAttempt]) -> list[str]:
    """What passing attempts have, most telling first: held by many of them and by few failing ones."""
    ours, theirs = [_values(fact, attempts) for attempts in (passing, failing)]
    every = {name for values in ours for name in values}

    def rank(name: str) -> tuple[int, int, str]:
        return sum(name in values for values in theirs), -sum(name in values for values in ours), name

    return sorted(every, key=rank)


def _values(fact: str, attempts: Iterable[StudiedAttempt]) -> list[set[str]]:
    return [set(attempt.facts[fact]) for attempt in attempts if attempt.facts.get(fact) is not None]


def _named(item: _Named, passing: Sequence[StudiedAttempt], failing: Sequence[StudiedAttempt]) -> list[Candidate]:
    ours, theirs = _values(item.fact, passing), _values(item.fact, failing)
    if len(ours) < len(passing) or len(theirs) < len(failing):
        return []
    found = []
    for does, agreeing, others in ((True, ours, theirs), (False, theirs, ours)):
        if len(agreeing) >= MIN_AGREEING:
            names = set[str].intersection(*agreeing) - {name for values in others for name in values}
            found += [_one_named(item, does, name) for name in _usable(names)[:MAX_NAMED]]
    return found


def _usable(names: Iterable[str]) -> list[str]:
    """Names that a rule can carry, the longest first: they say most."""
    return sorted((name for name in names if 2 <= len(name) <= 200 and name.isprintable()), key=lambda n: (-len(n), n))


def _one_named(item: _Named, does: bool, name: str) -> Candidate:
    quoted = "'" + name.replace("'", "''") + "'"
    rule = f"list_contains({item.fact}, {quoted})"
    slug = _NOT_WORD.sub("-", name.lower()).strip("-")[:40].strip("-") or digest128([name])[:8]
    criterion = Criterion(
        id=f"{item.verb}-{slug}" if does else f"{item.verb}-no-{slug}",
        text=(item.does if does else item.does_not).format(name=_short(name)),
        weight=NAMED_WEIGHT,
        method="rule",
        rule=rule if does else f"not {rule}",
    )
    return Candidate(criterion, (name,))


def _short(name: str) -> str:
    clean = "".join(character if character.isprintable() else "?" for character in name)
    return clean if len(clean) <= 80 else clean[:77] + "..."
