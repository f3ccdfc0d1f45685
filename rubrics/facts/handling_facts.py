"""Faults of substance that a patch may add: hidden errors, special cases, weakened tests, reach beyond the program."""

from __future__ import annotations

import re
from typing import Any

from rubrics.facts import lexing
from rubrics.facts.exceptions import swallowed
from rubrics.facts.python_trees import image, parses
from rubrics.facts.views import FileView, of_kind
from rubrics.vocabulary import Fact

HANDLING = (
    Fact("exceptions_swallowed", "int", "handlers",
         "Handlers on added source lines that only pass, continue, break or return nothing (`except ...: pass`, "
         "`catch (e) {}`), less those on removed lines; at least 0 per file."),
    Fact("broad_excepts", "int", "handlers",
         "Handlers on added source lines that catch everything: bare except, Exception, BaseException, Throwable, "
         "`catch (...)`; less those on removed lines, at least 0 per file."),
    Fact("broad_fallbacks", "int", "expressions",
         "Defaults on added source lines that hide a missing value: hasattr, getattr or get with a default, `or {}`, "
         "`or []`, `or None`; less those on removed lines, at least 0 per file and form."),
    Fact("special_cases_added", "int", "lines",
         "Added source lines that begin with if, elif, while, case or assert and compare with a literal string or "
         "number, and whose test no removed line of the file holds."),
    Fact("hardcoded_paths", "int", "lines",
         "Added source lines with a string that begins with an absolute path such as /home, /tmp or C:\\."),
    Fact("sleeps_added", "int", "calls",
         "Calls of sleep on added source or test lines, less those on removed lines; at least 0 per file."),
    Fact("network_use_added", "int", "uses",
         "Uses of a network module (requests, urllib, httpx, aiohttp, socket, http.client, fetch) on added source "
         "lines, less those on removed lines; at least 0 per file."),
    Fact("environment_reads_added", "int", "uses",
         "Reads of environment variables on added source lines, less those on removed lines; at least 0 per file."),
    Fact("eval_use_added", "int", "calls",
         "Calls of eval, exec, __import__, os.system or pickle.loads, and shell=True, on added source lines, less "
         "those on removed lines; at least 0 per file."),
    Fact("asserts_removed", "int", "lines",
         "Removed less added lines with an assertion in test files that existed before; at least 0 per file."),
    Fact("skips_added", "int", "lines",
         "Added less removed lines in test files that skip a test or expect it to fail; at least 0 per file."),
    Fact("tests_removed", "int", "functions",
         "Definitions named test* on removed lines of test files whose name no added line of the file defines."),
    Fact("tests_weakened", "int", "lines", "Sum of asserts_removed, skips_added and tests_removed."),
    Fact("python_parse_failures", "int", "files",
         "Python files that the patch creates, of at most 200,000 characters, that the running Python cannot parse."),
)  # fmt: skip

_BROAD = re.compile(
    r"^[ \t]*+except[ \t]*+(?::|\(?[ \t]*+(?:[\w.,]*+[ \t]*+)?(?<!\w)(?:Base)?Exception\b)"
    r"|\bcatch[ \t]*+(?:\{|\([ \t]*+(?:final[ \t]++)?(?:Exception|Throwable|\.\.\.))"
    r"|^[ \t]*+rescue[ \t]*+(?:=>|$)",
    re.MULTILINE,
)  # fmt: skip
_FALLBACKS = (
    ("hasattr(", re.compile(r"hasattr\(")),
    ("getattr(", re.compile(r"getattr\([^\n(),]*+,[^\n(),]*+,")),
    (".get(", re.compile(r"\.get\([^\n(),]*+,")),
    (" or ", re.compile(r" or (?:\{\}|\[\]|None\b|\(\)|dict\(\)|list\(\)|set\(\)|\"\")")),
    (" || ", re.compile(r" \|\| (?:\{\}|\[\]|null\b|\"\")")),
    (" ?? ", re.compile(r" \?\? (?:\{\}|\[\]|null\b|\"\")")),
)
_NETWORK_HINTS = ("requests", "urllib", "httpx", "aiohttp", "socket", "http.client", "fetch", "urlopen", "XMLHttp")
_LITERAL_TEST = re.compile(r"(?:[=!]==?|\bis|\bin)[ ]?[(\[{]?(?:[rbuf]?[\"']|-?\d)")
_HARD_PATH = re.compile(
    r"[\"'`](?:/(?:home|tmp|testbed|usr|var|etc|opt|root|workspace|Users|repo|mnt)(?:/|[\"'`])|[A-Za-z]:\\)"
)
_PATH_HINTS = ('"/', "'/", "`/", ":\\")
_SLEEP = re.compile(r"\bsleep[ ]?\(")
_NETWORK = re.compile(
    r"\b(?:requests|urllib[23]?|httpx|aiohttp|socket)\.\w|\bhttp\.client\b|(?<![\w.])(?:fetch|urlopen|XMLHttpRequest)\("
    r"|^[ \t]*+(?:import|from)[ \t]++(?:requests|urllib|httpx|aiohttp|socket)\b",
    re.MULTILINE,
)
_ENVIRONMENT = re.compile(r"\bos\.environ\b|\bgetenv\(|\bprocess\.env\b|\bSystem\.getenv\b|\bENV\[|\bos\.Getenv\(")
_ENVIRONMENT_HINTS = ("environ", "getenv", "process.env", "ENV[", "Getenv")
_EVAL = re.compile(
    r"(?<![\w.])(?:eval|exec|__import__)\(|\bos\.(?:system|popen)\(|\bpickle\.loads?\(|\bshell[ ]?=[ ]?True\b"
)
_ASSERT = re.compile(r"(?<!\w)(?:assert\w*|self\.fail\w*|expect|pytest\.raises|raises)\b", re.MULTILINE)
_SKIP = re.compile(
    r"\bskip(?:if|unless|test)?\b|\bxfail\b|\bexpectedFailure\b|\.(?:skip|todo)\(|@(?:Disabled|Ignore)\b|\bxit\(",
    re.IGNORECASE,
)


