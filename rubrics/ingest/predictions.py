"""SWE-bench predictions: one row each, in a list, in lines or in a dict by id; also rows that hold the transcript
too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rubrics.errors import InputError
from rubrics.ingest.claims import claims_of
from rubrics.ingest.columns import PREDICTION, content_digest, misspelt, misspelt_notes
from rubrics.ingest.extra import Extra
from rubrics.ingest.items import Attempt, Item, Source
from rubrics.ingest.names import folder_run, rows_run, stem
from rubrics.ingest.patches import read_patch
from rubrics.ingest.row_transcripts import KEYS, PATCH_KEYS, read_transcript
from rubrics.ingest.turns import token_sums
from rubrics.ingest.values import Fields, Row

HARNESS = "predictions"
POLICY_KEYS = ("model_name_or_path", "model_name")
_KNOWN = frozenset({*PREDICTION, *KEYS, "prompt", "rollout_id"})


def read_prediction(row: Row, source: Source, *, alone: bool = False, trust_recorded: bool = False) -> Iterator[Item]:
    """One prediction. `alone` says that its file holds nothing else, so that the folder names the run."""
    fields = Fields(row, source)
    task_id = fields.required("instance_id", "task_id")
    policy = fields.name(*POLICY_KEYS)
    if policy == "gold":
        yield source.note("sealed_beside_attempt", "reference patches written as predictions; not read")
        return
    measured, notes = claims_of(row, source, HARNESS, trust_recorded)
    status = fields.text("exit_status")
    given = [key for key in PATCH_KEYS if key in row]
    patch = read_patch(row.get(given[0]) if given else None, source, status, null_is_none=bool(given))
    wrong = misspelt(row, PREDICTION)
    transcript = read_transcript(row, source, fields.ignored)
    sent, received = token_sums(transcript.turns or ())
    extra = Extra(source)
    extra.add_all(row, _KNOWN | wrong.keys())
    own_file = alone or stem(source.file) == task_id
    yield Attempt(
        task_id, folder_run(source.file, task_id) if own_file else rows_run(source.file), HARNESS, source,
        policy=policy, attempt=fields.index("attempt"), patch=patch.text, written=patch.written, turns=transcript.turns,
        unread=transcript.unread or content_digest(row, wrong), exit_status=status or patch.exit_status,
        input_tokens=sent, output_tokens=received, given_id=fields.name("rollout_id"), extra=extra.text,
        own_file=own_file, measured=measured,
    )  # fmt: skip
    yield from (*patch.notes, *notes, *transcript.notes, *extra.notes(), *fields.notes)
    yield from misspelt_notes(wrong, "prediction", source)


def prediction_marks(row: Row) -> list[str]:
    """The marks of a prediction; none without a task, or with neither a patch nor a model's name."""
    if "instance_id" not in row and "task_id" not in row:
        return []
    patches = [f"`{key}`" for key in PATCH_KEYS if key in row]
    policies = [f"`{key}`" for key in POLICY_KEYS if key in row]
    return [*patches, *policies] if patches or policies else []


def rows_by_id(document: Row, source: Source) -> Iterator[tuple[Row | InputError, Source]]:
    """Rows of a dict by id; the key is the id where the row has none. A row that names another id is of neither."""
    for key, row in document.items():
        place = source.at(str(key))
        if not isinstance(row, Mapping):
            yield (
                place.wrong(f"a row that is {type(row).__name__}", "an object", "Write the prediction's object."),
                place,
            )
            continue
        named = next((row[name] for name in ("instance_id", "task_id") if row.get(name) is not None), key)
        if str(named) == str(key):
            yield {"instance_id": key, **row}, place
        else:
            found = f"key {str(key)[:80]!r} over a row of {str(named)[:80]!r}"
            yield place.wrong(found, "one id", "Correct the key or the row.", kind="id_differs"), place


def by_id_marks(document: Row) -> list[str]:
    """The marks of predictions in a dict by id."""
    rows = [row for row in document.values() if isinstance(row, dict)]
    keys = (*PATCH_KEYS, "model_name_or_path")
    found = sorted({f"`{key}`" for row in rows for key in keys if key in row})
    return ["rows by id", *found] if rows and all(any(key in row for key in keys) for row in rows) else []
