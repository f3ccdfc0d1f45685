"""Money over HTTP: what is counted, where it ends, and what a rerun knows of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server.clock import StepClock
from model_server.faults import PROTOCOL, TRANSPORT, in_turn
from model_server.server import ModelServer, Said, serving

from rubrics.errors import ModelError, UnusableReply
from rubrics.models.cache import Cache, Spent
from rubrics.models.client import Client, open_client
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Reply, Request

PRICE = (1.0, 10.0, 0.1)
USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 500}}
COST = (500 * 1.0 + 500 * 0.1 + 100 * 10.0) / 1e6


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(lambda body: Said("yes", usage=USAGE)) as running:
        yield running


def settings(server: ModelServer, **more: Any) -> ModelSettings:
    return ModelSettings(**{"model": "judge-1", "base_url": server.url, "price": PRICE, "max_tokens": 200, **more})


def question(index: int) -> Request:
    return Request(({"role": "user", "content": "q" * 4000},), repeat=index, purpose="judge")


def read(reply: Reply) -> str:
    if reply.text != "yes":
        raise UnusableReply("shape", "not yes")
    return reply.text


def ask_all(client: Client, indices: range) -> list[str]:
    """For each question `ok`, or the kind of its failure."""

    async def one(index: int) -> str:
        try:
            await client.ask(question(index), read)
        except ModelError as error:
            return error.kind
        return "ok"

    return client.run_all([lambda i=i: one(i) for i in indices])  # type: ignore[misc]


def account(path: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as raw:
        return raw.execute(
            "select purpose, kind, prompt, cached, completion, cost from spending order by id"
        ).fetchall()


def test_cached_tokens_are_priced_as_such_and_the_cost_is_told(server: ModelServer, tmp_path: Path) -> None:
    with open_client(settings(server), tmp_path / "cache.db") as client:
        answer = client.run(client.ask(question(0), read))
        assert answer.reply.cost == pytest.approx(COST)
        client.run(client.ask(question(0), read))
        assert client.counters.cost == pytest.approx(COST)
        assert (client.counters.prompt, client.counters.cached, client.counters.completion) == (1000, 500, 100)
    assert account(tmp_path / "cache.db") == [("judge", "ok", 1000, 500, 100, pytest.approx(COST))]


def test_the_cap_holds_with_many_under_way_and_what_is_left_says_budget(server: ModelServer, tmp_path: Path) -> None:
    cap = 20.5 * COST
    server.latency = 0.002
    with open_client(settings(server, max_cost=cap, concurrency=8), tmp_path / "cache.db") as client:
        outcomes = ask_all(client, range(60))
        spent = client.counters.cost
    assert spent is not None
    assert spent <= cap
    assert set(outcomes) == {"ok", "budget"}
    assert outcomes.count("ok") == len(server.requests) >= 17, "the estimate of one call is left over, not of eight"


def test_a_rerun_starts_where_the_money_stood_and_asks_for_nothing_that_was_paid(
    server: ModelServer, tmp_path: Path
) -> None:
    capped = settings(server, max_cost=10.5 * COST)
    with open_client(capped, tmp_path / "cache.db") as client:
        first = ask_all(client, range(20))
    paid = len(server.requests)
    with open_client(capped, tmp_path / "cache.db") as client:
        assert client._sender.budget.spent == pytest.approx(paid * COST)
        assert ask_all(client, range(20)) == first
        assert client.counters.cost == 0.0
    assert len(server.requests) == paid
    with open_client(settings(server, max_cost=100 * COST), tmp_path / "cache.db") as client:
        assert ask_all(client, range(20)) == ["ok"] * 20
    assert len(server.requests) == 20


def test_unusable_replies_and_calls_that_may_have_been_paid_are_in_the_account(
    server: ModelServer, tmp_path: Path
) -> None:
    server.script = in_turn(
        lambda body: {"no": "yes"},
        [
            lambda good: Said("no", usage=USAGE),
            PROTOCOL["refusal"][0],
            TRANSPORT["internal error"][0],
            TRANSPORT["connection cut in the answer"][0],
            lambda good: Said("yes", usage=USAGE),
        ],
    )
    with open_client(settings(server, max_cost=1.0, asks=3), tmp_path / "cache.db", StepClock()) as client:
        assert client.run(client.ask(question(0), read)).calls == 5
        spent, told = client._sender.budget.spent, client.counters.cost
    assert told is not None
    assert spent > told, "a call that may have been paid counts with its estimate"
    kinds = [(row[1], row[5] is None) for row in account(tmp_path / "cache.db")]
    assert kinds == [("ok", False), ("refused", False), ("connection", True), ("ok", False)]
    cache = Cache(tmp_path / "cache.db")
    assert cache.spent()[0] == pytest.approx(spent)
    cache.close()


def test_without_a_price_the_cost_is_unknown_and_never_nothing(server: ModelServer, tmp_path: Path) -> None:
    with open_client(settings(server, price=None), tmp_path / "cache.db") as client:
        assert client.run(client.ask(question(0), read)).reply.cost is None
        assert client.counters.cost is None
    assert account(tmp_path / "cache.db") == [("judge", "ok", 1000, 500, 100, None)]


def test_a_model_that_is_free_costs_nothing_and_any_budget_holds(server: ModelServer) -> None:
    with open_client(settings(server, price=(0.0, 0.0, 0.0), max_cost=0.0)) as client:
        assert client.run(client.ask(question(0), read)).reply.cost == 0.0


def test_what_another_process_spends_meanwhile_counts(server: ModelServer, tmp_path: Path) -> None:
    clock = StepClock()
    with open_client(settings(server, max_cost=20 * COST), tmp_path / "cache.db", clock) as client:
        assert ask_all(client, range(2)) == ["ok", "ok"]
        other = Cache(tmp_path / "cache.db")
        other.spend("other", [Spent(0.0, "judge-1", "judge", "ok", cost=18 * COST)])
        other.close()
        clock.time += 2.0
        assert ask_all(client, range(2, 4)) == ["budget", "budget"]
