"""Reflection records (method, section 5): a turn that went wrong, the error, and a slot for the turn rewritten."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from rubrics.exports.messages import is_own
from rubrics.exports.samples import Group, Sample
from rubrics.exports.target import Output, Target
from rubrics.records.rollouts import Turn
from rubrics.store.export_rows import Columns

MALFORMED = "malformed_call"
FAILED = "failed_command"
EVIDENCE = 2000
"""Characters of the observation's end kept as evidence: errors stand at the end."""

_MARKUP = re.compile(r"</?(?:returncode|output|error|exception)>|<returncode>-?\d+</returncode>")
_TRANSCRIPTS: Columns = {"rollout_id": "text", "source_id": "text", "prompt": "prompt", "completion": "messages"}


def write(groups: Iterable[Group], output: Output) -> None:
    """`reflections.jsonl`, and `transcripts.parquet` with the rollouts that they are of.

    `message` is the place of the offending turn in the completion: the policy saw prompt + completion[:message].
    """
    with (
        output.json_lines("reflections.jsonl") as reflections,
        output.parquet("transcripts.parquet", _TRANSCRIPTS) as transcripts,
    ):
        for sample in (sample for group in groups for sample in group.samples):
            found = list(faults(sample))
            if not found:
                continue
            reflections.append(found)
            told = {"rollout_id": sample.rollout_id, "source_id": sample.row["source_id"]}
            transcripts.append([{**told, "prompt": sample.prompt, "completion": sample.completion}])
            output.counts["rollouts"] += 1
            output.counts["rows"] += len(found)
            for record in found:
                output.counts[record["kind"]] += 1


def faults(sample: Sample) -> Iterator[dict[str, Any]]:
    """Malformed calls, commands that ended with a non-zero exit code and said why, and turns that audits point at."""
    for finding in sample.findings:
        pointers = re.findall(r"transcript:(\d+)", finding["evidence"] or "")
        for place in sorted({int(pointer) for pointer in pointers} & sample.places.keys()):
            yield _record(sample, place, f"audit:{finding['kind']}", finding["reason"] or "")
    for place, turn in enumerate(sample.turns or ()):
        if not is_own(turn) or place not in sample.places:
            continue
        kind, error = _fault(turn)
        if kind is not None:
            yield _record(sample, place, kind, error)


def _fault(turn: Turn) -> tuple[str | None, str]:
    said = evidence(turn.observation)
    if MALFORMED in turn.flags:
        return MALFORMED, said
    if turn.exit_code not in (None, 0) and said:
        return FAILED, said
    return None, ""


def evidence(observation: str | None) -> str:
    """What the tool said, without its markup; empty when it said nothing."""
    return _MARKUP.sub("", re.sub(r"<returncode>-?\d+</returncode>", "", observation or "")).strip()[-EVIDENCE:]


def _record(sample: Sample, place: int, kind: str, error: str) -> dict[str, Any]:
    turn = (sample.turns or ())[place]
    row = sample.row
    return {
        "rollout_id": sample.rollout_id, "task_id": row["task_id"], "group_id": row["group_id"],
        "source_id": row["source_id"], "source_group": row["source_group"],
        "policy": row["policy"], "transcript_digest": row["transcript_digest"], "turn": place,
        "message": sample.places[place], "kind": kind, "offending": sample.completion[sample.places[place]],
        "exit_code": turn.exit_code, "error": error, "evidence": [f"transcript:{place}"], "rewritten": None,
    }  # fmt: skip


TARGET = Target(
    "reflection",
    "reflection records: offending turn, error, slot for the rewritten turn",
    write,
    computes_advantages=False,
)
