"""How much a patch changes, and where."""

from __future__ import annotations

from typing import Any

from rubrics.facts.views import FileView, of_kind
from rubrics.vocabulary import Fact

SIZE = (
    Fact("files_changed", "int", "files", "Files that the patch adds, deletes, renames or modifies, of any kind."),
    Fact("source_files_changed", "int", "files",
         "Changed files of source code: no tests, documents, scratch files or build artefacts."),
    Fact("test_files_changed", "int", "files", "Changed files that hold tests, by their path."),
    Fact("docs_changed", "int", "files",
         "Changed documents: Markdown, reStructuredText, plain text, anything under `doc` or `docs`."),
    Fact("config_files_changed", "int", "files",
         "Changed files of configuration or packaging, lock files not counted."),
    Fact("lockfiles_changed", "int", "files", "Changed lock files of package managers."),
    Fact("data_files_changed", "int", "files", "Changed files of no other kind, such as JSON, CSV or images."),
    Fact("files_added", "int", "files", "Files that the patch creates."),
    Fact("files_deleted", "int", "files", "Files that the patch deletes."),
    Fact("files_renamed", "int", "files", "Files that the patch renames, with or without other changes."),
    Fact("binary_files", "int", "files", "Changed files whose content the diff calls binary."),
    Fact("source_files_added", "int", "files", "Files of source code that the patch creates."),
    Fact("source_files_deleted", "int", "files", "Files of source code that the patch deletes."),
    Fact("existing_tests_changed", "int", "files",
         "Test files that existed before and are modified, renamed or deleted."),
    Fact("lines_added", "int", "lines", "Added lines in all files, blank lines included."),
    Fact("lines_removed", "int", "lines", "Removed lines in all files, blank lines included."),
    Fact("lines_changed", "int", "lines", "Added plus removed lines in all files."),
    Fact("source_lines_added", "int", "lines", "Added lines in files of source code, blank lines included."),
    Fact("source_lines_removed", "int", "lines", "Removed lines in files of source code, blank lines included."),
    Fact("code_lines_added", "int", "lines",
         "Added lines of source code that are neither blank nor a comment nor inside a docstring."),
    Fact("code_lines_removed", "int", "lines",
         "Removed lines of source code that are neither blank nor a comment nor inside a docstring."),
    Fact("test_lines_added", "int", "lines", "Added lines in test files, blank lines included."),
    Fact("test_lines_removed", "int", "lines", "Removed lines in test files, blank lines included."),
    Fact("hunks", "int", "hunks", "Hunks in all files."),
    Fact("source_hunks", "int", "hunks", "Hunks in files of source code."),
    Fact("largest_file_share", "float", "share",
         "Share of the changed lines that stand in the file with most of them; null without any."),
    Fact("folders_touched", "int", "folders", "Distinct folders that hold a changed file."),
    Fact("top_folders", "int", "folders",
         "Distinct first components of the paths of changed files; files at the root count as one."),
)  # fmt: skip

_BY_KIND = {
    "source_files_changed": "source",
    "test_files_changed": "test",
    "docs_changed": "docs",
    "config_files_changed": "config",
    "lockfiles_changed": "lock",
    "data_files_changed": "data",
}


def measure_size(files: tuple[FileView, ...]) -> dict[str, Any]:
    """Values of `SIZE`."""
    source, tests = of_kind(files, "source"), of_kind(files, "test")
    added = sum(file.added_lines for file in files)
    removed = sum(file.removed_lines for file in files)
    largest = max((file.added_lines + file.removed_lines for file in files), default=0)
    return {
        "files_changed": len(files),
        **{name: sum(file.kind == kind for file in files) for name, kind in _BY_KIND.items()},
        **_changes(files, source, tests),
        "lines_added": added,
        "lines_removed": removed,
        "lines_changed": added + removed,
        "source_lines_added": sum(file.added_lines for file in source),
        "source_lines_removed": sum(file.removed_lines for file in source),
        "code_lines_added": sum(len(file.added) for file in source),
        "code_lines_removed": sum(len(file.removed) for file in source),
        "test_lines_added": sum(file.added_lines for file in tests),
        "test_lines_removed": sum(file.removed_lines for file in tests),
        "hunks": sum(len(file.change.hunks) for file in files),
        "source_hunks": sum(len(file.change.hunks) for file in source),
        "largest_file_share": largest / (added + removed) if added + removed else None,
        "folders_touched": len({file.change.path.rpartition("/")[0] for file in files}),
        "top_folders": len({path.partition("/")[0] if "/" in path else "" for path in (f.change.path for f in files)}),
    }


def _changes(files: tuple[FileView, ...], source: tuple[FileView, ...], tests: tuple[FileView, ...]) -> dict[str, Any]:
    return {
        "files_added": sum(file.change.change == "added" for file in files),
        "files_deleted": sum(file.change.change == "deleted" for file in files),
        "files_renamed": sum(file.change.change == "renamed" for file in files),
        "binary_files": sum(file.change.binary for file in files),
        "source_files_added": sum(file.change.change == "added" for file in source),
        "source_files_deleted": sum(file.change.change == "deleted" for file in source),
        "existing_tests_changed": sum(file.change.change != "added" for file in tests),
    }
