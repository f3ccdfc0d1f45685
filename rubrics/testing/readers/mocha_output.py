"""Output of mocha's and of node's own `spec` reporters: marks in groups, and counts at the end."""

from __future__ import annotations

import re

from rubrics.testing.readers.listing import Groups, agreed, called, cut_off, indent_of
from rubrics.testing.results import Results, Status

_MOCHA = re.compile(r"  (\d{1,9}) (passing|pending|failing)(?: \(\d[\d.]*m?[smh]\))?$")
_NODE = re.compile(r"ℹ (tests|pass|fail|skipped|todo|cancelled) (\d{1,9})$")
_TIME = re.compile(r" \(\d[\d.]*m?s\)(?: #.*)?$")
_NUMBER = re.compile(r"\d{1,9}\) ")
_PASSED, _FAILED, _SKIPPED = ("✔ ", "✓ ", "√ "), ("✖ ", "× "), ("- ", "﹣ ")


def looks_like(text: str) -> bool:
    """Whether mocha or node wrote this."""
    return re.search(r"^  \d{1,9} passing(?: \(|$)", text, re.MULTILINE) is not None or "\nℹ pass " in text


def read(text: str) -> Results:
    """Statuses by `group > title`, of what stands before the counts."""
    pairs: list[tuple[str, Status]] = []
    told: list[tuple[str, str]] = []
    failures: set[str] = set()
    counts: dict[str, int] = {}
    groups = Groups()
    item: list[tuple[int, str]] = []
    for line in text.split("\n"):
        if match := _MOCHA.match(line):
            counts[match[2]] = int(match[1])
        elif match := _NODE.match(line):
            counts[match[1]] = int(match[2])
        elif "failing" in counts and line[:2] == "  ":
            item = _failure(line, item, failures)
        elif not counts and (words := line.strip(" ")):
            indent = indent_of(line)
            status, title = _marked(words)
            if status is None:
                groups.enter(indent, words.removeprefix("▶ "))
                continue
            plain, around = _TIME.sub("", title), groups.of(indent)
            name = " > ".join((*around, plain))
            pairs.append((name, status))
            told += [(what, name) for short in (plain, title) for what in called(around, short)]
    if not counts or ("tests" in counts and "pass" not in counts):
        return cut_off("mocha")
    node = "pass" in counts
    passed, failed = ("pass", "fail") if node else ("passing", "failing")
    stated: dict[Status, int] = {"passed": counts.get(passed, 0), "failed": counts.get(failed, 0)}
    known = frozenset(failures)
    return agreed("mocha", _without_suites(pairs, told) if node else pairs, stated, failures=known, described=told)


def _marked(words: str) -> tuple[Status | None, str]:
    """The status and the title of a line that begins with a mark."""
    if words.startswith(_PASSED):
        return "passed", words[2:]
    if words.startswith(_SKIPPED) or (words.startswith(_FAILED) and words.endswith("# TODO")):
        return "skipped", words[2:]
    if words.startswith(_FAILED):
        return "failed", words[2:]
    if match := _NUMBER.match(words):
        return "failed", words[match.end() :]
    return None, words


def _failure(line: str, item: list[tuple[int, str]], failures: set[str]) -> list[tuple[int, str]]:
    """Follow the list of failures: the groups and the title of each stand below each other, the last ends in `:`."""
    words, indent = line.strip(" "), indent_of(line)
    if indent == 2 and (match := _NUMBER.match(words)):
        if words.endswith(":"):
            failures.add(words[match.end() : -1])
            return []
        return [(indent, words[match.end() :])]
    if item and indent > item[-1][0]:
        item = [*item, (indent, words)]
        if words.endswith(":"):
            failures.add(" > ".join(part for _, part in item)[:-1])
            return []
        return item if len(item) < 50 else []
    return []


def _without_suites(pairs: list[tuple[str, Status]], told: list[tuple[str, str]]) -> list[tuple[str, Status]]:
    """node repeats the mark and the name of a group behind what is in it; those lines are no tests."""
    inner = {name.rpartition(" > ")[0] for name, _ in pairs}
    return [(name, status) for name, status in pairs if name not in inner]
