"""The rubric files of a store: written by synthesize, read by score, edited by people in between."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from rubrics import __version__
from rubrics.digests import digest128
from rubrics.errors import RubricError
from rubrics.ingest.names import safe_name
from rubrics.records.rubrics import KINDS, Kind, Rubric
from rubrics.rules.digest import criteria_json, rubric_digest
from rubrics.rules.evaluate import RuleEvaluator
from rubrics.rules.files import to_yaml
from rubrics.rules.loading import from_yaml
from rubrics.store.commit import StageRun
from rubrics.store.paths import StorePaths


def save(run: StageRun, paths: StorePaths, rubric: Rubric) -> None:
    """Have the rubric's file written with what the run writes."""
    run.files.write(paths.rubric(safe_name(rubric.task_id), rubric.kind), to_yaml(rubric))


def digests(paths: StorePaths, task_id: str) -> list[str | None]:
    """Digest of the bytes of each of a task's rubric files; null where there is none."""
    found: list[str | None] = []
    for kind in KINDS:
        try:
            found.append(blake2b(paths.rubric(safe_name(task_id), kind).read_bytes(), digest_size=16).hexdigest())
        except FileNotFoundError:
            found.append(None)
    return found


def load(paths: StorePaths, task_id: str, evaluator: RuleEvaluator) -> dict[Kind, Rubric]:
    """The rubrics of a task as their files say now. Raises `RubricError` for a file that is not valid."""
    found: dict[Kind, Rubric] = {}
    for kind in KINDS:
        path = paths.rubric(safe_name(task_id), kind)
        if not path.is_file():
            continue
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError as error:
            raise RubricError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
        rubric = from_yaml(text, str(path), evaluator.check)
        if (rubric.task_id, rubric.kind) != (task_id, kind):
            raise RubricError(
                f"{path}:1: is about {rubric.task_id!r} ({rubric.kind}); the file's name says {task_id!r} ({kind}). "
                "Rename the file or correct its fields"
            )
        found[kind] = rubric
    return found


def row(rubric: Rubric, prompt_digest: str | None = None) -> dict[str, Any]:
    """The rubric as a row of the `rubrics` table; `prompt_digest` is that of the prompt which its author was given."""
    return {
        "rubric_digest": rubric_digest(rubric),
        "task_id": rubric.task_id,
        "kind": rubric.kind,
        "author": rubric.author,
        "studied": list(rubric.studied),
        "study_digest": rubric.study_digest,
        "n_criteria": len(rubric.criteria),
        "content": criteria_json(rubric),
        "note": rubric.note,
        "prompt_digest": prompt_digest,
        "code_version": __version__,
    }


def by_author(rubric: Rubric, authors: Mapping[str, str]) -> Rubric:
    """The rubric by the author who wrote its content: `edited` when no author's digest (`authors`) is its own."""
    return replace(rubric, author=authors.get(rubric_digest(rubric), "edited"))


def set_edited_aside(paths: StorePaths, rubric: Rubric, known: set[str]) -> str | None:
    """Copy a file that a person edited before it is written anew; returns the copy's name, null when none was.

    A file counts as edited when its rubric is not in `known` (what authors wrote), also when it cannot be read.
    """
    path = paths.rubric(safe_name(rubric.task_id), rubric.kind)
    if not path.is_file():
        return None
    text = path.read_bytes().decode("utf-8", "replace")
    try:
        if rubric_digest(from_yaml(text, str(path), lambda *_: None)) in known:
            return None
    except RubricError:
        pass
    return keep_edited(path)


def keep_edited(path: Path, known: Collection[str | None] = ()) -> str | None:
    """Copy a file whose text has none of the known digests; returns the copy's name, null when none was made."""
    if not path.is_file():
        return None
    digest = digest128([path.read_bytes().decode("utf-8", "replace")])
    if digest in known:
        return None
    aside = path.with_name(f"{path.stem}.edited-{digest[:8]}.yaml.old")
    shutil.copyfile(path, aside)
    return aside.name
