"""Columns of rows: which are known, and which known one a misspelt one stands for."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache

from rubrics import jsonio
from rubrics.digests import digest128
from rubrics.ingest.items import Note, Source
from rubrics.ingest.row_transcripts import transcript_keys
from rubrics.ingest.values import Row, is_nan

ROLLOUT = (
    "kind", "task_id", "instance_id", "policy", "policy_step", "run", "attempt", "group_id", "rollout_id", "patch",
    "exit_status", "input_tokens", "output_tokens", "snapshot", "turns", "messages",
)  # fmt: skip
"""Columns of a native rollout."""
PREDICTION = (
    "instance_id", "task_id", "model_patch", "prediction", "generated_patch", "model_name_or_path", "model_name",
    "attempt", "exit_status",
)  # fmt: skip
"""Columns of a prediction."""
CONTENT = frozenset({"patch", "turns", "messages", "model_patch"})
"""Columns that hold what the attempt did: rows that differ in a misspelt one are no duplicates."""

_MEANT = {
    "patch": ("diff", "gitpatch", "patchtext", "finalpatch", "modelpatch", "generatedpatch", "prediction", "submission",
              "outputpatch"),
    "model_patch": ("diff", "patch", "gitpatch", "finalpatch", "submission", "outputpatch", "modeldiff"),
    "policy": ("model", "modelname", "modelnameorpath", "agent", "policyname"),
    "model_name_or_path": ("model", "modelid", "modelpath", "policy"),
    "turns": ("trajectory", "history", "transcript", "conversation", "steps", "messages"),
    "run": ("runid", "runname", "experiment"),
    "policy_step": ("step", "globalstep", "trainingstep"),
    "attempt": ("sample", "sampleindex", "rolloutindex", "attemptindex"),
    "task_id": ("task", "id", "taskname"),
    "instance_id": ("task", "id", "taskid", "instance"),
    "rollout_id": ("uuid", "uid", "trajectoryid", "rollout"),
    "group_id": ("group", "uid", "promptid"),
    "exit_status": ("exitreason", "stopreason"),
}  # fmt: skip
"""Names that other tools give to what a known column holds, without case and `_`."""
_SAME = {
    name: names
    for names in (
        ("turns", "messages"), ("model_patch", "prediction", "generated_patch"), ("task_id", "instance_id"),
        ("model_name_or_path", "model_name"),
    )
    for name in names
}  # fmt: skip
"""Names of columns that hold the same as another."""
_LONGEST = 40
_CLOSE = 0.8
"""Share of letters in common from which a name counts as a misspelling (difflib's ratio)."""


def misspelt(row: Row, known: tuple[str, ...]) -> dict[str, str]:
    """Columns that are not known and the known one that each may be meant for, where the row lacks that one."""
    further = [(key, value) for key, value in row.items() if key not in known and value is not None]
    if not further:
        return {}
    lacking = tuple(name for name in known if not any(same in row for same in _SAME.get(name, (name,))))
    found = {}
    for key, value in further:
        meant = None if is_nan(value) else nearest(str(key), lacking)
        if meant is not None and (meant not in CONTENT or isinstance(value, (str, list))):
            found[str(key)] = meant
    return found


@lru_cache(maxsize=4096)
def nearest(key: str, names: tuple[str, ...]) -> str | None:
    """The name of `names` that the key may be meant for; null when none is near."""
    plain = _plain(key)
    if not plain or len(plain) > _LONGEST:
        return None
    for name in names:
        if plain == _plain(name) or plain in _MEANT.get(name, ()):
            return name
    near = [
        (SequenceMatcher(None, plain, _plain(name)).ratio(), name)
        for name in names
        if not key.lower().startswith(f"{name}_")
    ]
    best = max(near, default=(0.0, ""))
    return best[1] if best[0] >= _CLOSE else None


def misspelt_notes(found: dict[str, str], form: str, source: Source) -> Iterator[Note]:
    """A note for each misspelt column."""
    for key, meant in found.items():
        detail = f"`{key[:60]}` is no column of a {form}, `{meant}` is missing: rename it if that is meant"
        yield source.note("column_misspelt", detail, topic=key)


def content_digest(row: Row, found: dict[str, str]) -> str | None:
    """Digest of what stands in misspelt columns of content; null when there is none."""
    values = {key: row[key] for key, meant in sorted(found.items()) if meant in CONTENT}
    return digest128([jsonio.dumps(values)]) if values else None


def unknown_hint(row: Row) -> str:
    """What may make a row readable that has no form that is read; empty when nothing comes to mind."""
    named = [key for key in row if key in ROLLOUT]
    if "task_id" in row and "outcome" in row:
        return '; if it is a native outcome, add `"kind": "outcome"`'
    if {"task_id", "instance_id"} & set(named) and {"patch", "turns", "messages"} & set(named):
        return '; if it is a native rollout, add `"kind": "rollout"`'
    if "task_id" in row and "spec" in row:
        return '; if it is a native task, add `"kind": "task"`'
    near = misspelt(row, PREDICTION) if {"task_id", "instance_id"} & set(row) else {}
    if "model_patch" in near.values() and not transcript_keys(row):
        listed = ", ".join(f"`{key[:60]}` for `{meant}`" for key, meant in near.items())
        return f"; if it is a prediction, these may be misspelt: {listed}"
    return ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")
