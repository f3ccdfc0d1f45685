"""`exit_statuses_*.yaml` of a run: exit status -> ids. Safe YAML without anchors, within a size limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from rubrics.ingest.documents import decode, read_bytes, storable
from rubrics.ingest.items import ExitNote, FileRef, Item, Source
from rubrics.ingest.names import folder_run

KEY = "instances_by_exit_status"
MAX_YAML = 1024**2
"""Largest YAML file that is parsed, in bytes."""
MAX_DEPTH = 50


def read_exit_file(file: FileRef) -> Iterator[Item]:
    """The exit status of each task that the file names."""
    source = Source(file)
    notes: dict[str, str] = {}
    text = str(storable(decode(read_bytes(file, MAX_YAML), notes.__setitem__)))
    for kind, detail in notes.items():
        yield source.note(kind, detail)
    statuses = load_yaml(text, source)
    groups = statuses.get(KEY) if isinstance(statuses, dict) else None
    if not isinstance(groups, dict):
        raise source.wrong(f"no mapping under `{KEY}`", f"`{KEY}: {{status: [id]}}`", "Correct the file.")
    run = folder_run(file)
    for status, ids in groups.items():
        if not isinstance(ids, list):
            yield source.note("id_refused", "an exit status without a list of ids; passed over", subject="outcome")
            continue
        for task_id in ids:
            yield ExitNote(str(task_id), run, str(status), source)


def load_yaml(text: str, source: Source) -> Any:
    """Plain YAML. Anchors, aliases and deep nesting are refused before anything is built."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
                line = event.start_mark.line + 1 if event.start_mark else 0
                place = source.at(f"line {line}")
                raise place.wrong("an anchor or alias", "plain YAML", "Write the value out.", kind="unsafe_yaml")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise source.wrong("deep nesting", f"at most {MAX_DEPTH} levels", "Flatten it.", kind="nesting")
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        found = " ".join(str(error).split())[:200]
        raise source.wrong(found, "YAML", "Correct it there.", kind="not_yaml") from None
