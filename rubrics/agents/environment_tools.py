"""Tools that look into an open environment. What they show is untrusted, fenced, bounded, and numbered as `run:<n>`."""

from __future__ import annotations

import math
import re
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rubrics.agents.arguments import Arguments, tool
from rubrics.agents.conversation import COMMAND_SECONDS, Handled, ToolRefusal
from rubrics.agents.fenced import fenced
from rubrics.agents.windows import middle_cut, page
from rubrics.environments.session import CommandResult, Session
from rubrics.records.judgements import Ran
from rubrics.records.models import Tool
from rubrics.visible import defused

SHOWN = 16_000
"""Characters of output that one call shows."""
LOOK_SECONDS = 30.0
"""Seconds that reading, listing and searching may take."""
ABSENT = 66
"""Exit code of a look at what is no file."""
LINES = 400
"""Lines that one call of `read_file` shows unless asked for fewer."""

RUN = tool(
    "run_command",
    "Run a shell command in the environment, in the repository's folder. There is no network. Each command is a shell "
    "of its own: only files stay. Its result is numbered, and evidence may point to it as run:<number>.",
    {"command": "Shell command; it has a limit of time, two minutes as a rule."},
)
READ = tool(
    "read_file",
    f"Lines of a file in the environment, with line numbers; at most {LINES} lines a call.",
    {"path": "Path, absolute or from the repository's folder."},
    {"first_line": "integer: First line, from 1.", "last_line": "integer: Last line."},
)
LIST = tool(
    "list_files",
    "Files and folders (with / at the end) below a folder of the environment, two levels deep.",
    {},
    {"path": "Folder, absolute or from the repository's folder; the repository's folder when left out."},
)
SEARCH = tool(
    "search",
    "Lines of files in the environment that hold a text, as path:line:text; .git and binary files are left out.",
    {"pattern": "Plain text."},
    {"path": "File or folder to search; the repository's folder when left out."},
)
OFFERED = (RUN, READ, LIST, SEARCH)
"""In the order in which `environment_tools` gives them."""


@dataclass(slots=True)
class Looks:
    """What was run in one environment, in order; `run:<n>` is the n-th, from 0."""

    ran: list[Ran] = field(default_factory=list)

    def add(self, command: str, output: str) -> str:
        """Record one, its output as the model sees it, and return its number as evidence names it."""
        self.ran.append(Ran(command, defused(output)))
        return f"run:{len(self.ran) - 1}"


@dataclass(frozen=True, slots=True)
class _Room:
    """An open environment, what was run in it, when (on the monotonic clock) all ends, and a command's limit."""

    session: Session
    looks: Looks
    until: float
    seconds: float

    def run(self, command: str, seconds: float) -> CommandResult:
        left = self.until - time.monotonic()
        if left <= 0:
            raise ToolRefusal("the time is used up; submit now")
        return self.session.run(command, min(seconds, left))


def environment_tools(
    session: Session, looks: Looks, until: float = math.inf, seconds: float = COMMAND_SECONDS
) -> tuple[Handled, ...]:
    """`run_command`, `read_file`, `list_files`, `search` in one environment, for one conversation.

    A command may take `seconds`, and none runs beyond `until` (monotonic clock). Handlers raise `InfraError` when the
    environment breaks.
    """
    room = _Room(session, looks, until, seconds)
    works = (_run, _read, _list, _search)
    return tuple(Handled(offered, _handler(room, offered, work)) for offered, work in zip(OFFERED, works, strict=True))


def _handler(room: _Room, offered: Tool, work: Callable[[_Room, Arguments], str]) -> Callable[[Mapping[str, Any]], str]:
    return lambda values: work(room, Arguments(offered, values))


def _run(room: _Room, arguments: Arguments) -> str:
    command = arguments.text("command")
    return _shown(room, command, room.run(command, room.seconds))


