"""Splits what an agent typed into simple commands. It reads shell as agents write it; it is no shell.

Covered: chains, pipes, quotes, redirections, heredocs, line continuations, assignments and wrappers before a command.
Not covered: functions, loops and substitutions, whose words are read as plain commands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 20_000

_TOKEN = re.compile(
    r"""[ \t]*+(?:\\\n)*+(?:(\n|&&|\|\||;|\||&(?!>))|((?:\d|&)?>{1,2}(?:&\d)?|<<<|<(?!<)|<<)|"""
    r"""((?:[^\s&|;<>'"\\]|'[^']*+'?|"(?:[^"\\]|\\.)*+"?|\\.)++)|(.))""",
    re.DOTALL,
)
_HEREDOC = re.compile(r"<<-?[ \t]*+(['\"]?)([A-Za-z_]\w*+)\1")
_COMMENT = re.compile(r"^[ \t]*+#[^\n]*+", re.MULTILINE)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*+=")
_WRAPPERS = frozenset(
    {"sudo", "time", "env", "nohup", "command", "exec", "timeout", "then", "do", "else", "{", "(", "!"}
)


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command."""

    words: tuple[str, ...]
    """Unquoted; assignments, wrappers (`sudo`, `timeout 60`) and redirections left out. Never empty."""
    target: str | None
    """File that its output goes to."""
    appends: bool
    body: str | None
    """Text of its heredoc."""
    piped: bool
    """Whether it reads what the command before it writes."""


def split(text: str) -> list[Simple]:
    """The simple commands of a text, in order."""
    bodies: list[str] = []
    if "<<" in text:
        text = _take_heredocs(text, bodies)
    if "#" in text:
        text = _COMMENT.sub("", text)
    commands: list[Simple] = []
    words: list[str] = []
    target: str | None = None
    appends = piped = False
    pending = ""
    heredocs = iter(bodies)
    body: str | None = None
    for separator, redirect, word, _ in _TOKEN.findall(text[:LONGEST]):
        if word:
            if not pending:
                words.append(word)
            elif pending.endswith(">") and pending[0] != "2":
                target, appends = _plain(word), pending.endswith(">>")
            pending = ""
        elif redirect:
            if redirect == "<<":
                body = next(heredocs, None)
            else:
                pending = "" if "&" in redirect[1:] else redirect
        elif separator:
            _finish(commands, words, target, appends, body, piped)
            words, target, appends, body, pending, piped = [], None, False, None, "", separator == "|"
    _finish(commands, words, target, appends, body, piped)
    return commands


def _finish(
    commands: list[Simple], words: list[str], target: str | None, appends: bool, body: str | None, piped: bool
) -> None:
    start = 0
    while start < len(words) and (words[start] in _WRAPPERS or _ASSIGNMENT.match(words[start])):
        start += 2 if words[start] == "timeout" else 1
    if words[start:]:
        if target == "/dev/null":
            target = None
        commands.append(Simple(tuple(map(_plain, words[start:])), target, appends, body, piped))


def _plain(word: str) -> str:
    if "'" in word or '"' in word:
        word = word.replace("'", "").replace('"', "")
    return word.replace("\\", "") if "\\" in word else word


def _take_heredocs(text: str, bodies: list[str]) -> str:
    """The text without the bodies of its heredocs, which are put into `bodies`; each leaves a bare `<<`."""
    lines = text.split("\n")
    last = {line.strip(): number for number, line in enumerate(lines)}
    kept: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        match = _HEREDOC.search(line) if "<<" in line else None
        if match is None or last.get(match[2], -1) < number:
            kept.append(line)
            continue
        end = number
        while lines[end].strip() != match[2]:
            end += 1
        bodies.append("\n".join(lines[number:end]))
        kept.append(f"{line[: match.start()]} << {line[match.end() :]}")
        number = end + 1
    return "\n".join(kept)
