"""What a file is for, told from its path alone."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["source", "test", "docs", "config", "lock", "scratch", "artefact", "data"]

_BUILD_FOLDERS = frozenset(
    {
        "build", "dist", "__pycache__", "node_modules", ".eggs", ".tox", ".nox", ".pytest_cache", ".mypy_cache",
        ".ruff_cache", "htmlcov",
    }
)  # fmt: skip
_BUILT = frozenset({"pyc", "pyo", "so", "o", "a", "class", "dll", "exe", "whl", "egg", "jar", "obj"})
_BUILT_NAMES = frozenset({".coverage", ".DS_Store", "coverage.xml"})
_LEFT = frozenset({"orig", "rej", "bak", "backup", "swp", "tmp", "log", "patch", "diff", "old"})
_LEFT_NAMES = frozenset({"patch.txt", "nohup.out"})
_SCRATCH = re.compile(r"(?:reproduc|repro[_.\d]|debug_|scratch|tmp_|temp_)", re.IGNORECASE)
_SCRATCH_AT_ROOT = re.compile(
    r"(?:test|debug|check|verify|demo|try|tmp|temp|simple|final|quick|run|example|minimal|script|fix|validate|edge)"
    r"(?:[_-].*|\d*)\.\w+$"
    r"|.*_(?:test|demo|example|check|repro)\.\w+$|(?!README|CHANGES|CHANGELOG|CONTRIBUTING)[A-Z_\d-]+\.(?:md|txt)$"
)
_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs"})
_TEST_NAME = re.compile(
    r"(?:test_.*|tests|conftest)\.py$|.*(?:_tests?\.(?:py|go|rb|exs?|cc|cpp)|[._-](?:test|spec)\.[cm]?[jt]sx?"
    r"|Tests?\.(?:java|kt|cs|scala)|_spec\.rb)$"
)
_LOCKS = frozenset(
    {"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "go.sum", "Pipfile.lock"}
)
_CONFIG = frozenset(
    {"cfg", "ini", "toml", "yml", "yaml", "properties", "conf", "mk", "cmake", "gradle", "editorconfig"}
)
_CONFIG_NAME = re.compile(
    r"(?:setup\.py|MANIFEST\.in|Makefile|Dockerfile|package\.json|tsconfig.*\.json|pom\.xml|go\.mod|requirements.*\.txt"
    r"|\.(?:gitignore|gitattributes|dockerignore|flake8|pylintrc|coveragerc|eslintrc.*))$"
)
_DOCS = frozenset({"md", "rst", "adoc", "txt"})
_DOCS_NAMES = ("LICENSE", "AUTHORS", "README", "CHANGELOG", "NEWS")
_SOURCE = frozenset(
    {
        "py", "pyi", "pyx", "pxd", "js", "jsx", "mjs", "cjs", "ts", "tsx", "java", "go", "c", "h", "cc", "cpp", "cxx",
        "hpp", "cs", "rs", "php", "swift", "kt", "scala", "dart", "m", "rb", "sh", "bash", "pl", "pm", "r", "jl", "ex",
        "exs", "erl", "lua", "hs", "sql", "vue", "svelte", "html", "htm", "css", "scss", "less", "clj", "ml", "f90",
        "asm", "zig", "nim", "proto", "tmpl", "j2",
    }
)  # fmt: skip
_HASH = frozenset({"py", "pyi", "pyx", "pxd", "rb", "sh", "bash", "pl", "pm", "r", "jl", "ex", "exs", "nim"})
_LONGEST = 1_000


def kind_of(path: str, added: bool) -> Kind:
    """What the file is for. Scratch names count for files that the patch adds; `x.orig` and the like always."""
    *folders, name = path[-_LONGEST:].split("/")
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending in _BUILT or name in _BUILT_NAMES or not _BUILD_FOLDERS.isdisjoint(folders) or _is_egg(folders):
        return "artefact"
    if ending in _LEFT or name in _LEFT_NAMES or name[-1:] == "~" or (added and _is_scratch(folders, name)):
        return "scratch"
    if ending == "lock" or name in _LOCKS:
        return "lock"
    if not _TEST_FOLDERS.isdisjoint(folders) or folders[:1] == ["testing"] or _TEST_NAME.match(name) is not None:
        return "test"
    if ending in _CONFIG or _CONFIG_NAME.match(name) is not None:
        return "config"
    if ending in _DOCS or "docs" in folders or "doc" in folders or name.startswith(_DOCS_NAMES):
        return "docs"
    return "source" if ending in _SOURCE else "data"


def is_python(path: str) -> bool:
    return path.endswith((".py", ".pyi"))


def has_hash_comments(path: str) -> bool:
    """Whether comments of the file's language begin with `#`; else they are taken to begin with `//`."""
    return path.rpartition(".")[2].lower() in _HASH


def _is_scratch(folders: list[str], name: str) -> bool:
    return _SCRATCH.match(name) is not None or (not folders and _SCRATCH_AT_ROOT.match(name) is not None)


def _is_egg(folders: list[str]) -> bool:
    for folder in folders:  # noqa: SIM110 - any() with a generator costs three times as much, and this runs often
        if folder.endswith(".egg-info"):
            return True
    return False
