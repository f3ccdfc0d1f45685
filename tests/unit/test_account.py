"""The account of a run: the sentence that its final state says, and the page."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from store_helpers import write

from rubrics.stages.account import account_of, as_markdown
from rubrics.stages.models import CACHE
from rubrics.store.store import Store

HOSTILE = "![x](http://a/b) | <img src=x> `code` \x1b[2J\nnext"


def made(folder: Path, rewards: list[tuple[float | None, str, str | None]]) -> str:
    store = Store.create(folder)
    rows = [
        {
            "rollout_id": f"r{n}",
            "task_id": "t",
            "group_id": "g",
            "reward": reward,
            "status": status,
            "failure_class": why,
        }
        for n, (reward, status, why) in enumerate(rewards)
    ]
    census = [{"stage": "ingest", "subject": "file", "kind": "k", "place": "", "detail": HOSTILE, "count": 1}]
    write(store, "reward", rewards=rows, census=census)
    return str(folder)


def test_masked_rollouts_are_counted_by_why_the_most_frequent_first(tmp_path: Path) -> None:
    store = made(tmp_path / "s", [(1.0, "ok", None), (None, "ungraded", "no_patch"), *[(None, "infra", "engine")] * 2])
    said = account_of(store, {"score": 4, "reward": 4}).sentence
    assert said == "Done: score 4, reward 4. 3 of 4 rollouts masked (reward null): 2 infra engine, 1 ungraded no_patch"


def test_a_long_list_of_reasons_is_cut_and_a_reason_is_made_visible(tmp_path: Path) -> None:
    store = made(tmp_path / "s", [(None, "infra", f"why\n{n:02}") for n in range(12)])
    said = account_of(store, {"reward": 12}).sentence
    assert said.endswith("1 infra why\\n07, others")
    assert "\n" not in said


def test_a_run_that_computes_no_rewards_says_nothing_of_them(tmp_path: Path) -> None:
    account = account_of(made(tmp_path / "s", [(None, "infra", "engine")]), {"ingest": 1})
    assert (account.sentence, account.rewards) == ("Done: ingest 1", [])
    assert account_of(made(tmp_path / "t", [(0.0, "ok", None)]), {"reward": 1}).sentence.endswith(
        "1 rollouts, each with a reward"
    )


def test_nothing_in_the_census_is_markdown_on_the_page(tmp_path: Path) -> None:
    page = as_markdown(account_of(made(tmp_path / "s", [(1.0, "ok", None)]), {"reward": 1}))
    (line,) = [line for line in page.splitlines() if "http://a/b" in line]
    assert line.count(" | ") == 4, "five cells"
    assert r"\!\[x\](http://a/b) \| &lt;img src=x> \`code\` \x1b\[2J<br>next |" in line
    assert "\x1b" not in page


def test_the_bill_is_on_the_page(tmp_path: Path) -> None:
    store = made(tmp_path / "s", [(1.0, "ok", None)])
    assert "No model was asked." in as_markdown(account_of(store, {"reward": 1}))
    with sqlite3.connect(Path(store) / CACHE) as cache:
        cache.execute("CREATE TABLE spending (purpose, model, kind, prompt, cached, completion, cost)")
        cache.execute("INSERT INTO spending VALUES ('judge', 'm', 'ok', 10, 0, 5, 0.25)")
    assert "| judge | m | 1 | 0 | 10 | 0 | 5 | 0.25 | 0 |" in as_markdown(account_of(store, {"reward": 1}))
