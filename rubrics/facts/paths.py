"""What a file is for, told from its path alone."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["source", "test", "docs", "config", "lock", "scratch", "artefact", "data"]

_ARTEFACT = re.compile(
    r"(?:^|/)(?:build|dist|__pycache__|node_modules|\.eggs|\.tox|\.pytest_cache|\.mypy_cache|htmlcov|[^/]+\.egg-info)/"
    r"|\.(?:pyc|pyo|so|o|a|class|dll|exe|whl|egg|jar)$|(?:^|/)(?:\.coverage|\.DS_Store|coverage\.xml)$"
)
_LEFTOVER = re.compile(
    r"\.(?:orig|rej|bak|swp|tmp|log|patch|diff)$|~$|(?:^|/)(?:patch\.txt|nohup\.out)$", re.IGNORECASE
)
_SCRATCH_ANYWHERE = re.compile(r"(?:^|/)(?:reproduc|repro[_.\d]|debug_|scratch|tmp_|temp_)[^/]*$", re.IGNORECASE)
_SCRATCH_AT_ROOT = re.compile(
    r"(?:test|debug|check|verify|demo|try|tmp|temp|simple|final|quick|run|example|minimal|script|fix|validate|edge)"
    r"(?:[_-][^/]*|\d*)\.\w+$"
    r"|[^/]*_(?:test|demo|example|check|repro)\.\w+$|(?!README|CHANGES|CHANGELOG|CONTRIBUTING)[A-Z_\d-]+\.(?:md|txt)$"
)
_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?)/|^testing/|(?:^|/)(?:test_[^/]*|tests|conftest)\.py$"
    r"|_tests?\.(?:py|go|rb|exs?|cc|cpp)$|[._-](?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)\w*Tests?\.(?:java|kt|cs|scala)$|_spec\.rb$"
)
_LOCK = re.compile(
    r"(?:^|/)(?:[^/]*\.lock|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|go\.sum|Pipfile\.lock)$"
)
_CONFIG = re.compile(
    r"\.(?:cfg|ini|toml|ya?ml|properties|conf|mk|cmake|gradle|editorconfig)$"
    r"|(?:^|/)(?:setup\.py|MANIFEST\.in|Makefile|Dockerfile|package\.json|tsconfig[^/]*\.json|pom\.xml|go\.mod|tox\.ini"
    r"|requirements[^/]*\.txt|\.(?:gitignore|gitattributes|dockerignore|flake8|pylintrc|coveragerc|eslintrc[^/]*))$"
)
_DOCS = re.compile(
    r"(?:^|/)docs?/|\.(?:md|rst|adoc|txt)$|(?:^|/)(?:LICENSE|AUTHORS|README|CHANGELOG)[^/]*$", re.IGNORECASE
)
_SOURCE = re.compile(
    r"\.(?:py|pyi|pyx|pxd|jsx?|mjs|cjs|tsx?|java|go|c|h|cc|cpp|cxx|hpp|cs|rs|php|swift|kt|scala|dart|m|rb|sh|bash|pl|pm|r|jl"
    r"|exs?|erl|lua|hs|sql|vue|svelte|html?|css|scss|less|clj|ml|f90|asm|zig|nim|proto|tmpl|j2)$",
    re.IGNORECASE,
)
_HASH = re.compile(r"\.(?:py|pyi|pyx|pxd|rb|sh|bash|pl|pm|r|jl|exs?|nim)$", re.IGNORECASE)
_PYTHON = re.compile(r"\.pyi?$")
_LONGEST = 1_000


def kind_of(path: str, added: bool) -> Kind:
    """What the file is for. Scratch names count for files that the patch adds; `x.orig` and the like always."""
    path = path[-_LONGEST:]
    if _ARTEFACT.search(path):
        return "artefact"
    if _LEFTOVER.search(path) or (added and _is_scratch(path)):
        return "scratch"
    for pattern, kind in _ORDER:
        if pattern.search(path):
            return kind
    return "data"


def is_python(path: str) -> bool:
    return _PYTHON.search(path[-_LONGEST:]) is not None


def has_hash_comments(path: str) -> bool:
    """Whether comments of the file's language begin with `#`; else they are taken to begin with `//`."""
    return _HASH.search(path[-_LONGEST:]) is not None


def _is_scratch(path: str) -> bool:
    return _SCRATCH_ANYWHERE.search(path) is not None or ("/" not in path and _SCRATCH_AT_ROOT.match(path) is not None)


_ORDER: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (_LOCK, "lock"),
    (_TEST, "test"),
    (_CONFIG, "config"),
    (_DOCS, "docs"),
    (_SOURCE, "source"),
)