def measure_handling(files: tuple[FileView, ...]) -> dict[str, Any]:
    """Values of `HANDLING`."""
    source, tests = of_kind(files, "source"), of_kind(files, "test")
    both = of_kind(files, "source", "test")
    values: dict[str, Any] = {
        "exceptions_swallowed": sum(map(swallowed, source)),
        "broad_excepts": _surplus(_BROAD, source, ("except", "catch", "rescue")),
        "broad_fallbacks": sum(_surplus(pattern, source, (hint,)) for hint, pattern in _FALLBACKS),
        "special_cases_added": sum(map(_literal_tests, source)),
        "hardcoded_paths": sum(lexing.count_lines(_HARD_PATH, f.text_added, _PATH_HINTS) for f in source),
        "sleeps_added": _surplus(_SLEEP, both, ("sleep",)),
        "network_use_added": _surplus(_NETWORK, source, _NETWORK_HINTS),
        "environment_reads_added": _surplus(_ENVIRONMENT, source, _ENVIRONMENT_HINTS),
        "eval_use_added": _surplus(_EVAL, source, ("eval", "exec", "__import__", "os.", "pickle", "shell")),
        "asserts_removed": sum(max(0, -_line_surplus(_ASSERT, f)) for f in tests if f.change.change != "added"),
        "skips_added": sum(max(0, _line_surplus(_SKIP, file)) for file in tests),
        "tests_removed": sum(_tests_gone(file) for file in tests),
        "python_parse_failures": sum(_fails_to_parse(file) for file in files),
    }
    values["tests_weakened"] = values["asserts_removed"] + values["skips_added"] + values["tests_removed"]
    return values


def _surplus(pattern: re.Pattern[str], files: tuple[FileView, ...], hints: tuple[str, ...]) -> int:
    """How often the pattern is found on added lines beyond how often on removed ones, summed over files."""
    total = 0
    for file in files:
        added = lexing.count(pattern, file.code_added, hints)
        total += max(0, added - lexing.count(pattern, file.code_removed, hints)) if added else 0
    return total


def _line_surplus(pattern: re.Pattern[str], file: FileView) -> int:
    added = sum(pattern.search(line) is not None for line in file.code_added.split("\n"))
    return added - sum(pattern.search(line) is not None for line in file.code_removed.split("\n"))


def _literal_tests(file: FileView) -> int:
    tests = [test for test in lexing.condition_lines(file.text_added) if _LITERAL_TEST.search(test) is not None]
    if not tests:
        return 0
    gone = lexing.conditions(file.text_removed)
    return sum(test not in gone for test in tests)


def _tests_gone(file: FileView) -> int:
    if not file.code_removed:
        return 0
    removed = {name for _, name, _ in file.undefined}
    added = {name for _, name, _ in file.defined}
    return sum(name.lower().startswith("test") for name in removed - added)


def _fails_to_parse(file: FileView) -> bool:
    if not file.python or file.change.change != "added" or not file.change.hunks:
        return False
    return parses("\n".join([line.text for line in image(file.change.hunks[0])])) is False
