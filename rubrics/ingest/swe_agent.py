"""SWE-agent `.traj` files in all their dialects: thought and action, XML, function calling, history alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from rubrics import jsonio
from rubrics.ingest.chat import is_chat
from rubrics.ingest.claims import claims_of
from rubrics.ingest.documents import storable
from rubrics.ingest.extra import Extra
from rubrics.ingest.items import Attempt, Item, Note, Source
from rubrics.ingest.names import folder_run, stem
from rubrics.ingest.patches import read_patch
from rubrics.ingest.turns import DEMONSTRATION, TranscriptBuilder, command_call, tool_calls_of
from rubrics.ingest.values import Fields, Row, inside, plain_text, text_or_none
from rubrics.records.rollouts import ToolCall, Turn

HARNESS = "swe-agent"

_STEP = ("observation", "response", "thought", "state")
_MESSAGE = ("agent", "message_type", "is_demo", "thought", "action")
_READ_OR_COPIED = frozenset({"exit_status", "submission", "edited_files30", "edited_files50", "edited_files70"})
"""Of `info`: what is read, and excerpts of the patched files."""
_INFO = ("exit_status", "submission", "model_stats")


def swe_agent_marks(document: Row) -> list[str]:
    """The marks of a `.traj` document; none when neither its steps nor its history are SWE-agent's."""
    if "trajectory" not in document and "history" not in document:
        return []
    steps, history, info = document.get("trajectory"), document.get("history"), inside(document, "info")
    stepped = is_steps(steps)
    told = is_chat(history) and any(mark in message for mark in _MESSAGE for message in history)
    if not stepped and (not told or steps):
        return []
    marks = ["`trajectory` of text actions"] if stepped else []
    marks += ["`history` of messages"] if is_chat(history) else []
    marks += [f"`info.{key}`" for key in _INFO if key in info]
    marks += ["`environment`"] if isinstance(document.get("environment"), str) else []
    return marks if told or len(marks) > 1 else []