def _read(room: _Room, arguments: Arguments) -> str:
    path = arguments.text("path")
    first = max(1, arguments.number("first_line", 1) or 1)
    last = min(arguments.number("last_line") or first + LINES - 1, first + LINES - 1)
    if last < first:
        raise ToolRefusal(f"last_line {last} is before first_line {first}")
    name = shlex.quote(_path(path))
    lines = f"{{ tail -n +{first} < {name} | head -n {last - first + 2}; }} 2>/dev/null | head -c {4 * SHOWN + 1}"
    done = room.run(f"[ -f {name} ] || exit {ABSENT}\nwc -c < {name}\n{lines}", LOOK_SECONDS)
    command = f"read_file {path} {first}-{last}"
    if done.exit_code != 0 or done.limit is not None:
        absent = done.exit_code == ABSENT and not done.output
        return _shown(room, command, replace(done, output="there is no such file\n") if absent else done)
    return _numbered(room, command, done.output, first, last - first + 1)


def _numbered(room: _Room, command: str, output: str, first: int, wanted: int) -> str:
    """Lines under their numbers; what came may be cut where it has more than `SHOWN` characters."""
    size, _, text = output.partition("\n")
    found = text.removesuffix("\n").split("\n") if text else []
    if len(text) > SHOWN:
        found = [*found[:-1], ""] if len(found) > 1 else [found[0][:SHOWN], ""]
    lines, following = page(found[:wanted], 0, wanted, SHOWN)
    body = "\n".join(f"{first + place}: {line}" for place, line in enumerate(lines))
    number = room.looks.add(command, body)
    more = f"; it goes on, next is first_line={first + following}" if following < len(found) else "; that is its end"
    # A program of the environment counted: what it says stands in our own words only if it is a number.
    counted = size.strip() if re.fullmatch("[0-9]{1,15}", size.strip()) else "uncounted"
    said = f"{number}, {counted} bytes in all, {len(lines)} lines from line {first}{more}"
    return f"{said}\n{fenced(_label(number), body)}" if lines else said


def _list(room: _Room, arguments: Arguments) -> str:
    path = arguments.text("path", ".")
    marked = "-type d -exec printf '%s/\\n' {} + -o -print"
    found = f"find {shlex.quote(_path(path))} -maxdepth 2 -name .git -prune -o {marked}"
    return _shown(room, f"list_files {path}", room.run(f"{found} 2>&1 | sort", LOOK_SECONDS))


def _search(room: _Room, arguments: Arguments) -> str:
    pattern, path = arguments.text("pattern"), arguments.text("path", ".")
    if not pattern:
        raise ToolRefusal("the pattern of search is empty")
    grep = f"grep -nHIF -e {shlex.quote(pattern)} --"
    found = f"find {shlex.quote(_path(path))} -name .git -prune -o -type f -exec {grep} {{}} +"
    done = room.run(f"{{ {found} 2>&1 | cut -c 1-400; }} 2>/dev/null | head -n 1000", LOOK_SECONDS)
    return _shown(room, f"search {pattern!r} {path}", done)


def _path(path: str) -> str:
    """A path that no program takes for an option."""
    return f"./{path}" if path.startswith("-") else path or "."


def _shown(room: _Room, command: str, done: CommandResult) -> str:
    """The result as the model sees it: how it ended, and its output, cut in the middle where it is long."""
    cut = middle_cut(done.output, SHOWN)
    number = room.looks.add(command, cut.head + (f"\n[...]\n{cut.tail}" if cut.left_out else ""))
    lines = [f"{number}, {_ended(done)}" + ("" if done.output else ", no output")]
    if done.truncated:
        lines.append("It printed more than can be kept: output is missing in its middle.")
    if cut.head:
        lines.append(fenced(_label(number), cut.head))
    if cut.left_out:
        lines.append(
            f"{cut.left_out} characters left out here (lines {cut.first_line} to {cut.last_line}). To see them, print "
            f"a part: <command> | sed -n '{cut.first_line},{cut.first_line + 99}p'"
        )
        lines.append(fenced(_label(number), cut.tail))
    return "\n".join(lines)


def _label(number: str) -> str:
    return number.replace(":", " ")


def _ended(done: CommandResult) -> str:
    if done.limit is not None:
        return f"ended by its limit of {done.limit}"
    return f"exit code {done.exit_code}"
