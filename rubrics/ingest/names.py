"""Names found in dumps are data: how they become file names, and how a run gets its name."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from rubrics.digests import digest128
from rubrics.ingest.items import FileRef, RunName

MAX_NAME = 120
"""Longest file name that `safe_name` gives, in characters."""

_SAFE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")

GENERIC_FOLDERS = frozenset(
    {
        "eval", "evals", "evaluation", "logs", "results", "trajs", "traj", "eval_results", "new_eval_results",
        "old_eval_results",
    }
)  # fmt: skip
"""Folders inside a run's folder that name a kind of content, never a run."""

GENERIC_STEMS = frozenset(
    {
        "preds", "all_preds", "predictions", "prediction", "predictions_for_swebench", "rollouts", "trajectories",
        "output", "outputs", "data",
    }
)  # fmt: skip
"""File names that say what a file holds; the run then is named by the folder."""


def safe_name(task_id: str) -> str:
    """A file name for `task_id` that cannot leave its folder; different ids have different names.

    Letters, digits, `.`, `_` and `-` stay; every other byte of the UTF-8 form is percent-encoded, a leading dot too.
    A name longer than `MAX_NAME` is cut and ends in `%-` and the digest of the id, which no uncut name holds.
    The empty id is `%`.
    """
    if _SAFE.fullmatch(task_id) and len(task_id) <= MAX_NAME:
        return task_id
    if not task_id:
        return "%"
    name = quote(task_id.encode("utf-8", "surrogatepass"), safe="").replace("~", "%7E")
    if name.startswith("."):
        name = "%2E" + name[1:]
    if len(name) > MAX_NAME:
        digest = digest128([task_id])
        name = f"{name[: MAX_NAME - 34]}%-{digest}"
    return name


def shown(name: str) -> str:
    """A file system name as text that can be stored: bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")


def stem(file: FileRef) -> str:
    """The file's name without the endings that say its form."""
    return _stem(file.name)


@lru_cache(maxsize=64)
def _stem(name: str) -> str:
    for ending in (".traj.json", ".json", ".jsonl", ".ndjson", ".traj", ".pred", ".parquet", ".csv", ".md"):
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name


def folder_run(file: FileRef, task_id: str | None = None) -> RunName:
    """The run that a file belongs to by the folders above it.

    The folder named as the task and the folders that name a kind of content are passed over. The names come from
    the full path, so that a run's folder and the folder that holds it give the same run.
    """
    return _folder_run(file.folders, stem(file), bool(file.folders) and file.folders[-1] == task_id)


@lru_cache(maxsize=64)
def _folder_run(above: tuple[str, ...], own: str, of_task: bool) -> RunName:
    folders = above[:-1] if of_task else above
    while folders and folders[-1].lower() in GENERIC_FOLDERS:
        folders = folders[:-1]
    return RunName(folders[-1], folders) if folders else _own_name(above, own)


def rows_run(file: FileRef) -> RunName:
    """The run of a file of rows: its own name, or its folder's where the name says nothing."""
    return folder_run(file) if stem(file).lower() in GENERIC_STEMS else _own_name(file.folders, stem(file))


def run_of_folder(file: FileRef, task_id: str | None = None) -> str:
    """The name of `folder_run`."""
    return folder_run(file, task_id).name


@lru_cache(maxsize=64)
def _own_name(above: tuple[str, ...], own: str) -> RunName:
    return RunName(own, (*above, own))


def folders_of(path: Path) -> tuple[str, ...]:
    """Storable names of the folders above `path`, outermost first."""
    return tuple(shown(part) for part in path.parent.parts[1:])
