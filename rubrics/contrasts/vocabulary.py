"""The contrasts: what each is measured on, and what it means."""

from __future__ import annotations

from dataclasses import dataclass

from rubrics.records.rubrics import Kind
from rubrics.vocabulary import Fact


@dataclass(frozen=True, slots=True)
class Aspect:
    """One side of an attempt that can be alike: a list fact, compared as a set."""

    name: str
    fact: str
    kind: Kind
    words: str
    """What the set holds, for people: "files changed"."""
    pieces: int = 0
    """Above 0: the strings are cut into overlapping pieces of so many characters first."""


ASPECTS: tuple[Aspect, ...] = (
    Aspect("files", "files_edited", "solution", "source files changed"),
    Aspect("functions", "functions_edited", "solution", "functions changed"),
    Aspect("places", "lines_kept_near", "solution", "lines that stand next to a change"),
    Aspect("tokens", "tokens_added_all", "solution", "names and literals in added lines"),
    Aspect("new_tokens", "tokens_added", "solution", "names and literals that the change brings in"),
    Aspect("removed_tokens", "tokens_removed", "solution", "names and literals that the change takes out"),
    Aspect("lines", "lines_added_text", "solution", "lines added"),
    Aspect("text", "lines_added_text", "solution", "pieces of four characters of the lines added", pieces=4),
    Aspect("calls", "calls_added", "solution", "calls added"),
    Aspect("conditions", "conditions_added", "solution", "conditions added"),
    Aspect("reads", "files_read", "behavior", "files read"),
    Aspect("writes", "files_written", "behavior", "files written"),
    Aspect("commands", "commands_list", "behavior", "kinds of command run"),
)


def _alike(aspect: Aspect, side: str) -> Fact:
    return Fact(
        f"{aspect.name}_like_{side}",
        "float",
        "share",
        f"Likeness of the {aspect.words} to those of {side} studied attempts of other content: shared / all of the two "
        "sets (1 when both are empty), its mean over those attempts; null when there is none.",
    )


def _of(kind: Kind) -> tuple[Fact, ...]:
    return tuple(_alike(aspect, side) for aspect in ASPECTS if aspect.kind == kind for side in ("passing", "failing"))


SOLUTION_CONTRASTS: tuple[Fact, ...] = (
    *_of("solution"),
    Fact(
        "size_against_passing",
        "float",
        "ratio",
        "Lines changed / median lines changed of passing studied attempts of other content; null when that is 0 or "
        "there is none.",
    ),
    Fact(
        "files_beyond_passing",
        "int",
        "files",
        "Source files changed that no passing studied attempt of other content changes; null when there is none.",
    ),
    Fact(
        "functions_beyond_passing",
        "int",
        "functions",
        "Functions changed that no passing studied attempt of other content changes; null when there is none.",
    ),
)

BEHAVIOR_CONTRASTS: tuple[Fact, ...] = (
    *_of("behavior"),
    Fact(
        "turns_against_passing",
        "float",
        "ratio",
        "Assistant turns / median assistant turns of passing studied attempts of other content; null when there is "
        "none.",
    ),
    Fact(
        "needed_files_read",
        "float",
        "share",
        "Share of the source files that passing studied attempts change which this attempt read; null when they "
        "change none.",
    ),
)

CONTRASTS: tuple[Fact, ...] = SOLUTION_CONTRASTS + BEHAVIOR_CONTRASTS
