"""mini-swe-agent trajectories: 1.1 (tool calls), 1.0 (text actions) and the old bare list of messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rubrics.ingest.chat import chat_turns, commands_in, is_chat
from rubrics.ingest.claims import claims_of
from rubrics.ingest.extra import Extra
from rubrics.ingest.items import Attempt, Item, Source
from rubrics.ingest.names import folder_run, stem
from rubrics.ingest.patches import is_diff, read_patch
from rubrics.ingest.turns import token_sums
from rubrics.ingest.values import Ignored, Row, inside, plain_text, text_or_none

HARNESS = "mini-swe-agent"

_INFO = ("config", "mini_version", "model_stats", "exit_status", "submission")
_SUBMIT = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")


def mini_swe_agent_marks(document: Row) -> list[str]:
    """The marks of a trajectory: its own tag, or messages that are a chat beside an `info` of the agent's."""
    if "messages" not in document:
        return []
    tag, chat = text_or_none(document, "trajectory_format"), is_chat(document["messages"])
    tagged = [f"`trajectory_format` {tag[:40]}"] if tag and tag.startswith("mini-swe-agent") else []
    told = [f"`info.{key}`" for key in _INFO if key in inside(document, "info")]
    if not tagged and not (chat and told):
        return []
    return [*tagged, *(["`messages` of roles"] if chat else []), *told]


def read_mini_swe_agent(document: Row, source: Source, trust_recorded: bool = False) -> Iterator[Item]:
    """A trajectory with `info` and `messages`."""
    messages = document.get("messages")
    if not is_chat(messages):
        raise source.wrong("`messages` that is no list of messages with roles", "a chat", "Correct `messages`.")
    info = inside(document, "info")
    final = inside(messages[-1], "extra") if messages[-1]["role"] == "exit" else {}
    submission = info.get("submission", final.get("submission"))
    status = text_or_none(info, "exit_status") or text_or_none(final, "exit_status")
    task_id = text_or_none(document, "instance_id") or stem(source.file)
    policy = text_or_none(inside(inside(info, "config"), "model"), "model_name")
    extra = Extra(source)
    extra.add("model_stats", info.get("model_stats"))
    extra.add("mini_version", info.get("mini_version"))
    given = "submission" in info or "submission" in final
    measured, claims = claims_of({**document, **info}, source, HARNESS, trust_recorded)
    yield from claims
    for item in _attempt(messages, source, task_id, policy, submission, status, given=given):
        yield replace(item, extra=extra.text, measured=measured) if isinstance(item, Attempt) else item


def read_bare_chat(messages: list[dict[str, Any]], source: Source) -> Iterator[Item]:
    """The old form: only the messages. The submission is the last user message, where a command submitted."""
    yield from _attempt(messages, source, stem(source.file), None, None, None)


def is_bare_chat(value: object) -> bool:
    """Whether the value is a chat of the old form: some command submitted, or some answer gives a return code."""
    return is_chat(value) and any(
        plain_text(message.get("content")).lstrip().startswith("<returncode>")
        if message["role"] == "user"
        else message["role"] == "assistant" and any(mark in plain_text(message.get("content")) for mark in _SUBMIT)
        for message in value
    )


def _attempt(
    messages: list[dict[str, Any]],
    source: Source,
    task_id: str,
    policy: str | None,
    submission: object,
    status: str | None,
    *,
    given: bool = False,
) -> Iterator[Item]:
    text_actions = not any(message.get("tool_calls") for message in messages)
    if text_actions and _submits(messages):
        final = plain_text(messages[-1].get("content"))
        submission = submission if submission is not None else final
        status = status or "Submitted"
        messages = messages[:-1]
    patch, ignored = read_patch(submission, source, status, null_is_none=given), Ignored()
    turns = chat_turns(messages, text_actions=text_actions, ignored=ignored)
    sent, received = token_sums(turns)
    yield Attempt(
        task_id, folder_run(source.file, task_id), HARNESS, source, policy=policy, patch=patch.text,
        written=patch.written, turns=turns, exit_status=status or patch.exit_status, input_tokens=sent,
        output_tokens=received, own_file=True,
    )  # fmt: skip
    yield from (*patch.notes, *ignored.notes(source))


def _submits(messages: list[dict[str, Any]]) -> bool:
    """Whether the last message is what the submitting command put out: the exit message of the old form."""
    if len(messages) < 2 or messages[-1]["role"] != "user" or messages[-2]["role"] != "assistant":
        return False
    commands = commands_in(plain_text(messages[-2].get("content")))
    final = plain_text(messages[-1].get("content"))
    return any(marker in command for marker in _SUBMIT for command in commands) and (
        is_diff(final) or not final.lstrip().startswith("<returncode>")
    )
