"""A task to lint criteria against, and a criterion that nothing is wrong with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from study_helpers import evaluator

from rubrics.authors.lint import Ground
from rubrics.authors.lint_ground import shared_passage
from rubrics.authors.lint_records import Studied
from rubrics.records.rubrics import Criterion

SPEC = """The `load` function must close its file.

It raises `ValueError` for an empty path, and keeps   the order of the
entries as they stand in the file. `Loader.strict` decides about unknown keys.
"""
ATTEMPTS = (
    Studied(
        "attempt-1",
        "src/load.py\n    with open(path) as stream:\n        entries = _read_pairs(stream)\n    pairs = 1\n",
    ),
    Studied("attempt-2", "src/load.py\nsrc/pairs.py\n    stream = open(path)\n    entries = parse_line(stream)\n"),
    Studied(
        "attempt-3",
        "src/load.py\n    entries = parse_line(open(path))\n    # every pair that was seen goes to the end\n",
    ),
)
SEALED = "    accumulated = sorted(gathered.items(), key=by_first_seen)\n"
BASE_NAMES = frozenset({"load", "Loader", "strict", "src/load.py", "read_text"})
GROUND = Ground(
    spec=SPEC,
    studied=ATTEMPTS,
    tests=frozenset({"tests/test_load.py::LoadTest::test_empty_path_is_refused", "test_order (tests.LoadTest)"}),
    line_stands=lambda path, line, quote: path == "src/load.py" and line <= 40 and quote in ("", "stream"),
    name_stands=BASE_NAMES.__contains__,
    copies_sealed=lambda text: shared_passage(text, SEALED) is not None,
    check_rule=evaluator().check,
)
GOOD = Criterion(
    "closes-the-file",
    "`load` closes its file on every path, also when a line cannot be parsed.",
    3,
    "judge",
    guidance="Met when a with block or a finally clause covers all reading; unmet when one way out leaves it open.",
    anchor="The `load` function must close its file.",
)


def but(**fields: Any) -> Criterion:
    """The good criterion with something changed."""
    return replace(GOOD, **fields)


def rule(expression: str | None, **fields: Any) -> Criterion:
    """The good criterion as a rule."""
    return replace(GOOD, method="rule", rule=expression, guidance=None, **fields)
