"""SWE-agent `.traj` files in all their dialects: thought and action, XML, function calling, history alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from rubrics import jsonio
from rubrics.ingest.documents import storable
from rubrics.ingest.items import Attempt, Item, Source
from rubrics.ingest.names import run_of_folder, stem
from rubrics.ingest.patches import read_patch
from rubrics.ingest.turns import DEMONSTRATION, TranscriptBuilder, assistant_turns, command_call, tool_calls_of
from rubrics.ingest.values import Row, count, inside, plain_text, text_or_none
from rubrics.records.rollouts import ToolCall, Turn

HARNESS = "swe-agent"


def read_swe_agent(document: Row, source: Source) -> Iterator[Item]:
    """One `.traj` document. The task is named by its configuration, else by the file."""
    info = inside(document, "info")
    config = _replay_config(document)
    status = text_or_none(info, "exit_status")
    patch = read_patch(info.get("submission"), source, status)
    yield from patch.notes
    task_id = text_or_none(inside(config, "problem_statement"), "id", "instance_id") or stem(source.file)
    stats = inside(info, "model_stats")
    sent, received = count(stats.get("tokens_sent")), count(stats.get("tokens_received"))
    yield Attempt(
        task_id, run_of_folder(source.file, stem(source.file)), HARNESS, source,
        policy=text_or_none(inside(inside(config, "agent"), "model"), "name"), patch=patch.text,
        turns=_turns(document, source), exit_status=status or patch.exit_status,
        input_tokens=sent or None, output_tokens=received or None,
    )  # fmt: skip


def _turns(document: Row, source: Source) -> tuple[Turn, ...]:
    """Turns from `history`, which holds every message, else from `trajectory`, which holds the actions alone."""
    history, steps = document.get("history"), document.get("trajectory")
    if isinstance(history, list) and history:
        turns = _from_history([_message(item, source) for item in history])
        if isinstance(steps, list) and len(steps) == assistant_turns(turns) + 1:
            turns += _from_steps([_message(steps[-1], source)])  # the submitting action, which some histories lack
        return turns
    if not isinstance(steps, list):
        raise source.wrong("neither `history` nor `trajectory` as a list", "one of them", "Correct the file.")
    return _from_steps([_message(item, source) for item in steps])


def _from_history(history: list[Row]) -> tuple[Turn, ...]:
    builder = TranscriptBuilder()
    flags: tuple[str, ...] = ()
    for message in history:
        role, before = message.get("role"), flags
        text = plain_text(message.get("content"))
        flags = (DEMONSTRATION,) if message.get("is_demo") in (True, "True", "true") else ()
        if role == "assistant":
            reasoning = text_or_none(message, "reasoning_content")
            builder.say("assistant", text, reasoning=reasoning, calls=_calls(message), flags=flags)
        elif role == "tool" or (role == "user" and flags == before and builder.awaits_answer):
            builder.observe(text)
        else:
            builder.say("system" if role == "system" else "user", text, flags=flags)
    return builder.turns()


def _from_steps(steps: list[Row]) -> tuple[Turn, ...]:
    builder = TranscriptBuilder()
    for step in steps:
        builder.say("assistant", plain_text(step.get("response") or step.get("thought")), calls=_calls(step))
        if step.get("observation") is not None:
            builder.observe(plain_text(step["observation"]))
    return builder.turns()


def _calls(message: Row) -> tuple[ToolCall, ...]:
    """Function calls where the model made them, else the text action."""
    if message.get("tool_calls"):
        return tool_calls_of(message["tool_calls"])
    action = message.get("action")
    return (command_call(action),) if isinstance(action, str) and action.strip() else ()


def _replay_config(document: Row) -> Row:
    """The configuration of the run, which some versions write as JSON inside a string."""
    value = document.get("replay_config")
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = storable(jsonio.loads(value))
    return value if isinstance(value, Mapping) else {}


def _message(item: object, source: Source) -> Row:
    if not isinstance(item, Mapping):
        raise source.wrong(f"a message that is {type(item).__name__}", "an object", "Correct the file.")
    return item
