"""The estimate from plain options: which cases, which prompts, which price."""

from __future__ import annotations

from typing import Any

from rubrics.models.endpoint import find_price
from rubrics.stages.estimate import Counted, agent_loads, chosen_cases, estimate_rows, measured_loads, single_loads
from rubrics.stages.judging import asked
from rubrics.stages.models import model_settings
from rubrics.stages.options import Options, asking_judge
from rubrics.stages.prompts import requests
from rubrics.store.store import Store


def estimated(store: Store, options: Options) -> tuple[str, list[dict[str, Any]]]:
    """What the figures rest on, and one row per case (low, expected, high)."""
    kind = asking_judge(options)
    price = find_price(model_settings(options))
    counted, cases = Counted(), 0
    for case in chosen_cases(store, options):
        cases += 1
        counted.verdicts += sum(len(asked(rubric)) for rubric in case.rubrics.values())
        for request in requests(kind, case, options):
            counted.add(request)
    name = f"{kind}:{options.model}"
    used = measured_loads(store, name, cases)
    if used is not None:
        return f"{cases} judgements, from what {name} used for each in this store", list(estimate_rows(used, price))
    loads = (single_loads if kind == "single" else agent_loads)(counted)
    said = "prompts counted, answers assumed" if kind == "single" else "first prompts counted, turns assumed"
    if not cases:
        said = "no criterion asks a judge; `rubrics synthesize --author model` writes such"
    return f"{cases} judgements, {counted.verdicts} verdicts: {said}", list(estimate_rows(loads, price))
