"""What kinds of code a patch adds and takes away."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rubrics.facts import lexing
from rubrics.facts.views import FileView, of_kind
from rubrics.vocabulary import Fact

SHAPE = (
    Fact("functions_added", "int", "functions",
         "Function and method definitions on added source lines whose name no removed line of the file defines."),
    Fact("functions_removed", "int", "functions",
         "Function and method definitions on removed source lines whose name no added line of the file defines."),
    Fact("classes_added", "int", "classes",
         "Class, interface, struct, trait or enum definitions on added source lines whose name no removed line of the "
         "file defines."),
    Fact("public_names_added", "int", "names",
         "Functions and classes without a leading underscore that added source lines define and removed lines of the "
         "file do not."),
    Fact("public_names_removed", "int", "names",
         "Functions and classes without a leading underscore that removed source lines define and added lines of the "
         "file do not."),
    Fact("signature_changes", "int", "functions",
         "Functions defined on removed and on added lines of one source file with another parameter list."),
    Fact("decorators_added", "int", "lines",
         "Added source lines that begin with `@`, less the removed ones; at least 0 per file."),
    Fact("docstrings_added", "int", "lines",
         "Added lines inside triple-quoted strings that stand alone, in Python source files."),
    Fact("comment_lines_added", "int", "lines", "Added source lines that are a comment alone."),
    Fact("conditionals_added", "int", "lines",
         "Added source lines that begin with if, elif, else if, switch, match or unless, less the removed ones; at "
         "least 0 per file."),
    Fact("loops_added", "int", "lines",
         "Added source lines that begin with for, while or do, less the removed ones; at least 0 per file."),
    Fact("raises_added", "int", "lines",
         "Added source lines that begin with raise, throw or panic, less the removed ones; at least 0 per file."),
    Fact("returns_added", "int", "lines",
         "Added source lines that begin with return or yield, less the removed ones; at least 0 per file."),
    Fact("tries_added", "int", "lines",
         "Added source lines that begin with try, less the removed ones; at least 0 per file."),
    Fact("source_asserts_added", "int", "lines",
         "Added source lines that begin with assert, less the removed ones; at least 0 per file."),
    Fact("imports_added", "int", "lines",
         "Added source lines that begin an import, less the removed ones; at least 0 per file."),
    Fact("imports_removed", "int", "lines",
         "Removed source lines that begin an import, less the added ones; at least 0 per file."),
    Fact("max_nesting_added", "int", "levels",
         "Deepest indentation of an added code line in source files, in steps of four columns (a tab is one step); 0 "
         "without any."),
    Fact("test_functions_added", "int", "functions",
         "Definitions named test* on added lines of test files whose name no removed line of the file defines."),
)  # fmt: skip

_WORDS = {
    "@": "decorators_added",
    **dict.fromkeys(("if", "elif", "switch", "match", "unless", "elsif"), "conditionals_added"),
    **dict.fromkeys(("for", "while", "do", "foreach"), "loops_added"),
    **dict.fromkeys(("raise", "throw", "panic"), "raises_added"),
    **dict.fromkeys(("return", "yield"), "returns_added"),
    "try": "tries_added",
    "assert": "source_asserts_added",
    **dict.fromkeys(("import", "from", "use", "using", "require"), "imports_added"),
}
_FUNCTIONS = frozenset({"def", "function", "func", "fn"})


def measure_shape(files: tuple[FileView, ...]) -> dict[str, Any]:
    """Values of `SHAPE`."""
    source = of_kind(files, "source")
    values = dict.fromkeys((fact.name for fact in SHAPE), 0)
    for file in source:
        _count_words(file, values)
        _count_definitions(file, values)
        values["docstrings_added"] += file.docstring_lines
        values["comment_lines_added"] += len(file.comments)
        values["max_nesting_added"] = max(values["max_nesting_added"], *map(_depth, file.added), 0)
    for file in of_kind(files, "test"):
        before = {name for _, name, _ in file.undefined}
        names = {name for _, name, _ in file.defined} - before
        values["test_functions_added"] += sum(name.lower().startswith("test") for name in names)
    return values


def _count_words(file: FileView, values: dict[str, int]) -> None:
    surplus: Counter[str] = Counter()
    for code, sign in ((file.code_added, 1), (file.code_removed, -1)):
        for word, number in lexing.first_words(code).items():
            if word in _WORDS:
                surplus[_WORDS[word]] += sign * number
    for name, number in surplus.items():
        values[name] += max(0, number)
    values["imports_removed"] += max(0, -surplus["imports_added"])


def _count_definitions(file: FileView, values: dict[str, int]) -> None:
    added = {name: (word, rest) for word, name, rest in file.defined}
    removed = {name: (word, rest) for word, name, rest in file.undefined}
    new, gone = added.keys() - removed.keys(), removed.keys() - added.keys()
    functions = sum(added[name][0] in _FUNCTIONS for name in new)
    values["functions_added"] += functions
    values["classes_added"] += len(new) - functions
    values["functions_removed"] += sum(removed[name][0] in _FUNCTIONS for name in gone)
    values["public_names_added"] += sum(not name.startswith("_") for name in new)
    values["public_names_removed"] += sum(not name.startswith("_") for name in gone)
    values["signature_changes"] += sum(
        "".join(added[name][1].split()) != "".join(removed[name][1].split()) and added[name][0] in _FUNCTIONS
        for name in added.keys() & removed.keys()
    )


def _depth(line: str) -> int:
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    return indent.count("\t") + indent.count(" ") // 4
