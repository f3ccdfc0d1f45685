"""Splits what an agent typed into simple commands. It reads shell as agents write it; it is no shell.

Covered: chains, pipes, quotes, redirections, heredocs, line continuations, assignments and wrappers before a command.
Not covered: functions, loops and substitutions, whose words are read as plain commands.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LONGEST = 20_000
_LONGEST_WITH_HEREDOCS = 400_000
_MOST_HEREDOCS = 100

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


class Simple(NamedTuple):
    """One simple command."""

    words: tuple[str, ...]
    """Unquoted; assignments, wrappers (`sudo`, `timeout 60`) and redirections of output left out. Never empty."""
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
    text = text[:_LONGEST_WITH_HEREDOCS]
    if "<<" in text:
        text = _take_heredocs(text, bodies)
    if "#" in text:
        text = _COMMENT.sub("", text)
    text = text[:LONGEST]
    quoted = "'" in text or '"' in text or "\\" in text
    commands: list[Simple] = []
    words: list[str] = []
    target: str | None = None
    appends = piped = False
    pending = ""
    heredocs = iter(bodies)
    body: str | None = None
    for separator, redirect, word, _ in _TOKEN.findall(text):
        if word:
            if not pending:
                words.append(_plain(word) if quoted else word)
            elif pending.endswith(">") and pending[0] != "2":
                target, appends = _plain(word), pending.endswith(">>")
            pending = ""
        elif redirect:
            if redirect == "<<":
                body = next(heredocs, None)
            else:
                pending = "" if "&" in redirect[1:] or redirect == "<" else redirect
        elif separator:
            _finish(commands, words, target, appends, body, piped)
            words, target, appends, body, pending, piped = [], None, False, None, "", separator == "|"
    _finish(commands, words, target, appends, body, piped)
    return commands


def _finish(
    commands: list[Simple], words: list[str], target: str | None, appends: bool, body: str | None, piped: bool
) -> None:
    start = 0
    while start < len(words) and (words[start] in _WRAPPERS or _is_assignment(words[start])):
        start += 2 if words[start] == "timeout" else 1
    if start < len(words):
        target = None if target == "/dev/null" else target
        commands.append(Simple(tuple(words[start:] if start else words), target, appends, body, piped))


def _is_assignment(word: str) -> bool:
    return "=" in word and _ASSIGNMENT.match(word) is not None


def _plain(word: str) -> str:
    mark = word[0]
    if mark in "\"'" and word[-1] == mark and mark not in (inner := word[1:-1].replace('\\"', "")):
        return inner if mark == "'" else word[1:-1].replace('\\"', '"')
    if "'" in word or '"' in word:
        word = word.replace("'", "").replace('"', "")
    return word.replace("\\", "") if "\\" in word else word


def _take_heredocs(text: str, bodies: list[str]) -> str:
    """The text without the bodies of its heredocs, which are put into `bodies`; each leaves a bare `<<`."""
    kept: list[str] = []
    at = 0
    for match in _HEREDOC.finditer(text):
        if match.start() < at:
            continue
        line_end = text.find("\n", match.end())
        end = _terminator(text, match[2], line_end) if line_end >= 0 else -1
        if end >= 0:
            bodies.append(text[line_end + 1 : end])
            kept.append(f"{text[at : match.start()]} << {text[match.end() : line_end]}\n")
            following = text.find("\n", end)
            at = following + 1 if following >= 0 else len(text)
        elif len(kept) >= _MOST_HEREDOCS:
            break
        else:
            kept.append(text[at : match.end()])
            at = match.end()
    return "".join(kept) + text[at:]


def _terminator(text: str, word: str, at: int) -> int:
    """Where the line that holds nothing but the word begins, from the line end `at` on; -1 without one."""
    for _ in range(_MOST_HEREDOCS):
        found = text.find(word, at + 1)
        if found < 0:
            return -1
        line_start = text.rfind("\n", 0, found) + 1
        line_end = text.find("\n", found)
        if text[line_start : line_end if line_end >= 0 else len(text)].strip() == word:
            return line_start
        at = found
    return -1
