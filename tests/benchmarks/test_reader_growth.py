"""Readers of test output are linear: four times the text takes about four times the CPU time, whatever the text.

Times are compared within one run, and the smaller of several is taken. Texts are units of the words that readers look
for, drawn by chance with a fixed seed and repeated, in front of endings that make a reader go to work.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from rubrics.testing.output import READERS
from rubrics.testing.readers import lines

pytestmark = pytest.mark.benchmark

WORDS = [
    "=", "= ", "_", "-", " ", "  ", "\n", "::", "a.py::b", "[", "]", "(", ")", " (a.b)", " ... ", "ok", "FAIL", "ERROR",
    "PASSED", "SKIPPED", " (", "skipped '", "1 passed, ", " in 0.1s", "[gw0] ", "[ 50%]", "SUBFAILED[x] ", "FAIL: ",
    "--- PASS: T (0.0s)", "=== RUN   T", "test a ... ", "failures:", "[ RUN      ] ", "✓ ", "● ", "1) ", " > ",
    "(FAILED - 1)", "(PENDING: x)", "rspec ./a:1 # ", "1) A::b", " with data set ", ", Time elapsed: 1 s - in a.B",
    "ok 1 - a", "# SKIP", "# Subtest: a", "\x1b[", "\r", "\u2028", "é",
]  # fmt: skip
ENDS = [
    "", "\n==== short test summary info ====\nPASSED a.py::b\n==== 1 passed in 0.1s ====\n",
    f"\n{'=' * 70}\nFAIL: a (b.C)\n{'-' * 70}\nRan 1 test in 0.1s\n\nOK\n", "\nok  \tp\t0.1s\n", "\n  1 passing\n",
    "\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; x\n", "\nTests:       1 passed, 1 total\n",
    "\n Test Files  1\n      Tests  1 passed (1)\n", "\nFinished in 1\n1 example, 0 failures\n", "\n1..1\n",
    "\nPHPUnit \n1) A::b\nTests: 1, Assertions: 1, Failures: 1.\n",
    "\nResults:\nTests run: 1, Failures: 0, Errors: 0, Skipped: 0\n",
]  # fmt: skip
UNITS = 150
SIZE = 60_000
GROWTH = 8.0
"""Four times the text may take so many times the time, with the noise of a busy machine; quadratic work takes 16."""


def seconds(read: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    read(text)
    return time.process_time() - start


@pytest.mark.parametrize("end", ENDS)
def test_no_text_makes_a_reader_slower_than_it_is_long(end: str) -> None:
    draw = random.Random(end)
    for _ in range(UNITS):
        unit = "".join(draw.choice(WORDS) for _ in range(draw.choice((1, 1, 2, 3, 5))))
        head = draw.choice(
            ("", "==== test session starts ====\ncollected 1 item\n", "running 1 test\n", "  x", "1..1\n")
        )
        count = max(1, SIZE // len(unit))
        small, large = head + unit * count + end, head + unit * 4 * count + end
        for read in (lines.plain, *(reader.read for reader in READERS), *(reader.looks_like for reader in READERS)):
            first = seconds(read, small)
            if first < 0.01 or seconds(read, large) < GROWTH * first:
                continue
            best = min(seconds(read, small) for _ in range(3))
            assert min(seconds(read, large) for _ in range(3)) < GROWTH * best, (read.__module__, head, unit)
