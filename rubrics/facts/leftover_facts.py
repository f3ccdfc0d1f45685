"""What a patch leaves behind that a finished change would not hold."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from rubrics.facts import lexing
from rubrics.facts.views import WIDTH, FileView, of_kind
from rubrics.records.patches import Hunk, Patch
from rubrics.vocabulary import Fact

LEFTOVERS = (
    Fact("scratch_files_left", "int", "files",
         "Files of the kinds that attempts leave behind: reproduction and debug scripts, `.orig`, `.rej`, `.bak`, "
         "logs, patches, notes at the root."),
    Fact("build_artifacts_left", "int", "files",
         "Changed files that a build or an interpreter makes: `build/`, `dist/`, `__pycache__/`, `*.egg-info/`, "
         "`node_modules/`, compiled files."),
    Fact("debug_prints_left", "int", "lines",
         "Added source lines that print or stop for a debugger: print, pprint, console.log, breakpoint, pdb, "
         "logging.debug; less those on removed lines, at least 0 per file."),
    Fact("todo_left", "int", "lines", "Added source lines with the word TODO, FIXME, XXX or HACK."),
    Fact("commented_code_added", "int", "lines", "Added source lines that are a comment which reads as code."),
    Fact("disabled_checks", "int", "lines",
         "Added source or test lines that switch a checker off: noqa, type: ignore, pylint: disable, eslint-disable, "
         "nosec, no cover."),
    Fact("whitespace_only_lines", "int", "lines",
         "Removed lines that come back in the same hunk with other whitespace, in source and test files."),
    Fact("unrelated_whitespace_files", "int", "files",
         "Modified source and test files all of whose changes are blank lines or whitespace; "
         "lines that move and Python lines indented anew are more than that."),
    Fact("reformatted_lines", "int", "lines",
         "Removed lines that come back in the same hunk with only whitespace, quotes, commas or parentheses changed."),
    Fact("blank_lines_added", "int", "lines", "Added blank lines in source files."),
    Fact("trailing_whitespace_added", "int", "lines", "Added non-blank source lines that end in a blank or a tab."),
    Fact("duplicated_lines_added", "int", "lines",
         "Added code lines of 20 or more characters beyond the first that repeat another added one, in source files."),
    Fact("max_line_length_added", "int", "characters",
         "Length of the longest added line in source files; 0 without one."),
    Fact("malformed_diff", "bool", "yes/no",
         "Whether the text was not a clean diff: prose, wrong counts, no diff at all; fences, line ends and blank "
         "lines at its ends do not count."),
)  # fmt: skip

_PRINT = re.compile(
    r"(?<![\w.])(?:print|pprint|pp|breakpoint|dbg!|var_dump|NSLog)[ ]?\("
    r"|\bconsole\.(?:log|debug)\(|\bi?pdb\.|\bset_trace\("
    r"|\blogging\.debug\(|\bSystem\.out\.print|\bfmt\.Print|\bpprint\.pprint\("
)
_TODO = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
_CHECKS = re.compile(
    r"\bnoqa\b|\btype: ?ignore|pylint: ?disable|eslint-disable|\bnosec\b|pragma: ?no cover"
    r"|@ts-(?:ignore|nocheck|expect-error)"
    r"|@SuppressWarnings|\bnolint\b|rubocop:disable|mypy: ?ignore|istanbul ignore"
)
_PRINT_HINTS = (
    "print",
    "pp",
    "breakpoint",
    "dbg!",
    "var_dump",
    "NSLog",
    "console.",
    "pdb",
    "set_trace",
    ".debug",
    "Print",
)
_CHECK_HINTS = ("noqa", "ignore", "disable", "nosec", "no cover", "no-cover", "@ts-", "@Suppress", "nolint", "nocover")
_CODE = re.compile(
    r"(?:#+|//+|/\*+|\*)[ \t]*(?:(?:def|class|function|async def) \w+|(?:if|for|while|with|elif)\b[^\n]*[:{]$"
    r"|(?:else|try):$"
    r"|(?:return|raise|yield|del) [\w.(\[\"']+[^ ]*$|import [\w.]+$|from [\w.]+ import "
    r"|(?:\w[\w.]*|\w[\w.]*\[[^\]]*\]) ?[-+*/]?= ?\S"
    r"|\w[\w.]*\([^()]*\);?$)"
)
_NOISE = str.maketrans("", "", " \t\r\f\v,()'\"`;")
_COSMETIC = frozenset({"leading_newline", "crlf", "fenced", "trailing_context"})


def measure_leftovers(patch: Patch, files: tuple[FileView, ...]) -> dict[str, Any]:
    """Values of `LEFTOVERS`."""
    source, both = of_kind(files, "source"), of_kind(files, "source", "test")
    written = [_written(file) for file in source]
    spaces = [_whitespace(file) for file in both]
    texts = [line.text for file in source for hunk in file.change.hunks for line in hunk.lines if line.kind == "added"]
    blank = sum(not text or text.isspace() for text in texts)
    lines = Counter(line.strip() for file in source for line in file.added)
    return {
        "scratch_files_left": sum(file.kind == "scratch" and file.change.change != "deleted" for file in files),
        "build_artifacts_left": sum(file.kind == "artefact" and file.change.change != "deleted" for file in files),
        "debug_prints_left": sum(map(_prints, source)),
        "todo_left": sum(lexing.count_lines(_TODO, text, ("TODO", "FIXME", "XXX", "HACK")) for text in written),
        "commented_code_added": sum(_CODE.match(text) is not None for file in source for text in file.comments),
        "disabled_checks": sum(lexing.count_lines(_CHECKS, _written(file), _CHECK_HINTS) for file in both),
        "whitespace_only_lines": sum(space[0] for space in spaces),
        "reformatted_lines": sum(space[1] for space in spaces),
        "unrelated_whitespace_files": sum(space[2] for space in spaces),
        "blank_lines_added": blank,
        "trailing_whitespace_added": sum(text[-1:] in (" ", "\t") for text in texts) - _blank_with_tail(texts),
        "duplicated_lines_added": sum(count - 1 for text, count in lines.items() if len(text) >= 20),
        "max_line_length_added": max(map(len, texts), default=0),
        "malformed_diff": any(note not in _COSMETIC for note in patch.malformed),
    }


def _prints(file: FileView) -> int:
    added = lexing.count_lines(_PRINT, file.code_added, _PRINT_HINTS)
    return max(0, added - lexing.count_lines(_PRINT, file.code_removed, _PRINT_HINTS)) if added else 0


def _written(file: FileView) -> str:
    return "\n".join((*file.added, *file.comments))


def _blank_with_tail(texts: list[str]) -> int:
    return sum(text[-1:] in (" ", "\t") and text.isspace() for text in texts)


def _whitespace(file: FileView) -> tuple[int, int, bool]:
    """Lines changed in whitespace only, lines changed in form only, and whether whitespace is all that changes."""
    spaced = formed = 0
    substance = not file.change.hunks or file.change.change != "modified"
    for hunk in file.change.hunks:
        removed, added = _squeezed(hunk, "removed"), _squeezed(hunk, "added")
        if not removed or not added:
            substance = substance or bool(removed or added)
            continue
        same = _in_both(removed, added)
        spaced += same
        if same < min(len(removed), len(added)):
            formed += max(0, _in_both(_noiseless(removed), _noiseless(added)) - same)
        substance = substance or same < max(len(removed), len(added)) or _means_more(hunk, file.python)
    return spaced, spaced + formed, not substance


def _means_more(hunk: Hunk, python: bool) -> bool:
    """Whether a hunk whose changed lines differ in whitespace moves lines, or indents Python anew."""
    before, after = (
        [line.text[:WIDTH] for line in hunk.lines if line.kind in ("kept", kind) and line.text.strip()]
        for kind in ("removed", "added")
    )
    if python and [_indent(text) for text in before] != [_indent(text) for text in after]:
        return True
    return ["".join(text.split()) for text in before] != ["".join(text.split()) for text in after]


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _squeezed(hunk: Hunk, kind: str) -> list[str]:
    return ["".join(line.text[:WIDTH].split()) for line in hunk.lines if line.kind == kind and line.text.strip()]


def _noiseless(lines: list[str]) -> list[str]:
    return [text for line in lines if (text := line.translate(_NOISE))]


def _in_both(some: list[str], others: list[str]) -> int:
    """How many lines of one list have their like in the other, each counted once."""
    if set(some).isdisjoint(others):
        return 0
    return (Counter(some) & Counter(others)).total()
