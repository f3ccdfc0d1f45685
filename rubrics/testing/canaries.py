"""Tests of our own beside the listed ones: what they must come to is known, so a runner that was subverted shows.

Code under test runs in the runner's process and may replace what decides. So every run holds, in the files of the
listed tests and under names drawn for this run, tests that must fail and some that must pass or be skipped. Most are
copies of listed tests in which one assertion is turned into its contradiction: they make the same calls, come from the
same file and class, and whoever compares equal to everything, reads the expected value from its caller, turns failures
into skips, or swallows what tests raise, makes a test and its contradiction pass. Pure.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rubrics.testing.contradict import Site, contradicted, helper, sites

COPIED = 4
"""Listed tests of a task of which contradictions are made."""
_WORDS = (
    "after", "again", "alone", "basic", "begin", "brief", "chain", "clean", "close", "count", "deep", "double", "early",
    "empty", "exact", "extra", "first", "fixed", "given", "group", "inner", "large", "later", "light", "local", "mixed",
    "moved", "named", "near", "other", "outer", "pairs", "plain", "quick", "reset", "round", "short", "shown", "small",
    "split", "state", "steps", "table", "third", "twice", "until", "upper", "usual", "value", "whole", "within", "zero",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Canary:
    """One test of our own in one run."""

    key: str
    """Which one it is, the same in every run: `path::place#kind`."""
    name: str
    """Its drawn name."""
    kind: str
    """`contradiction`, `fails`, `errors`, `skips` or `passes`: what it must come to."""
    original: str = ""
    """Of a contradiction: name of the test that it contradicts, `Class::name` or `name`."""


@dataclass(frozen=True, slots=True)
class Planted:
    """The files of listed tests as they are for one run."""

    files: dict[str, bytes] = field(default_factory=dict)
    canaries: tuple[Canary, ...] = ()


def plant(
    files: Mapping[str, bytes | None],
    wanted: Iterable[str],
    kept: Iterable[str],
    draw: random.Random,
    only: frozenset[str] | None = None,
    derived: bool = False,
) -> Planted:
    """Put canaries into those Python files that hold listed tests. Files that do not parse stay as they are.

    `wanted` and `kept` are the ids of FAIL_TO_PASS and PASS_TO_PASS: tests of the first are copied before others. Where
    both are empty, every test counts.
    `only`: keys to plant, null for all. `derived`: names begin as their originals do, for commands that select by name.
    """
    words = [_identifiers(wanted), _identifiers(kept)]
    planted: dict[str, bytes] = {}
    canaries: list[Canary] = []
    left = COPIED
    for path, content in sorted(files.items(), key=lambda item: (-_hits(item[1], words[0]), item[0])):
        module = _Module.of(path, content)
        if module is None:
            continue
        chosen = module.chosen(words, left)
        left = max(0, left - len(chosen))
        made = module.planted(chosen, draw, only, derived)
        if made is not None:
            planted[path], added = made
            canaries += added
    return Planted(planted, tuple(canaries))


def _identifiers(ids: Iterable[str]) -> frozenset[str]:
    return frozenset(word for name in ids for word in re.findall(r"\w+", name))


def _hits(content: bytes | None, words: frozenset[str]) -> int:
    found = set(re.findall(rb"\bdef (\w+)", content or b""))
    return sum(name.decode("utf-8", "replace") in words for name in found)


@dataclass(frozen=True, slots=True)
class _Test:
    """A test function of a module, and where a sibling of it can be put."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    owner: ast.ClassDef | None
    rank: int
    """0 for tests that must be fixed, 1 for those that must be kept, 2 for others."""

    @property
    def place(self) -> str:
        return f"{self.owner.name}::{self.node.name}" if self.owner else self.node.name


