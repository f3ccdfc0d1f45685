"""When and where the agent edits, and whether it looked first."""

from __future__ import annotations

from typing import Any

from rubrics.facts.lexing import has_any
from rubrics.facts.transcript_view import TranscriptView
from rubrics.vocabulary import Fact

EDITS = (
    Fact("edits", "int", "actions",
         "Actions that change an existing file, those of scripts that the agent wrote for it included; failed ones "
         "count."),
    Fact("creates", "int", "actions", "Actions that write a whole file or copy one."),
    Fact("deletes", "int", "actions", "Actions that delete files."),
    Fact("source_edits", "int", "actions",
         "Source edits: actions that edit or write a file of source code; an edit whose file cannot be told counts."),
    Fact("edit_reverts", "int", "actions",
         "Actions that take changes back: git checkout of files, restore, reset, stash, undo, copying a backup over "
         "the file."),
    Fact("edit_failures", "int", "turns",
         "Turns with an edit whose observation says that it was refused or did not apply; null when no turn with an "
         "edit has an observation."),
    Fact("reads_before_first_edit", "int", "actions",
         "Actions that show a file before the first source edit; all of them without one."),
    Fact("searches_before_first_edit", "int", "actions",
         "Actions that search before the first source edit; all of them without one."),
    Fact("turns_before_first_edit", "int", "turns",
         "Assistant turns before that of the first source edit; null without one."),
    Fact("first_edit_position", "float", "share",
         "Assistant turns before that of the first source edit, as a share of all; null without one."),
    Fact("files_written", "list", "paths",
         "Files that actions create or edit, relative to the repository where that can be told."),
    Fact("source_files_written", "int", "files", "Files of source code among files_written."),
    Fact("edited_files_read_first", "float", "share",
         "Share of the source files that edits change which an action showed or a search named before; null without "
         "one."),
    Fact("edits_without_read", "int", "files",
         "Source files that edits change which no action showed and no search named before."),
    Fact("test_files_edited_in_transcript", "int", "files", "Test files among files_written."),
    Fact("scratch_files_created", "int", "files",
         "Scratch files among files_written: by their name, at the root and not in the patch, or outside the "
         "repository."),
    Fact("scratch_files_removed", "int", "files", "Scratch files among files_written that a later action deletes."),
    Fact("scratch_cleanup", "float", "share",
         "Scratch files removed as a share of those created; null when none was created."),
)  # fmt: skip

_REFUSED = (
    "Your proposed edit has introduced new syntax error", "No replacement was performed", "did not appear verbatim",
    "FAILED at", "patch failed", "patch does not apply", "corrupt patch", "malformed patch", "Text not found",
    "was not found", "SEARCH/REPLACE block failed", "No such file or directory", "can't read", "unterminated",
)  # fmt: skip


def measure_edits(view: TranscriptView) -> dict[str, Any]:
    """Values of `EDITS`."""
    kinds = [action.kind for action in view.actions]
    first = view.first_edit
    before = kinds[:first]
    return {
        "edits": kinds.count("edit"),
        "creates": kinds.count("create"),
        "deletes": kinds.count("delete"),
        "source_edits": len(view.source_edits),
        "edit_reverts": kinds.count("revert"),
        "edit_failures": _failures(view),
        "reads_before_first_edit": before.count("read"),
        "searches_before_first_edit": before.count("search"),
        **_position(view, first),
        **_files(view),
        **_scratch(view),
    }


def _failures(view: TranscriptView) -> int | None:
    places = sorted({action.turn for action in view.actions if action.kind in ("edit", "create")})
    answers = [answer for place in places if (answer := view.turns[place].observation) is not None]
    if places and not answers:
        return None
    return sum(has_any(answer[:2_000], _REFUSED) for answer in answers)


def _position(view: TranscriptView, first: int | None) -> dict[str, Any]:
    if first is None:
        return {"turns_before_first_edit": None, "first_edit_position": None}
    place = view.actions[first].turn
    before = sum(turn.role == "assistant" for turn in view.turns[:place])
    total = sum(turn.role == "assistant" for turn in view.turns)
    return {"turns_before_first_edit": before, "first_edit_position": before / total if total else None}


def _files(view: TranscriptView) -> dict[str, Any]:
    seen: set[str] = set()
    written: set[str] = set()
    informed: dict[str, bool] = {}
    for action in view.actions:
        if action.kind in ("read", "search", "diff"):
            seen.update(action.paths)
        elif action.kind in ("edit", "create"):
            written.update(action.paths)
            for path in action.paths if action.kind == "edit" else ():
                if view.kinds[path] == "source":
                    informed.setdefault(path, path in seen)
            seen.update(action.paths)
    return {
        "files_written": sorted(written),
        "source_files_written": sum(view.kinds[path] == "source" for path in written),
        "test_files_edited_in_transcript": sum(view.kinds[path] == "test" for path in written),
        "edited_files_read_first": sum(informed.values()) / len(informed) if informed else None,
        "edits_without_read": sum(not known for known in informed.values()),
    }


def _scratch(view: TranscriptView) -> dict[str, Any]:
    created: set[str] = set()
    removed: set[str] = set()
    for action in view.actions:
        if action.kind in ("edit", "create"):
            fresh = {path for path in action.paths if view.kinds[path] == "scratch"}
            created |= fresh
            removed -= fresh
        elif action.kind == "delete" and created:
            words = set(action.command.split())
            removed |= {path for path in created if path in action.paths or _deleted(path, words)}
    return {
        "scratch_files_created": len(created),
        "scratch_files_removed": len(removed),
        "scratch_cleanup": len(removed) / len(created) if created else None,
    }


def _deleted(path: str, words: set[str]) -> bool:
    """Whether words of a deletion name the path by its last part or by a pattern such as `test_*.py`."""
    name = path.rpartition("/")[2]
    for word in words:
        pattern = word.rpartition("/")[2]
        if pattern == name:
            return True
        head, star, tail = pattern.partition("*")
        if star and "*" not in tail and (head or tail) and name.startswith(head) and name.endswith(tail):
            return True
    return False
