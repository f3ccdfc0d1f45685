"""A transcript as the measurements read it: its actions, and where the source edits lie."""

from __future__ import annotations

from dataclasses import dataclass

from rubrics.facts.actions import DEMONSTRATION, Action, Command, read_calls
from rubrics.facts.paths import Kind, kind_of
from rubrics.records.patches import Patch
from rubrics.records.rollouts import Turn


@dataclass(frozen=True, slots=True)
class TranscriptView:
    turns: tuple[Turn, ...]
    """Demonstrations left out."""
    actions: tuple[Action, ...]
    commands: tuple[Command, ...]
    source_edits: tuple[int, ...]
    """Places in `actions` of the source edits."""
    exit_codes: bool
    """Whether the transcript holds any exit code."""
    kinds: dict[str, Kind]
    """What every path of the actions is for."""

    @property
    def first_edit(self) -> int | None:
        return self.source_edits[0] if self.source_edits else None

    @property
    def last_edit(self) -> int | None:
        return self.source_edits[-1] if self.source_edits else None

    def failed(self, action: Action) -> bool | None:
        """Whether the action's exit code was not 0; null when it is not known for this very action."""
        code = self.turns[action.turn].exit_code if action.last else None
        return None if code is None else code != 0


def view_transcript(all_turns: tuple[Turn, ...], patch: Patch | None) -> TranscriptView:
    """The view of a transcript; the patch tells which of the files that the agent created were meant to stay."""
    turns = tuple(turn for turn in all_turns if DEMONSTRATION not in turn.flags)
    acts, commands = read_calls(turns)
    kinds = _kinds(acts, frozenset(file.path for file in patch.files) if patch is not None else None)
    edits = tuple(place for place, act in enumerate(acts) if _is_source_edit(act, kinds))
    return TranscriptView(turns, acts, commands, edits, any(turn.exit_code is not None for turn in turns), kinds)


def _kinds(acts: tuple[Action, ...], patched: frozenset[str] | None) -> dict[str, Kind]:
    """Kinds by path. A file created at the root, or outside the repository, that no patch holds is a scratch file."""
    kinds: dict[str, Kind] = {}
    for act in acts:
        for path in act.paths:
            if path in kinds:
                continue
            created = act.kind == "create"
            kind = kind_of(path, created)
            outside = path[:1] in ("/", "~") or (
                created and "/" not in path and kind in ("source", "test", "docs", "data")
            )
            if outside or (kind == "scratch" and patched is not None):
                kind = kind_of(path, False) if patched is not None and path in patched else "scratch"
            kinds[path] = kind
    return kinds


def _is_source_edit(act: Action, kinds: dict[str, Kind]) -> bool:
    if act.kind not in ("edit", "create"):
        return False
    if not act.paths:
        return act.kind == "edit"
    return any(kinds[path] == "source" for path in act.paths)
