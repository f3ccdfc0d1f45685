"""What a row says of its own success: a claim, and no outcome, unless the caller trusts what the publisher measured.

Trusted are `resolved`, `is_resolved` and `target` (true or false) and `reward` (1 or 0, anything between is no
verdict). They must agree. A row whose evaluation was not completed, or that is to be masked, was not measured.
"""

from __future__ import annotations

from rubrics.ingest.extra import CLAIMS
from rubrics.ingest.items import Measured, Note, Source
from rubrics.ingest.values import Row
from rubrics.ingest.verdicts import Verdict, disputed, verdict_of

_MEASURED = ("resolved", "is_resolved", "target", "reward")


def claims_of(row: Row, source: Source, reader: str, trust_recorded: bool) -> tuple[Measured | None, list[Note]]:
    """What was measured, if that is trusted, and a note for each thing that the row says and that is not counted."""
    trusted = _MEASURED if trust_recorded else ()
    notes = [
        source.note("claim_ignored", f"`{key}` inside an attempt is no outcome", subject="rollout", topic=key)
        for key in CLAIMS
        if row.get(key) is not None and key not in trusted
    ]
    said = [key for key in trusted if row.get(key) is not None]
    if not said:
        return None, notes
    verdict = _verdict(row, said, source)
    return Measured(reader, verdict.outcome, verdict.detail), [*notes, *verdict.notes]


def _verdict(row: Row, said: list[str], source: Source) -> Verdict:
    if row.get("mask_sample") is True and row.get("evaluation_completed") is not False:
        return Verdict("unknown", "`mask_sample` is true")
    verdicts = {key: verdict_of(row, source, key) for key in said}
    notes = tuple(dict.fromkeys(note for verdict in verdicts.values() for note in verdict.notes))
    known = {key: verdict for key, verdict in verdicts.items() if verdict.outcome != "unknown"}
    if len({verdict.outcome for verdict in known.values()}) > 1:
        return disputed([f"`{key}` says {verdict.outcome}" for key, verdict in known.items()], source, notes)
    first = next(iter(known.values() or verdicts.values()))
    return Verdict(first.outcome, first.detail or f"recorded by `{next(iter(known or verdicts))}`", notes)
