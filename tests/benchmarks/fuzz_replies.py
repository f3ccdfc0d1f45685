"""Fuzzed replies through every reader, beside the oracle of the tests: counts by outcome.

`python tests/benchmarks/fuzz_replies.py [COUNT [SEED]]`; 10,000 replies per reader take about a minute. Ends with an
error where a reader accepts what the oracle refuses, or refuses what it accepts.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

from test_replies_fuzz import PARSERS, fuzz


def main(count: int = 10_000, seed: int = 1) -> None:
    columns = {name: fuzz(name, count, seed) for name in PARSERS}
    print(f"{'outcome':22}" + "".join(f"{name:>10}" for name in columns))
    for outcome in sorted(set().union(*columns.values()), key=lambda kind: (kind != "accepted", kind)):
        print(f"{outcome:22}" + "".join(f"{counts[outcome]:>10}" for counts in columns.values()))
    print(f"{'replies':22}" + "".join(f"{sum(counts.values()):>10}" for counts in columns.values()))
    print("accepted against the oracle: 0; refused against the oracle: 0")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
