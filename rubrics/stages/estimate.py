"""What judging would cost, before anything is asked: prompts are made and counted, answers are assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rubrics import jsonio
from rubrics.models.prices import Price, cost
from rubrics.models.tokens import tokens
from rubrics.records.judgements import Case
from rubrics.records.models import Request, Usage
from rubrics.rules.evaluate import RuleEvaluator
from rubrics.stages import judging, rubric_files
from rubrics.stages.options import Options
from rubrics.stages.tasks import task_chunks
from rubrics.store.store import Store

ANSWER = (60, 120, 300)
"""Tokens of one verdict with its reason and evidence: low, expected, high. Assumed."""
TURNS = (5, 12, 30)
"""Turns of an agent that judges one rollout. Assumed."""
TURN_GROWTH = (400, 1_200, 3_000)
"""Tokens that one turn of an agent adds to its prompt. Assumed."""
CALL = 80
"""Tokens of one call of a tool. Assumed."""
CASES = ("low", "expected", "high")
MEASURED = """
    SELECT avg(prompt_tokens) AS prompt, avg(cached_tokens) AS cached, avg(completion_tokens) AS completion,
           count(*) AS judged
    FROM judgements WHERE judge = $judge AND failure_class IS NULL AND prompt_tokens IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Load:
    """Tokens of one judge over the chosen rollouts, in one of the three cases."""

    requests: int
    prompt: int
    cached: int
    """Part of `prompt` that a provider's prefix cache can serve."""
    completion: int

    def usage(self) -> Usage:
        return Usage(self.prompt, self.cached, self.completion)


def chosen_cases(store: Store, options: Options) -> Iterator[Case]:
    """The rollouts that `score` would put before a judge now, a chunk of tasks in memory at a time."""
    with RuleEvaluator() as evaluator:
        for chunk in task_chunks(store, options):
            rubrics = {name: rubric_files.load(store.paths, name, evaluator) for name in chunk.items}
            yield from (case for case, judged in judging.cases(store, rubrics, options) if judged)


@dataclass(slots=True)
class Counted:
    """Prompts as they would be sent, counted one after another and not kept."""

    requests: int = 0
    prompt: int = 0
    shared: int = 0
    """Tokens of beginnings that a prompt has in common with the one before it."""
    verdicts: int = 0
    _last: str = ""

    def add(self, request: Request) -> None:
        text = jsonio.dumps([list(request.messages), [tool.parameters for tool in request.tools]])
        self.requests += 1
        self.prompt += tokens(text)
        self.shared += _common(self._last, text)
        self._last = text


def single_loads(counted: Counted) -> dict[str, Load]:
    """Loads of one call per rollout. Low: all shared prefixes are served; high: none is."""
    served = {"low": counted.shared, "expected": counted.shared // 2, "high": 0}
    return {
        name: Load(counted.requests, counted.prompt, served[name], counted.verdicts * answer)
        for name, answer in zip(CASES, ANSWER, strict=True)
    }


def agent_loads(counted: Counted) -> dict[str, Load]:
    """Loads of an agent per rollout, from its first prompts: every turn sends all that was said before."""
    loads = {}
    for name, turns, growth, answer in zip(CASES, TURNS, TURN_GROWTH, ANSWER, strict=True):
        calls = counted.requests * turns
        prompt = counted.prompt * turns + counted.requests * growth * turns * (turns - 1) // 2
        cached = {"low": 0.95, "expected": 0.85, "high": 0.0}[name] * (prompt - counted.prompt)
        loads[name] = Load(calls, prompt, round(cached), counted.verdicts * answer + calls * CALL)
    return loads


def measured_loads(store: Store, judge: str, cases: int) -> dict[str, Load] | None:
    """Loads from what this judge really used per rollout in this store; null when it judged none."""
    row = store.query(MEASURED, {"judge": judge}).to_pylist()[0]
    if not row["judged"]:
        return None
    return {
        name: Load(
            cases,
            round(row["prompt"] * cases * factor),
            round((row["cached"] or 0) * cases * factor),
            round((row["completion"] or 0) * cases * factor),
        )
        for name, factor in zip(CASES, (0.8, 1.0, 1.3), strict=True)
    }


def estimate_rows(loads: Mapping[str, Load], price: Price | None) -> Iterator[dict[str, Any]]:
    """One row per case; `dollars` is null where the price is not known."""
    for name, load in loads.items():
        yield {
            "case": name, "requests": load.requests, "prompt_tokens": load.prompt, "from_prefix_cache": load.cached,
            "completion_tokens": load.completion, "dollars": cost(price, load.usage()),
        }  # fmt: skip


def _common(one: str, other: str) -> int:
    """Tokens of the common beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return tokens(one[:low])
