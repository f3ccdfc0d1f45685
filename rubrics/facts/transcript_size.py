"""How long a transcript is, how it talks, what it looks at."""

from __future__ import annotations

import re
from typing import Any

from rubrics.digests import digest128
from rubrics.facts.lexing import has_any
from rubrics.facts.transcript_view import TranscriptView
from rubrics.records.rollouts import Turn
from rubrics.vocabulary import Fact

TALK = (
    Fact("turns", "int", "turns", "Turns of any role."),
    Fact("assistant_turns", "int", "turns", "Turns of the assistant."),
    Fact("user_turns", "int", "turns", "Turns of the user, the task included."),
    Fact("empty_turns", "int", "turns", "Assistant turns without text and without a call."),
    Fact("commands", "int", "commands", "Calls of tools, one per call whatever it holds."),
    Fact("commands_list", "list", "names", "Names of the programs and tools that the agent used."),
    Fact("reads", "int", "actions", "Actions that show a file or a part of it."),
    Fact("searches", "int", "actions", "Actions that search for text or files."),
    Fact("listings", "int", "actions", "Actions that list a folder."),
    Fact("files_read", "list", "paths",
         "Files that an action shows, or that a search names, relative to the repository where that can be told."),
    Fact("distinct_files_read", "int", "files", "Entries of files_read."),
    Fact("observation_bytes", "int", "bytes", "Length of all observations in UTF-8."),
    Fact("largest_observation", "int", "bytes", "Length of the longest observation in UTF-8; 0 without one."),
    Fact("truncated_observations", "int", "turns", "Turns whose observation the harness cut."),
    Fact("input_tokens_total", "int", "tokens", "Sum of the turns' input tokens; null when no turn records them."),
    Fact("output_tokens_total", "int", "tokens", "Sum of the turns' output tokens; null when no turn records them."),
    Fact("reasoning_share", "float", "share",
         "Share of the assistant turns with separate reasoning text; null without an assistant turn."),
    Fact("words_per_turn", "float", "words",
         "Mean number of words in the text of assistant turns; null without an assistant turn."),
    Fact("plan_stated", "bool", "yes/no",
         "Whether one of the first three assistant turns names a plan, an approach or steps, or numbers a list."),
    Fact("transcript_normal_digest", "text", "digest",
         "Digest of roles, texts, calls and observations, blanks at their ends removed."),
)  # fmt: skip

_PLAN = re.compile(r"\b(?:plan|approach|steps?)\b|^[ \t]*1[.)] ", re.IGNORECASE | re.MULTILINE)


def measure_talk(view: TranscriptView) -> dict[str, Any]:
    """Values of `TALK`."""
    spoken = [turn for turn in view.turns if turn.role == "assistant"]
    sizes = [_size(turn.observation) for turn in view.turns if turn.observation is not None]
    kinds = [action.kind for action in view.actions]
    shown = (act for act in view.actions if act.kind in ("read", "search"))
    read = sorted({path for act in shown for path in act.paths if path[-1:] != "/"})
    words = sum(len(turn.text.split()) for turn in spoken)
    return {
        "turns": len(view.turns),
        "assistant_turns": len(spoken),
        "user_turns": sum(turn.role == "user" for turn in view.turns),
        "empty_turns": sum(not turn.tool_calls and not turn.text.strip() for turn in spoken),
        "commands": len(view.commands),
        "commands_list": sorted({action.head[:100] for action in view.actions}),
        "reads": kinds.count("read"),
        "searches": kinds.count("search"),
        "listings": kinds.count("list"),
        "files_read": read,
        "distinct_files_read": len(read),
        "observation_bytes": sum(sizes),
        "largest_observation": max(sizes, default=0),
        "truncated_observations": sum("truncated_observation" in turn.flags for turn in view.turns),
        "input_tokens_total": _total([turn.input_tokens for turn in view.turns]),
        "output_tokens_total": _total([turn.output_tokens for turn in view.turns]),
        "reasoning_share": sum(bool(turn.reasoning) for turn in spoken) / len(spoken) if spoken else None,
        "words_per_turn": words / len(spoken) if spoken else None,
        "plan_stated": any(_names_plan(turn.text[:5_000]) for turn in spoken[:3]),
        "transcript_normal_digest": _digest(view.turns),
    }


def _names_plan(text: str) -> bool:
    return has_any(text, ("lan", "pproach", "tep", "1.", "1)")) and _PLAN.search(text) is not None


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _digest(turns: tuple[Turn, ...]) -> str:
    parts: list[str] = []
    for turn in turns:
        parts += [turn.role, turn.text.strip(), turn.observation.strip() if turn.observation else ""]
        for call in turn.tool_calls:
            parts += ["call", call.name, call.raw.strip()]
    return digest128([" ".join(map(str, map(len, parts))), "".join(parts)])
