"""Tells what the agent did, turn by turn: a closed set of kinds, whatever the tools were called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rubrics.facts import tools
from rubrics.facts.commands import ActionKind, classify
from rubrics.facts.lexing import has_any
from rubrics.facts.shell import Simple, split
from rubrics.records.rollouts import Turn

DEMONSTRATION = "demonstration"

_ROOT = re.compile(r"(?:/(?:testbed|repo|app|workspace/[^/]+|home/[^/]+/[^/]+|[\w.-]+__[\w.-]+)/|(?:\./)+)")
_OPENED_TO_WRITE = re.compile(r"""open\([ ]?['"]([^'"\n]{1,300})['"], ?(?:mode=)?['"][wa]b?\+?['"]""")
_WRITES = re.compile(
    r"""open\([^()\n]{1,300}, ?(?:mode=)?['"][wa]b?\+?['"]|\.write_text\(|\.writelines\(|\bfileinput\b"""
)
_LITERAL_PATH = re.compile(r"""['"]((?:[\w.@+-]{1,100}/|/)[\w./@+-]{1,300}\.\w{1,9})['"]""")
_NETWORK = re.compile(r"\burllib\.request\b|\brequests\.(?:get|post)\(|\burlopen\(|\bhttpx\.")
_NETWORK_HINTS = ("urllib.request", "requests.", "urlopen(", "httpx.")
_PATCHED = re.compile(r"^\+\+\+ (?:b/)?([^\s]{1,300})", re.MULTILINE)
_BODY = 50_000
_PATH_LENGTH = 300


class Action(NamedTuple):
    """One thing the agent did. A call may hold several."""

    turn: int
    """Index of the turn in the transcript."""
    call: int
    """Ordinal of the call, from 0, demonstrations left out."""
    kind: ActionKind
    paths: tuple[str, ...]
    """Files it names, relative to the repository where that can be told."""
    head: str
    """The command's or tool's own name."""
    command: str
    """Its words, joined by blanks; cut at 500 characters."""
    last: bool
    """Whether it is the last action of its turn: the recorded exit code is its own."""


class Command(NamedTuple):
    """One call of a tool."""

    turn: int
    text: str
    """The shell command, else the tool's name and its arguments as written."""
    failed: bool | None
    """Whether it ended with a non-zero exit code; null when that was not recorded, or not for this call."""
    malformed: bool


def actions(turns: Iterable[Turn]) -> tuple[Action, ...]:
    """Every action of the transcript, in order."""
    return read_calls(turns)[0]


def read_calls(turns: Iterable[Turn]) -> tuple[tuple[Action, ...], tuple[Command, ...]]:
    """Every action and every call of the transcript, in order."""
    reader = _Reader()
    for index, turn in enumerate(turns):
        if turn.tool_calls and DEMONSTRATION not in turn.flags:
            reader.read(index, turn)
    return tuple(reader.actions), tuple(reader.commands)


class _Reader:
    """Reads calls in order; remembers the open file, and what scripts and patches that it wrote would write."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.commands: list[Command] = []
        self._open = ""
        self._scripts: dict[str, tuple[str, ...]] = {}

    def read(self, index: int, turn: Turn) -> None:
        pending: list[tuple[ActionKind, tuple[str, ...], str, str]] = []
        ordinals: list[int] = []
        failed = None if turn.exit_code is None else turn.exit_code != 0
        for call in turn.tool_calls:
            text = tools.shell_text(call)
            if text is None:
                text = f"{call.name} {call.raw}".strip()
                self._tool(call.name, call.arguments or {}, pending)
            else:
                text = text.strip()
                self._shell(text, pending)
            ordinals += [len(self.commands)] * (len(pending) - len(ordinals))
            own = failed if call is turn.tool_calls[-1] else None
            self.commands.append(Command(index, text, own, call.arguments is None))
        last = len(pending) - 1
        self.actions += [
            Action(index, ordinals[place], kind, paths, head, command[:500], place == last)
            for place, (kind, paths, head, command) in enumerate(pending)
        ]

    def _tool(self, name: str, arguments: Mapping[str, Any], out: list[Any]) -> None:
        kind, path = tools.classify_call(name, arguments)
        path = relative(path)
        if kind in ("read", "create", "edit"):
            self._open = path or self._open
            path = self._open
        if kind == "create":
            self._remember(path, tools.written_text(arguments))
        out.append((kind, (path,) if path else (), name, f"{name} {path}".strip()))

    def _shell(self, text: str, out: list[Any]) -> None:
        swe = tools.swe_agent_text(text)
        if swe is not None:
            self._tool(*swe, out)
            return
        folder = ""
        for simple in split(text):
            head = simple.words[0]
            if head == "cd" and len(simple.words) > 1:
                folder = _folder(folder, simple.words[1])
                continue
            found = classify(simple)
            if found is not None:
                kind, paths = found
                names = tuple(_under(folder, path) for path in paths)
                kind, names = self._effect(kind, names, simple)
                out.append((kind, names, head.rpartition("/")[2], " ".join(simple.words)))

    def _effect(self, kind: ActionKind, paths: tuple[str, ...], simple: Simple) -> tuple[ActionKind, tuple[str, ...]]:
        """What a program or a written script comes to: running a script that writes files is an edit of them."""
        if kind in ("create", "edit") and simple.body is not None and paths:
            self._remember(paths[0], simple.body)
        if kind == "edit" and simple.words[0] in ("patch", "git"):
            inside = _PATCHED.findall(simple.body[:_BODY]) if simple.body is not None else []
            return kind, tuple(inside) or next((self._scripts[path] for path in paths if path in self._scripts), ())
        if kind != "run":
            return kind, paths
        if paths and paths[0] in self._scripts:
            return "edit", self._scripts[paths[0]]
        text = simple.body if simple.body is not None else " ".join(simple.words[1:])
        if has_any(text, _NETWORK_HINTS) and _NETWORK.search(text[:_BODY]) is not None:
            return "network", paths
        written = _written(text)
        return ("edit", written) if written is not None else (kind, paths)

    def _remember(self, path: str, body: str) -> None:
        if path.endswith((".patch", ".diff", ".txt")):
            written: tuple[str, ...] | None = tuple(_PATCHED.findall(body[:_BODY])) or None
        else:
            written = _written(body) if path.endswith((".py", ".sh", ".js", ".pl", ".rb")) else None
        if written is not None:
            self._scripts[path] = written
        else:
            self._scripts.pop(path, None)


def relative(path: str) -> str:
    """The path without the folder that holds the repository, where that can be told from its name."""
    path = path[:_PATH_LENGTH]
    match = _ROOT.match(path) if path[:1] in ("/", ".") else None
    return path[match.end() :] if match is not None else path


def _under(folder: str, path: str) -> str:
    return relative(path) if not folder or path[:1] in "/~" else f"{folder}/{relative(path)}"


def _folder(folder: str, target: str) -> str:
    if target[:1] in ("/", "~", "-", "$") or target in (".", "..", ""):
        inside = relative(target.rstrip("/") + "/").rstrip("/")
        return "" if inside[:1] in ("/", "~", "-", "$", ".") else inside
    return relative(f"{folder}/{target}".strip("/"))


def _written(body: str) -> tuple[str, ...] | None:
    """Files that a script's text writes; null when it writes none, empty when it cannot be told which."""
    body = body[:_BODY]
    if "sed -i" in body:
        found = [path for simple in split(body) for path in (classify(simple) or ("other", ()))[1]]
        return tuple(dict.fromkeys(map(relative, found)))
    if "open(" not in body and "write" not in body and "fileinput" not in body:
        return None
    if _WRITES.search(body) is None:
        return None
    found = _OPENED_TO_WRITE.findall(body) or _LITERAL_PATH.findall(body)
    return tuple(dict.fromkeys(map(relative, found)))