def is_steps(value: object) -> bool:
    """Whether the value is a list of steps whose actions are text, as an agent at a shell takes them."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(step, Mapping) and isinstance(step.get("action"), str) for step in value)
        and any(mark in step for step in value for mark in _STEP)
    )


def read_swe_agent(document: Row, source: Source, trust_recorded: bool = False) -> Iterator[Item]:
    """One `.traj` document. The task is named by the document or its configuration, else by the file."""
    info = inside(document, "info")
    measured, claims = claims_of({**document, **info}, source, HARNESS, trust_recorded)
    config = _replay_config(document)
    status = text_or_none(info, "exit_status")
    submitted = info if "submission" in info else {"submission": document.get("model_patch")}
    patch = read_patch(submitted["submission"], source, status, null_is_none="submission" in info)
    yield from patch.notes
    named = text_or_none(document, "instance_id", "task_id")
    task_id = named or text_or_none(inside(config, "problem_statement"), "id", "instance_id") or stem(source.file)
    stats = inside(info, "model_stats")
    fields, extra = Fields(stats, source), _extra(document, source)
    turns, notes = _turns(document, source)
    yield from (*claims, *notes)
    sent, received = fields.count("tokens_sent"), fields.count("tokens_received")
    yield Attempt(
        task_id, folder_run(source.file, stem(source.file)), HARNESS, source,
        policy=text_or_none(inside(inside(config, "agent"), "model"), "name")
        or text_or_none(document, "model_name_or_path"), patch=patch.text,
        written=patch.written, turns=turns, exit_status=status or patch.exit_status,
        input_tokens=sent or None, output_tokens=received or None, extra=extra.text, own_file=True, measured=measured,
    )  # fmt: skip
    yield from fields.notes
    yield from extra.notes()


def step_turns(steps: list[Row]) -> tuple[Turn, ...]:
    """Turns of steps, each with its action and what came of it."""
    builder = TranscriptBuilder()
    for step in steps:
        builder.say("assistant", plain_text(step.get("response") or step.get("thought")), calls=_calls(step))
        if step.get("observation") is not None:
            builder.observe(plain_text(step["observation"]))
    return builder.turns()


def _turns(document: Row, source: Source) -> tuple[tuple[Turn, ...], list[Note]]:
    """Turns from `history`, which holds every message, and from `trajectory` what it lacks: answers to actions, of
    which most histories lack the last and those of several agents more, and the last action itself."""
    history, steps = document.get("history"), document.get("trajectory")
    steps = [_message(item, source) for item in steps] if isinstance(steps, list) else []
    if not isinstance(history, list) or not history:
        return step_turns(steps), []
    messages = [_message(item, source) for item in history]
    own = [message for message in messages if message.get("role") == "assistant" and not _is_demo(message)]
    places = _places(own, steps)
    turns = _from_history(messages, [{} if place is None else steps[place] for place in places])
    rest = steps[1 + max((place for place in places if place is not None), default=-1) :]
    if not own or places[-1] is not None:
        return turns + step_turns(rest), []
    if len(steps) == len(own) + 1:
        return turns + step_turns(steps[-1:]), []
    if len(steps) > len(own):
        detail = "`trajectory` has steps that do not go on from the answers in `history`; read by `history`"
        return turns, [source.note("steps_left_out", detail)]
    return turns, []


def _places(own: list[Row], steps: list[Row]) -> list[int | None]:
    """The step that each answer of the model is, in order; null for an answer that became no step."""
    places: list[int | None] = []
    following = 0
    for message in own:
        step = steps[following] if following < len(steps) else {}
        said = plain_text(step.get("response") or step.get("thought"))
        same = bool(step) and (
            message.get("action") == step.get("action") or plain_text(message.get("content")) == said
        )
        places.append(following if same else None)
        following += same
    return places


def _extra(document: Row, source: Source) -> Extra:
    """Agent names where there are several, what each step took and left, the model's cost and calls, versions."""
    extra = Extra(source)
    history, steps = document.get("history"), document.get("trajectory")
    spoken = [
        item.get("agent") for item in history or () if isinstance(item, Mapping) and item.get("role") == "assistant"
    ]
    extra.add("agents", spoken if len(set(map(str, spoken))) > 1 else None)
    for key in ("execution_time", "state"):
        values = [step.get(key) for step in steps or () if isinstance(step, Mapping)] if isinstance(steps, list) else []
        extra.add(key, values if any(value not in (None, "", "{}", {}) for value in values) else None)
    extra.add("environment", document.get("environment"))
    extra.add_all(inside(document, "info"), _READ_OR_COPIED)
    return extra


def _from_history(history: list[Row], steps: list[Row]) -> tuple[Turn, ...]:
    """Turns of the messages; `steps` are those of the model's own answers, empty for one that became none. What a
    message lacks is taken from its step: the action, and the observation where nothing answers it."""
    builder = TranscriptBuilder()
    of_own = iter(steps)
    flags: tuple[str, ...] = ()
    speaker: object = None
    step: Row = {}
    for message in history:
        role, before = message.get("role"), flags
        text = plain_text(message.get("content"))
        flags = (DEMONSTRATION,) if _is_demo(message) else ()
        # Of several agents, what one is told after another acted is no answer to that action.
        to_speaker = message.get("agent") in (None, speaker) or speaker is None
        if role == "assistant":
            _observe(builder, step)
            speaker, step = message.get("agent"), {} if flags else next(of_own, {})
            reasoning = text_or_none(message, "reasoning_content")
            builder.say("assistant", text, reasoning=reasoning, calls=_calls(message) or _calls(step), flags=flags)
        elif role == "tool" or (role == "user" and flags == before and to_speaker and builder.awaits_answer):
            builder.observe(text)
        else:
            _observe(builder, step)
            builder.say("system" if role == "system" else "user", text, flags=flags)
    _observe(builder, step)
    return builder.turns()


def _observe(builder: TranscriptBuilder, step: Row) -> None:
    """The step's observation, where the model's last turn has none."""
    if builder.unanswered and step.get("observation") is not None:
        builder.observe(plain_text(step["observation"]))


def _is_demo(message: Row) -> bool:
    return message.get("is_demo") in (True, "True", "true")


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
