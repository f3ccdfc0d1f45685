"""What looking at every part's digest costs a reader: a store of 20,000 transcripts of 20 KB, read with and without.

`ROLLOUTS` says of how many. Asserted is that a process looks once: later reads cost what they would cost without.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from base64 import b32encode
from collections.abc import Callable
from unittest.mock import patch

import pytest

from rubrics.store import part_files
from rubrics.store import store as store_module
from rubrics.store.store import Store

ROLLOUTS = int(os.environ.get("ROLLOUTS", "20000"))
TURNS = 2600
"""Words of a transcript: 20 KB that compress as text does."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    chance = random.Random(1)
    words = [b32encode(chance.randbytes(chance.randint(2, 9))).decode().lower() for _ in range(50_000)]
    made = Store.create(tmp_path_factory.mktemp("large") / "store")
    with made.writing("ingest") as run:
        for number in range(ROLLOUTS):
            turns = " ".join(chance.choices(words, k=TURNS))
            row = {"transcript_digest": f"{number:032x}", "task_id": f"t{number // 100}", "n_turns": 10, "turns": turns}
            run.append("transcripts", [row])
    return made


def every_row(store: Store) -> None:
    assert sum(len(batch) for batch in store.batches("transcripts")) == ROLLOUTS


def every_value(store: Store) -> None:
    store.query("SELECT sum(length(turns)) FROM transcripts")


def one_row(store: Store) -> None:
    store.rows("transcripts", where="task_id = 't5' AND transcript_digest = $digest", digest=f"{555:032x}")


@pytest.mark.benchmark
@pytest.mark.parametrize("read", [every_row, every_value, one_row])
def test_what_a_first_and_a_later_read_of_a_process_cost(store: Store, read: Callable[[Store], None]) -> None:
    size = sum((store.paths.root / part).stat().st_size for part in store.manifest().parts()) / 1e6
    read(store)
    without, first, later = [], [], []
    for _ in range(3):
        with patch.object(store_module, "check_parts", lambda *given: None):
            without.append(_timed(read, store))
        part_files._known_digest.cache_clear()
        first.append(_timed(read, store))
        later.append(_timed(read, store))
    base = statistics.median(without)
    once, again = (statistics.median(times) / base for times in (first, later))
    print(f"\n{read.__name__}, {size:.0f} MB: {base:.2f} s without, first read {once:.2f}x, later reads {again:.2f}x")
    assert again < 3


def _timed(read: Callable[[Store], None], store: Store) -> float:
    began = time.perf_counter()
    read(store)
    return time.perf_counter() - began
