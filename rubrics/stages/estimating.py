"""The estimate from plain options: which cases, which prompts, which price."""

from __future__ import annotations

from typing import Any

from rubrics.errors import UsageError
from rubrics.models.endpoint import find_price
from rubrics.stages.benches import judge_kind
from rubrics.stages.estimate import agent_loads, chosen_cases, estimate_rows, measured_loads, single_loads
from rubrics.stages.judging import asked
from rubrics.stages.models import model_settings
from rubrics.stages.options import Options
from rubrics.stages.prompts import requests
from rubrics.store.store import Store


def estimated(store: Store, options: Options) -> tuple[str, list[dict[str, Any]]]:
    """What the figures rest on, and one row per case (low, expected, high)."""
    kind = judge_kind(options)
    if kind == "builtin":
        raise UsageError("the builtin judge asks nobody and costs nothing; give --model NAME")
    price = find_price(model_settings(options))
    cases = chosen_cases(store, options)
    used = measured_loads(store, f"{kind}:{options.model}", len(cases))
    if used is not None:
        basis = f"{len(cases)} judgements, from what {kind}:{options.model} used per judgement in this store"
        return basis, list(estimate_rows(used, price))
    listed = [request for case in cases for request in requests(kind, case, options)]
    criteria = sum(len(asked(rubric)) for case in cases for rubric in case.rubrics.values())
    loads = (single_loads if kind == "single" else agent_loads)(listed, criteria)
    said = "prompts counted, answers assumed" if kind == "single" else "first prompts counted, turns assumed"
    return f"{len(cases)} judgements, {criteria} verdicts: {said}", list(estimate_rows(loads, price))
