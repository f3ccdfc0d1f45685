"""Degradations: copies of a real attempt made worse in one named way, so that its score should fall.

Each is a function of an attempt and a seeded `Random` that gives the worse attempt, or null where the attempt has
nothing to take away or no place to put the fault. Patches are edited as text, so that what is measured is the
program's own reading of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random

from rubrics.facts.diffs import parse_patch
from rubrics.facts.paths import kind_of
from rubrics.facts.transcript_view import TranscriptView, view_transcript
from rubrics.records.rollouts import Turn


@dataclass(frozen=True, slots=True)
class Tried:
    """What a probe needs of an attempt."""

    patch: str
    turns: tuple[Turn, ...]


Probe = Callable[[Tried, Random], Tried | None]

_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$")
_NAMES = ("registry", "payload", "handler", "entries", "cursor", "scheme", "member", "window", "origin", "target")
_STATEMENT = re.compile(
    r"\s*(?:return\b|raise\b|continue$|break$|[\w.\[\]'\"]+(?:, [\w.]+)* = |[\w.]+\(.*\)$|import |from )"
)


def unrelated_file(tried: Tried, random: Random) -> Tried | None:
    """A function of another source file is rewritten."""
    changed = {file.path for file in parse_patch(tried.patch).files}
    read = {path for action in _view(tried).actions for path in action.paths if path.endswith(".py")}
    others = sorted(path for path in read - changed if kind_of(path, False) == "source" and path[0] not in "/~")
    if not others:
        return None
    path = random.choice(others)
    return replace(tried, patch=f"{_ended(tried.patch)}diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
                   + "\n".join(_rewrite(random, 40)) + "\n")  # fmt: skip


def unrelated_same_file(tried: Tried, random: Random) -> Tried | None:
    """A function far from the change, in a file of the change, is rewritten."""
    files = _files(tried.patch)
    place = next((i for i, lines in enumerate(files) if _source(lines)), None)
    if place is None:
        return None
    files[place] = [*files[place], *_rewrite(random, 4000)]
    return replace(tried, patch=_text(files))


def swallowed_exception(tried: Tried, random: Random) -> Tried | None:
    """A statement of the change is put into a `try` whose handler only passes."""
    handler = random.choice(("except Exception:", "except:", "except (KeyError, ValueError):"))

    def wrap(lines: list[str]) -> list[str]:
        indent = _indent(lines[0][1:])
        inner: list[str] = []
        for line in lines:
            inner += [f"-{line[1:]}"] if line[0] == " " else []
            inner.append(line if line[0] == "-" else f"+    {line[1:]}")
        return [f"+{indent}try:", *inner, f"+{indent}{handler}", f"+{indent}    pass"]

    return _at_statement(tried, random, wrap)


def debug_print(tried: Tried, random: Random) -> Tried | None:
    """A print stands before a statement of the change."""
    name = random.choice(_NAMES)

    def prefix(lines: list[str]) -> list[str]:
        return [f'+{_indent(lines[0][1:])}print("DEBUG {name}", locals())', *lines]

    return _at_statement(tried, random, prefix)


def scratch_file(tried: Tried, random: Random) -> Tried | None:
    """A script that was written to try something is part of the patch."""
    path = random.choice(("reproduce_issue.py", "test_fix.py", "debug.py", "fix_bug.py", "repro.py", "output.log"))
    body = ["import sys", "", "def main():", f"    print({random.choice(_NAMES)!r}, sys.path)", "", "main()"]
    head = [f"diff --git a/{path} b/{path}", "new file mode 100644", "--- /dev/null", f"+++ b/{path}",
            f"@@ -0,0 +1,{len(body)} @@"]  # fmt: skip
    return replace(tried, patch=_ended(tried.patch) + "\n".join([*head, *(f"+{line}" for line in body)]) + "\n")


def edited_test(tried: Tried, random: Random) -> Tried | None:
    """An assertion of an existing test asks for less than before."""
    changed = {file.path for file in parse_patch(tried.patch).files}
    named = {path for action in _view(tried).actions for path in action.paths if kind_of(path, False) == "test"}
    tests = sorted(path for path in named - changed if path.endswith(".py") and "/" in path and path[0] not in "/~")
    tests = tests or ["tests/test_base.py"]
    path, name = random.choice(tests), random.choice(_NAMES)
    line = random.randint(30, 400)
    before = f'        assert result["{name}"] == expected["{name}"]'
    after = random.choice((f'        assert result["{name}"]', f'        assert "{name}" in result'))
    hunk = [f"@@ -{line},5 +{line},5 @@ def test_{name}():", f"         result = load({name!r})",
            "         assert result", f"-{before}", f"+{after}", " ", f"     def test_{name}_again(self):"]  # fmt: skip
    head = [f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}"]
    return replace(tried, patch=_ended(tried.patch) + "\n".join([*head, *hunk]) + "\n")


def no_evidence(tried: Tried, random: Random) -> Tried | None:
    """What was read and searched before the first edit is gone from the transcript."""
    view = _view(tried)
    if view.first_edit is None:
        return None
    first = view.actions[view.first_edit].turn
    return _without(tried, view, lambda turn, kinds: turn < first and kinds <= {"read", "search", "list"})


def no_tests_after(tried: Tried, random: Random) -> Tried | None:
    """Tests that ran after the last edit are gone from the transcript."""
    view = _view(tried)
    if view.last_edit is None:
        return None
    last = view.actions[view.last_edit].turn
    return _without(tried, view, lambda turn, kinds: turn > last and "test" in kinds)


def no_checks_after(tried: Tried, random: Random) -> Tried | None:
    """Whatever ran after the last edit, tests, scripts and checkers, is gone from the transcript."""
    view = _view(tried)
    if view.last_edit is None:
        return None
    last = view.actions[view.last_edit].turn
    return _without(tried, view, lambda turn, kinds: turn > last and bool(kinds & {"test", "run", "check"}))


SOLUTION_PROBES: dict[str, Probe] = {
    probe.__name__: probe
    for probe in (
        unrelated_file, unrelated_same_file, swallowed_exception, debug_print, scratch_file, edited_test
    )
}  # fmt: skip
BEHAVIOR_PROBES: dict[str, Probe] = {probe.__name__: probe for probe in (no_evidence, no_tests_after, no_checks_after)}


def _view(tried: Tried) -> TranscriptView:
    return view_transcript(tried.turns, parse_patch(tried.patch))


def _without(tried: Tried, view: TranscriptView, dropped: Callable[[int, set[str]], bool]) -> Tried | None:
    """The attempt without the turns whose actions are to be dropped; null when that is none."""
    kinds: dict[int, set[str]] = {}
    for action in view.actions:
        kinds.setdefault(action.turn, set()).add(action.kind)
    doomed = {turn for turn, found in kinds.items() if dropped(turn, found)}
    kept = tuple(turn for place, turn in enumerate(view.turns) if place not in doomed)
    return replace(tried, turns=kept) if doomed else None


def _rewrite(random: Random, line: int) -> list[str]:
    """A hunk that replaces a function's body of 16 lines by another one of 20."""
    a, b, c = random.sample(_NAMES, 3)
    old = [f"{name} = self.{name}_of({random.choice((a, b))})" for name in _NAMES[:8]]
    old += [f"{c}.{name}.update({name})" for name in _NAMES[:8]]
    new = []
    for number, name in enumerate(random.sample(_NAMES, 10)):
        new += [f"for {name} in sorted({c}.{name}_list, key=len):", f"    {b}.append({name}, {number})"]
    lines = [*(f"-        {text}" for text in old), *(f"+        {text}" for text in new)]
    return [f"@@ -{line},18 +{line + 40},22 @@ class {c.title()}:", " ", *lines, f"         return {a}"]


