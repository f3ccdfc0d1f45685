"""Lists of what a patch touches, adds, calls and keeps: the material for comparing patches with each other."""

from __future__ import annotations

from typing import Any

from rubrics.facts import lexing
from rubrics.facts.normal import normal_digest
from rubrics.facts.scopes import functions_edited
from rubrics.facts.views import WIDTH, FileView, of_kind
from rubrics.records.patches import Hunk, Patch
from rubrics.vocabulary import Fact

NAMES = (
    Fact("files_edited", "list", "paths", "Paths of the changed source files."),
    Fact("test_files_edited", "list", "paths", "Paths of the changed test files."),
    Fact("scratch_files", "list", "paths", "Paths of the scratch files that the patch holds."),
    Fact("functions_edited", "list", "names",
         "Where changed code of source files stands: `path::Class.method`, `path::function` or `path::<module>` for "
         "Python; the hunk's section header for other languages."),
    Fact("lines_added_text", "list", "lines",
         "Added code lines of source files, blanks collapsed; no comments, docstrings or blank lines."),
    Fact("lines_removed_text", "list", "lines",
         "Removed code lines of source files, blanks collapsed; no comments, docstrings or blank lines."),
    Fact("lines_kept_near", "list", "lines",
         "The nearest non-blank unchanged line above and below each run of changed lines of source files, blanks "
         "collapsed."),
    Fact("tokens_added", "list", "tokens",
         "Identifiers, numbers and strings on added code lines that no removed code line of the same source file "
         "holds."),
    Fact("tokens_added_all", "list", "tokens", "Identifiers, numbers and strings on added code lines of source files."),
    Fact("tokens_removed", "list", "tokens",
         "Identifiers, numbers and strings on removed code lines that no added code line of the same source file "
         "holds."),
    Fact("calls_added", "list", "names",
         "Last names of what added code lines call and removed ones of the file do not; names defined there left out."),
    Fact("names_defined", "list", "names",
         "Functions and classes that added code lines of source files define, and the names they assign to."),
    Fact("imports_added_names", "list", "names",
         "Dotted names that added lines import and removed lines of the same source file do not."),
    Fact("conditions_added", "list", "conditions",
         "Tests of if, elif, while, assert, case and conditional expressions on added lines that removed lines of the "
         "same source file do not hold."),
    Fact("attributes_added", "list", "names",
         "Names accessed with a dot on added code lines and not on removed code lines of the same source file."),
    Fact("string_literals_added", "int", "literals", "Strings among tokens_added."),
    Fact("functions_changed", "int", "functions", "Entries of functions_edited."),
    Fact("patch_normal_digest", "text", "digest",
         "Digest of the patch without line numbers, order of files, line ends, `index` lines, and blank lines and "
         "fences around it."),
)  # fmt: skip


def measure_names(patch: Patch, files: tuple[FileView, ...]) -> dict[str, Any]:
    """Values of `NAMES`."""
    source = of_kind(files, "source")
    found: dict[str, set[str]] = {fact.name: set() for fact in NAMES if fact.type == "list"}
    found["files_edited"] = {file.change.path for file in source}
    found["test_files_edited"] = {file.change.path for file in of_kind(files, "test")}
    found["scratch_files"] = {file.change.path for file in of_kind(files, "scratch")}
    for file in source:
        found["functions_edited"] |= functions_edited(file)
        found["lines_added_text"].update(" ".join(line.split()) for line in file.added)
        found["lines_removed_text"].update(" ".join(line.split()) for line in file.removed)
        for hunk in file.change.hunks:
            _near(hunk, found["lines_kept_near"])
        _lexical(file, found)
    values: dict[str, Any] = {name: sorted(names) for name, names in found.items()}
    values["string_literals_added"] = sum(token[0] == '"' for token in values["tokens_added"])
    values["functions_changed"] = len(values["functions_edited"])
    values["patch_normal_digest"] = normal_digest(patch)
    return values


def _lexical(file: FileView, found: dict[str, set[str]]) -> None:
    added, removed = file.text_added, file.text_removed
    defined, undefined = {name for _, name, _ in file.defined}, {name for _, name, _ in file.undefined}
    tokens, tokens_before = lexing.tokens(added, file.hash_comments), lexing.tokens(removed, file.hash_comments)
    code, before = file.code_added, file.code_removed
    found["tokens_added"] |= tokens - tokens_before
    found["tokens_added_all"] |= tokens
    found["tokens_removed"] |= tokens_before - tokens
    found["calls_added"] |= (lexing.calls(code) - defined) - (lexing.calls(before) - undefined)
    found["names_defined"] |= defined | lexing.assigned(code)
    found["imports_added_names"] |= lexing.imported(added) - lexing.imported(removed)
    found["conditions_added"] |= lexing.conditions(added) - lexing.conditions(removed)
    found["attributes_added"] |= lexing.attributes(code) - lexing.attributes(before)


def _near(hunk: Hunk, found: set[str]) -> None:
    above = ""
    in_run = False
    for line in hunk.lines:
        if line.kind != "kept":
            if not in_run and above:
                found.add(above)
            in_run = True
            continue
        text = " ".join(line.text[:WIDTH].split())
        if not text:
            continue
        if in_run:
            found.add(text)
        above, in_run = text, False
