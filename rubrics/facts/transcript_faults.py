"""What goes wrong in a transcript, and what reaches beyond the task."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from rubrics.facts.transcript_view import TranscriptView
from rubrics.vocabulary import Fact

FAULTS = (
    Fact("commands_failed", "int", "commands",
         "Commands that ended with a non-zero exit code; null when the transcript records no exit code."),
    Fact("failed_share", "float", "share",
         "Commands that failed as a share of those with a known exit code; null without any."),
    Fact("error_followed_up", "float", "share",
         "Share of the failed commands after which the next command is another one; null when none failed or no exit "
         "code is recorded."),
    Fact("commands_repeated", "int", "commands",
         "Commands whose whole text was given before with no edit, creation or deletion of a file in between."),
    Fact("longest_repeat_run", "int", "commands",
         "Length of the longest run of equal commands one after another; 1 when no command follows its like, 0 without"
         " a command."),
    Fact("malformed_calls", "int", "turns", "Turns whose call could not be parsed."),
    Fact("network_access", "int", "actions",
         "Actions that reach for the network: curl, wget, git clone or fetch, downloads; installing packages is "
         "counted apart."),
    Fact("history_access", "int", "actions",
         "Actions that look beyond the task's own commit: git log --all, git show or diff of a hash, reflog, stash "
         "list, tags, fsck."),
    Fact("package_installs", "int", "actions", "Actions that install packages, the repository's own package included."),
    Fact("submitted", "bool", "yes/no",
         "Whether the agent handed in its work: a submit command, or an exit status that begins with submitted."),
    Fact("exit_by_limit", "bool", "yes/no",
         "Whether the exit status names a limit: of turns, cost, context or time; null without an exit status."),
)  # fmt: skip

_BEYOND = re.compile(
    r"git (?:-\S+ )*(?:log\b.{0,200}(?:--all|--branches|--remotes|--reflog|\borigin/|\bupstream/)"
    r"|reflog|fsck|tag\b|for-each-ref"
    r"|stash (?:list|show|apply|branch)|rev-list\b.{0,200}--all|show-ref|branch\b.{0,50}-\w*[ar]|cat-file"
    r"|show\b.{0,100}\b[0-9a-f]{7,40}\b"
    r"|diff\b.{0,100}\b[0-9a-f]{7,40}\b|checkout\b.{0,50}\b[0-9a-f]{7,40}\b|show (?:origin|upstream)/)"
)
_LIMIT = re.compile(r"limit|max_|maxi|time_?d?_?out|timeout|context|cost|exhaust|exceed|budget|too_long", re.IGNORECASE)
_CHANGING = frozenset({"edit", "create", "delete", "revert"})


def measure_faults(view: TranscriptView, exit_status: str | None) -> dict[str, Any]:
    """Values of `FAULTS`."""
    kinds = [action.kind for action in view.actions]
    status = (exit_status or "").strip().lower()
    unparsed = {command.turn for command in view.commands if command.malformed}
    unparsed |= {place for place, turn in enumerate(view.turns) if "malformed_call" in turn.flags}
    return {
        **_failures(view),
        **_repeats(view),
        "malformed_calls": len(unparsed),
        "network_access": kinds.count("network"),
        "history_access": sum("git" in act.command and _BEYOND.search(act.command) is not None for act in view.actions),
        "package_installs": kinds.count("install"),
        "submitted": "submit" in kinds or status.startswith("submitted"),
        "exit_by_limit": _LIMIT.search(status) is not None if status else None,
    }


def _failures(view: TranscriptView) -> dict[str, Any]:
    if not view.exit_codes:
        return {"commands_failed": None, "failed_share": None, "error_followed_up": None}
    known = [command for command in view.commands if command.failed is not None]
    failed = sum(command.failed is True for command in known)
    followed = sum(one.failed is True and one.text != other.text for one, other in pairwise(view.commands))
    return {
        "commands_failed": failed,
        "failed_share": failed / len(known) if known else None,
        "error_followed_up": followed / failed if failed else None,
    }


def _repeats(view: TranscriptView) -> dict[str, Any]:
    changing = {action.call for action in view.actions if action.kind in _CHANGING}
    seen: set[str] = set()
    repeated = run = longest = 0
    before: str | None = None
    for ordinal, command in enumerate(view.commands):
        repeated += command.text in seen
        run = run + 1 if command.text == before else 1
        longest = max(longest, run)
        before = command.text
        if ordinal in changing:
            seen.clear()
        seen.add(command.text)
    return {"commands_repeated": repeated, "longest_repeat_run": longest}