def _at_statement(tried: Tried, random: Random, change: Callable[[list[str]], list[str]]) -> Tried | None:
    """The patch with one simple statement that the change touches made into other lines; hunk counts follow."""
    files = _files(tried.patch)
    places = [(i, j, k) for i, lines in enumerate(files) if _source(lines) for j, k in _statements(lines)]
    if not places:
        return None
    i, j, k = random.choice(places)
    files[i][j:k] = change(files[i][j:k])
    return replace(tried, patch=_text(files))


def _statements(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Where simple statements with an added line begin and end; a line that opens a bracket goes on."""
    start, depth, added = None, 0, False
    for place, line in enumerate(lines):
        if line.startswith(("---", "+++", "@@", "diff ", "index ", "\\")):
            start, depth, added = None, 0, False
        elif line[:1] in ("+", " ") and line[1:].strip():
            code = line[1:].split("#")[0]
            if depth == 0:
                start, added = (place if _STATEMENT.match(code) else None), False
            added = added or line[0] == "+"
            depth = max(0, depth + sum(code.count(c) for c in "([{") - sum(code.count(c) for c in ")]}"))
            if depth == 0 and start is not None and added and not code.rstrip().endswith((":", "\\")):
                yield start, place + 1


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _files(patch: str) -> list[list[str]]:
    """Lines of each file's part of a patch."""
    parts = re.split(r"(?m)^(?=diff --git )", _ended(patch))
    return [part.rstrip("\n").split("\n") for part in parts if part.strip()]


def _text(files: list[list[str]]) -> str:
    """The patch again, each hunk with the counts of its lines."""
    out: list[str] = []
    for lines in files:
        heads = [place for place, line in enumerate(lines) if _HUNK.match(line)]
        for place, end in zip(heads, [*heads[1:], len(lines)], strict=True):
            old, new, section = _HUNK.match(lines[place]).groups()  # type: ignore[union-attr]
            body = lines[place + 1 : end]
            removed, added, kept = (sum(line[:1] == mark for line in body) for mark in ("-", "+", " "))
            kept += sum(line == "" for line in body)
            lines[place] = f"@@ -{old},{removed + kept} +{new},{added + kept} @@{section}"
        out += lines
    return "\n".join(out) + "\n"


def _source(lines: list[str]) -> bool:
    """Whether the part changes a source file that was there before: a new one may be the agent's own scratch."""
    path = lines[0].rpartition(" b/")[2]
    if any(line.startswith("new file") for line in lines[:3]):
        return False
    return path.endswith(".py") and kind_of(path, False) == "source" and any(_HUNK.match(line) for line in lines)


def _ended(patch: str) -> str:
    return patch.rstrip("\n") + "\n"
