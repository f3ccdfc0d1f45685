"""What a record says of the tests, whoever wrote it: one fact has one answer.

| fact | outcome |
|---|---|
| `resolved` is true, false | passed, failed |
| there was no patch, or it did not apply | failed |
| the evaluation broke (`infra_failure`, `evaluation_completed: false`) | infra |
| facts that exclude each other; a `resolved` of another form; nothing | unknown |
"""

from __future__ import annotations

from dataclasses import dataclass

from rubrics.ingest.items import Note, Source
from rubrics.ingest.values import Row, is_nan, text_or_none
from rubrics.records.outcomes import OutcomeName

NO_PATCH = "no patch"
NOT_APPLIED = "patch did not apply"
BROKEN = "the evaluation broke"

_WORDS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
"""Texts that stand for a boolean, in any case: JSON's own, and what tables write for 1 and 0."""
_NOTHING = frozenset({"", "null"})


@dataclass(frozen=True, slots=True)
class Verdict:
    outcome: OutcomeName
    detail: str | None = None
    notes: tuple[Note, ...] = ()


def verdict_of(row: Row, source: Source, key: str = "resolved") -> Verdict:
    """The outcome that the row's facts give together. A pass that another fact excludes is none."""
    resolved, notes = read_resolved(row.get(key), key, source)
    others = list(_excluding(row))
    if resolved and others:
        return disputed([f"`{key}` is true", *(f"{why} ({outcome})" for outcome, why in others)], source, notes)
    if others:
        outcome, why = next((item for item in others if item[0] == "infra"), others[0])
        return Verdict(outcome, why, notes)
    if resolved is None:
        detail = "the record does not say" if not notes else f"`{key}` is of no form that counts"
        return Verdict("unknown", detail, notes)
    return Verdict("passed" if resolved else "failed", None, notes)


def disputed(facts: list[str], source: Source, notes: tuple[Note, ...] = ()) -> Verdict:
    """Unknown, with a line that names the facts that exclude each other."""
    said = ", ".join(facts)
    detail = f"{source.key or 'the record'}: {said}: these exclude each other, so the outcome is unknown"
    return Verdict("unknown", said, (*notes, source.note("disagreement", detail, subject="outcome")))


def read_resolved(value: object, key: str, source: Source) -> tuple[bool | None, tuple[Note, ...]]:
    """A documented form of yes or no; null for nothing, and for anything else with a note."""
    if value is None or isinstance(value, bool):
        return value, ()
    known = _boolean(value)
    if known is not None or (isinstance(value, str) and value.strip().lower() in _NOTHING):
        return known, ()
    shown = "NaN" if is_nan(value) else f"{value!r}"[:60]
    detail = f"`{key}` = {shown} is none of true, false, 1, 0: the outcome is unknown. Correct `{key}`"
    return None, (source.note("outcome_refused", detail, subject="outcome"),)


def _excluding(row: Row) -> list[tuple[OutcomeName, str]]:
    """What else the row says that excludes a pass."""
    found: list[tuple[OutcomeName, str]] = []
    if _flag(row, "infra_failure") is True:
        found.append(("infra", text_or_none(row, "infra_failure_reason") or BROKEN))
    if _flag(row, "evaluation_completed") is False:
        found.append(("infra", "`evaluation_completed` is false"))
    if _flag(row, "patch_is_None") is True or _flag(row, "patch_exists") is False:
        found.append(("failed", NO_PATCH))
    elif _flag(row, "patch_successfully_applied") is False:
        found.append(("failed", NOT_APPLIED))
    return found


def _flag(row: Row, key: str) -> bool | None:
    return _boolean(row.get(key))


def _boolean(value: object) -> bool | None:
    """The boolean that a value is or that its text stands for; null for anything else."""
    if isinstance(value, bool):
        return value
    return _WORDS.get(str(value).strip().lower()) if isinstance(value, (int, float, str)) else None
