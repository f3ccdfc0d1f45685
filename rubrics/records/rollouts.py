"""Rollouts and their transcripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One action of the agent. A text action (a fenced command, a SWE-agent command) is a call too."""

    name: str
    """Tool as the agent named it; `bash` for a plain shell command or a SWE-agent text action."""
    arguments: Mapping[str, Any] | None
    """Parsed arguments; null when the agent's text could not be parsed (then the turn is flagged)."""
    raw: str
    """Arguments exactly as written."""
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One position of a transcript. What a tool answered is the `observation` of the turn that called it."""

    role: str
    """`system`, `user` or `assistant`; tool replies are folded into the assistant turn before them."""
    text: str
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    observation: str | None = None
    """Output of the turn's calls, joined by newlines; null when no answer was recorded."""
    exit_code: int | None = None
    """Exit code of the turn's last command; null when the dump does not say."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    flags: tuple[str, ...] = ()
    """Of `malformed_call`, `truncated_observation`, `demonstration`."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """One attempt at a task. Identity never depends on a path."""

    rollout_id: str
    """128-bit digest (32 hex digits) of task, policy, run, policy_step, attempt, patch, transcript."""
    content_digest: str
    """128-bit digest of patch and transcript: equal digests are duplicates."""
    transcript_digest: str | None
    """128-bit digest of the transcript; null without one."""
    task_id: str
    group_id: str
    """128-bit digest of task, the dump's own group or else policy step, and policy with `--group-by task,policy`."""
    policy: str | None
    """Model or agent that made the attempt."""
    policy_step: int | None
    """Training step of the policy; null outside training."""
    run: str
    """The dump's own name for the run (folder, experiment, uid)."""
    attempt: int
    """The dump's index, else the ordinal within (task, policy, run, policy_step); from 0."""
    harness: str
    """Form it was read from: `mini-swe-agent`, `swe-agent`, `aider`, `predictions`, `native`."""
    patch: str | None
    """Final change as a unified diff; `""` when the attempt changed nothing, null when not known."""
    turns: tuple[Turn, ...] | None
    """Transcript; null when the dump holds none."""
    exit_status: str | None
    n_turns: int | None
    """Number of assistant turns; null without a transcript."""
    input_tokens: int | None
    output_tokens: int | None
    snapshot: str | None
    """Saved image or snapshot of the attempt's final state."""
    duplicate_of: str | None
    """rollout_id of the first rollout of the same task with the same content; null for that first one."""
    source: str
    """File (and key or line) that it was read from, relative to the dump."""
    extra: str | None = None
    """JSON object of what the dump says beyond these fields (cost, agent names, ...); null when nothing. Part of no
    id."""
    source_id: str | None = None
    """The dump's own id of the attempt; null when it gives none. Part of no id."""
    source_group: str | None = None
    """The dump's own name of the group, which other tasks may use too; null when it gives none."""


def of_patch(task_id: str, patch: str) -> Rollout:
    """A rollout that stands for a state of a task rather than for an attempt: nothing but a patch."""
    return Rollout(
        "", "", None, task_id, "", None, None, "", 0, "", patch, None, None, None, None, None, None, None, ""
    )
