"""The transcript as single commands: chains, pipes, substitutions and nested shells taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rubrics.facts import tools
from rubrics.facts.actions import DEMONSTRATION
from rubrics.facts.shell import Simple, split
from rubrics.records.rollouts import ToolCall, Turn

_INNER = re.compile(r"\$\(([^()]{3,2000})\)|`([^`]{3,2000})`|<\(([^()]{3,2000})\)")
_LISTED_GIT = re.compile(r"""[\[(][ ]?(['"])git\1,[^\])]{2,300}[\])]|(['"])(git [^'"\n]{2,300})\2""")
_NESTED = frozenset({"bash", "sh", "zsh", "eval", "ssh"})
_TOOL_HEADS = {"read": "cat", "search": "grep", "create": "tee", "edit": "tee", "network": "browse"}


class Step(NamedTuple):
    """One simple command, or one call of a tool that is no shell."""

    turn: int
    """Index in the stored transcript."""
    call: str
    """Text of the whole call it stands in."""
    words: tuple[str, ...]
    target: str | None
    body: str | None
    folder: str
    """Where an earlier `cd` of the same call went; empty without one."""
    piped: bool
    feeds: bool
    """Whether the next command reads what it writes."""

    @property
    def head(self) -> str:
        return self.words[0].rpartition("/")[2]

    @property
    def text(self) -> str:
        return " ".join(self.words)


def steps(turns: tuple[Turn, ...]) -> tuple[Step, ...]:
    """Every step of the transcript, demonstrations left out."""
    found: list[Step] = []
    for index, turn in enumerate(turns):
        if DEMONSTRATION not in turn.flags:
            for call in turn.tool_calls:
                found += _of_call(index, call)
    return tuple(found)


def _of_call(turn: int, call: ToolCall) -> Iterator[Step]:
    text = tools.shell_text(call)
    if text is None:
        kind, path = tools.classify_call(call.name, call.arguments or {})
        body = tools.written_text(call.arguments or {}) if kind in ("create", "edit") else None
        words = (_TOOL_HEADS.get(kind, call.name) or "tool", path or call.raw[:2_000])
        target = path if kind in ("create", "edit") else None
        yield Step(turn, f"{call.name} {call.raw}".strip(), words, target, body, "", False, False)
        return
    text = text.strip()
    swe = tools.swe_agent_text(text)
    if swe is not None:
        kind, path = tools.classify_call(*swe)
        if path:
            written = kind in ("create", "edit")
            head = _TOOL_HEADS.get(kind, swe[0])
            yield Step(turn, text, (head, path), path if written else None, text if written else None, "", False, False)
        return
    yield from _of_text(turn, text, text, "", 0)


def _of_text(turn: int, call: str, text: str, folder: str, depth: int) -> Iterator[Step]:
    commands = split(text)
    for place, simple in enumerate(commands):
        if simple.words[0] == "cd":
            folder = simple.words[1] if len(simple.words) > 1 else "~"
            continue
        feeds = place + 1 < len(commands) and commands[place + 1].piped
        simple = _without_xargs(simple)
        yield Step(turn, call, simple.words, simple.target, simple.body, folder, simple.piped, feeds)
        if depth < 2:
            for inner in _nested(simple):
                yield from _of_text(turn, call, inner, folder, depth + 1)
    if depth < 2:
        for match in _INNER.finditer(text[:20_000]):
            yield from _of_text(turn, call, match[1] or match[2] or match[3], folder, depth + 1)


def _without_xargs(simple: Simple) -> Simple:
    if simple.words[0] != "xargs":
        return simple
    words = list(simple.words[1:])
    while words and words[0][:1] == "-":
        words = words[2:] if words[0] in ("-I", "-n", "-P", "-L", "-d") else words[1:]
    return simple._replace(words=tuple(words)) if words else simple


def _nested(simple: Simple) -> Iterator[str]:
    """Shell text inside a command: `bash -c "..."`, and git called from a snippet of another language."""
    head = simple.words[0].rpartition("/")[2]
    if head in _NESTED and len(simple.words) > 1:
        if head == "eval" or "-c" in simple.words or "-lc" in simple.words:
            yield simple.words[-1]
        elif simple.body is not None:
            yield simple.body
        return
    snippet = simple.body if simple.body is not None else " ".join(simple.words[1:])
    if "git" in snippet and head.startswith(("python", "node", "ruby", "perl", "tee", "cat")):
        for match in _LISTED_GIT.finditer(snippet[:50_000]):
            yield match[3] or re.sub(r"""['",\[\]()]+""", " ", match[0]).strip()
