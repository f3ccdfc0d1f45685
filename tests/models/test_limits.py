"""Rates, width and budget, with a clock that moves only by waiting."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_server.clock import StepClock

from rubrics.errors import ModelError
from rubrics.models.budget import Budget
from rubrics.models.limits import ROW, Bucket, Gate, Width


@given(st.integers(1, 600), st.lists(st.floats(0, 20), min_size=1, max_size=200))
def test_no_minute_holds_more_requests_than_the_rate(rate: int, gaps: list[float]) -> None:
    now, bucket, sent = 0.0, Bucket(rate, 0.0), []
    for gap in gaps:
        now += gap
        sent.append(now + bucket.take(1, now))
    assert sent == sorted(sent)
    for i, first in enumerate(sent):
        assert sum(1 for other in sent[i:] if other < first + 60.0 - 1e-6) <= max(rate, 1)


def test_a_rate_is_used_up_to_nine_tenths() -> None:
    bucket = Bucket(600, 0.0)
    last = max(bucket.take(1, 0.0) for _ in range(1200))
    assert 120 <= last + 6 <= 134


def test_more_than_a_bucket_holds_only_waits() -> None:
    bucket = Bucket(1000, 0.0)
    assert bucket.take(5000, 0.0) == pytest.approx((5000 - 100) / (900 / 60))


def test_an_estimate_that_was_too_high_is_given_back() -> None:
    bucket = Bucket(6000, 0.0)
    bucket.take(600, 0.0)
    bucket.give(500)
    assert bucket.take(500, 0.0) == 0.0
    assert bucket.take(90, 0.0) == pytest.approx(1.0)


def test_the_width_shrinks_once_for_all_that_were_under_way_and_grows_back_slowly() -> None:
    width = Width(100)
    for _ in range(30):
        width.rate_limited(began=0.0, now=1.0)
    assert width.value == pytest.approx(80.0)
    width.rate_limited(began=0.5, now=2.0)
    assert width.value == pytest.approx(80.0), "began before the width shrank"
    width.rate_limited(began=1.5, now=3.0)
    assert width.value == pytest.approx(64.0)
    for _ in range(64):
        width.succeeded()
    assert 64.9 < width.value < 65.1
    for _ in range(10_000):
        width.succeeded()
    assert width.value == 100.0
    for moment in range(10, 100):
        width.rate_limited(moment, moment)
    assert width.value == 1.0


async def passed(gate: Gate, clock: StepClock, many: int, tokens: int = 1) -> tuple[list[float], int]:
    """When each of many requests went through, and how many were under way at most."""
    times: list[float] = []
    under_way = most = 0

    async def one() -> None:
        nonlocal under_way, most
        async with gate.passing(tokens):
            under_way += 1
            most = max(most, under_way)
            times.append(clock.now())
            await asyncio.sleep(0)
            under_way -= 1

    await asyncio.gather(*(one() for _ in range(many)))
    return times, most


def test_the_gate_holds_width_and_both_rates() -> None:
    clock = StepClock()
    times, most = asyncio.run(passed(Gate(4, None, None, clock), clock, 50))
    assert (most, len(times), clock.slept) == (4, 50, [])
    clock = StepClock()
    times, _ = asyncio.run(passed(Gate(4, 60, None, clock), clock, 30))
    assert times[-1] == pytest.approx((30 - 6) / 0.9)
    clock = StepClock()
    times, _ = asyncio.run(passed(Gate(4, 6000, 6000, clock), clock, 10, tokens=900))
    assert times[-1] == pytest.approx((9000 - 600) / 90)


def test_nothing_passes_while_all_wait() -> None:
    clock = StepClock()
    gate = Gate(4, None, None, clock)
    for after in (30.0, 10.0, 10.0, 30.0, 10.0):
        gate.refused(0.0, after)
    times, _ = asyncio.run(passed(gate, clock, 8))
    assert min(times) == 30.0


@given(st.lists(st.sampled_from(["answered", "refused", "refused, no time said"]), max_size=60))
def test_all_wait_only_after_refusals_in_a_row(events: list[str]) -> None:
    clock = StepClock()
    gate = Gate(32, None, None, clock)
    row, until = 0, 0.0
    for moment, event in enumerate(events):
        clock.time = float(moment)
        if event == "answered":
            gate.answered()
            row = 0
        else:
            gate.refused(clock.time - 0.5, 5.0 if event == "refused" else None)
            row += 1
            if row >= ROW and event == "refused":
                until = moment + 5.0
        assert 1.0 <= gate.width.value <= 32.0
    times, _ = asyncio.run(passed(gate, clock, 3))
    assert times == [max(clock.time, until)] * 3


@given(st.integers(1, 64), st.integers(1, 20))
def test_refusals_of_all_that_were_under_way_narrow_the_width_once_and_let_wait_once(many: int, after: int) -> None:
    clock = StepClock()
    gate = Gate(64, None, None, clock)
    clock.time = 1.0
    for _ in range(many):
        gate.refused(0.5, float(after))
    assert gate.width.value == pytest.approx(0.8 * 64)
    times, _ = asyncio.run(passed(gate, clock, 5))
    assert times == [1.0 + after if many >= ROW else 1.0] * 5


def test_a_request_that_is_given_up_while_waiting_leaves_its_place() -> None:
    async def go() -> int:
        clock = StepClock()
        gate = Gate(1, None, None, clock)
        async with gate.passing(1):
            waiting = [asyncio.create_task(passed(gate, clock, 1)) for _ in range(3)]
            await asyncio.sleep(0)
            waiting[0].cancel()
            await asyncio.sleep(0)
        waiting[1].cancel()
        done = await asyncio.gather(*waiting, return_exceptions=True)
        assert len((await passed(gate, clock, 2))[0]) == 2
        return sum(not isinstance(one, BaseException) for one in done)

    assert asyncio.run(go()) == 1


def test_a_budget_refuses_what_does_not_fit_and_says_what_to_do() -> None:
    async def go() -> None:
        budget = Budget(1.0, spent=0.5)
        await budget.reserve(0.4)
        with pytest.raises(ModelError, match=r"\$0.5000 of at most \$1.0000.*--max-cost") as error:
            await budget.reserve(0.6)
        assert error.value.kind == "budget"

    asyncio.run(go())


def test_a_reservation_waits_for_what_is_under_way_and_may_cost_less() -> None:
    async def go() -> None:
        budget = Budget(1.0)
        await budget.reserve(0.6)
        waiting = [asyncio.create_task(budget.reserve(0.6)) for _ in range(2)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        budget.settle(0.6, 0.1)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [task.done() for task in waiting] == [True, False]
        budget.settle(0.6, 0.6)
        with pytest.raises(ModelError):
            await waiting[1]
        assert (budget.reserved, budget.spent) == (0.0, pytest.approx(0.7))

    asyncio.run(go())


@given(st.lists(st.tuples(st.floats(0.001, 0.3), st.floats(0, 1)), max_size=60))
def test_the_cap_holds_where_no_call_costs_more_than_its_estimate(calls: list[tuple[float, float]]) -> None:
    async def go() -> Budget:
        budget = Budget(1.0)

        async def one(estimate: float, share: float) -> None:
            await budget.reserve(estimate)
            await asyncio.sleep(0)
            budget.settle(estimate, estimate * share)

        await asyncio.gather(*(one(*call) for call in calls), return_exceptions=True)
        return budget

    budget = asyncio.run(go())
    assert budget.spent <= 1.0 + 1e-9
    assert budget.reserved == 0.0