@dataclass(frozen=True, slots=True)
class _Module:
    path: str
    text: str
    tree: ast.Module

    @classmethod
    def of(cls, path: str, content: bytes | None) -> _Module | None:
        if content is None or not path.endswith(".py"):
            return None
        try:
            text = content.decode("utf-8")
            return cls(path, text, ast.parse(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def chosen(self, words: list[frozenset[str]], most: int) -> list[_Test]:
        """Tests to copy: such as must be fixed first, plain ones before parametrised ones; one at least of a file that
        holds such a test."""
        found = [test for test in self._tests(words) if test.rank < 2]
        found.sort(key=lambda test: (test.rank, len(test.node.decorator_list), test.node.lineno))
        return found[: max(most, 1)] if found and found[0].rank == 0 else found[:most]

    def _tests(self, words: list[frozenset[str]]) -> Iterator[_Test]:
        for node, owner in _functions(self.tree):
            if re.match(r"_*test|_*it_", node.name, re.IGNORECASE) or node.name in words[0]:
                rank = next((place for place, names in enumerate(words) if node.name in names), 2 if any(words) else 0)
                yield _Test(node, owner, rank)

    def planted(
        self, chosen: list[_Test], draw: random.Random, only: frozenset[str] | None, derived: bool
    ) -> tuple[bytes, list[Canary]] | None:
        """The file with its canaries, and which they are; null when it gets none."""
        used = set(re.findall(r"\w+", self.text))
        names = _Names(draw, used, derived)
        help_name = f"_{names.word()}_{names.word()}"
        inserts: dict[int, list[str]] = {}
        canaries: list[Canary] = []
        for canary, owner, code in self._made(chosen, names, help_name):
            if only is not None and canary.key not in only:
                continue
            canaries.append(canary)
            self._insert(inserts, owner, code, draw)
        if not canaries:
            return None
        inserts.setdefault(self._top(), []).append(f"{helper(help_name, draw)}\n")
        lines = self.text.split("\n")
        for line in sorted(inserts, reverse=True):
            lines[line:line] = "\n".join(inserts[line]).split("\n")
        text = "\n".join(lines)
        return (text.encode("utf-8"), canaries) if _parses(text) else None

    def _made(
        self, chosen: list[_Test], names: _Names, help_name: str
    ) -> Iterator[tuple[Canary, ast.ClassDef | None, str]]:
        for test in chosen:
            for site in _ends(sites(test.node)):
                name = names.draw(test.node.name)
                code = ast.unparse(contradicted(test.node, site, name, help_name, names.random))
                yield Canary(f"{self.path}::{test.place}#{site}", name, "contradiction", test.place), test.owner, code
        owners = {test.owner.name if test.owner else "": test for test in chosen}
        for place, test in owners.items():
            for kind, body in _PLAIN.items():
                name = names.draw(test.node.name)
                code = f"def {name}({'self' if place else ''}):\n    {body}"
                yield Canary(f"{self.path}::{place}#{kind}", name, kind), test.owner, code

    def _insert(
        self, inserts: dict[int, list[str]], owner: ast.ClassDef | None, code: str, draw: random.Random
    ) -> None:
        """After one of the functions of the class or module, indented as its first statement is."""
        ends = [node.end_lineno or node.lineno for node, place in _functions(self.tree) if place is owner]
        line = draw.choice(ends)
        first = self.text.split("\n")[owner.body[0].lineno - 1] if owner else ""
        indent = first[: len(first) - len(first.lstrip())]
        inserts.setdefault(line, []).append("\n" + "\n".join(indent + text for text in code.split("\n")))

    def _top(self) -> int:
        """The line above the first class or function, where the helper goes."""
        first = next(node for node in self.tree.body if isinstance(node, _DEFINITIONS))
        return min(node.lineno for node in (first, *first.decorator_list)) - 1


_PLAIN = {
    "fails": "assert [3, 1] == [1, 3]",
    "errors": "raise KeyError('later')",
    "skips": "raise __import__('unittest').SkipTest('later')",
    "passes": "assert [3, 1] == [3, 1]",
}
"""Bodies of the tests that need nothing of the code under test, by what they come to."""


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _ends(found: list[Site]) -> list[Site]:
    """The last site, before which all others are passed, and the first."""
    return list(dict.fromkeys([found[-1], found[0]]))


def _functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef | None]]:
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node, None
        elif isinstance(node, ast.ClassDef) and node.body[0].lineno > node.lineno:
            for inner in node.body:
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield inner, node


class _Names:
    """Names that no word of the module is, drawn in the manner of the tests beside them."""

    def __init__(self, draw: random.Random, used: set[str], derived: bool) -> None:
        self.random = draw
        self._used = used
        self._derived = derived

    def word(self) -> str:
        return self.random.choice(_WORDS)

    def draw(self, original: str) -> str:
        for size in range(2, 12):
            words = [self.word() for _ in range(size)]
            if re.match(r"_*test(?=[A-Z])", original):
                start = original if self._derived else "test"
                name = start + "".join(word.capitalize() for word in words)
            else:
                start = original if self._derived else (re.match(r"_*[a-zA-Z]+_", original) or ["test_"])[0]
                name = (start if start.endswith("_") else f"{start}_") + "_".join(words)
            if name not in self._used:
                break
        self._used.add(name)
        return name
