"""A finished judgement as text, for the cache of finished work. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rubrics import jsonio
from rubrics.records.judgements import Addressed, Judgement, Pointer, Verdict
from rubrics.records.models import Usage


def to_json(judgement: Judgement) -> str:
    """The whole judgement. Equal ones have equal text."""
    return jsonio.dumps(asdict(judgement))


def from_json(text: str) -> Judgement:
    """The judgement that `to_json` wrote. Raises `ValueError` for anything else."""
    try:
        values = jsonio.loads(text)
        judgement = _judgement(values)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no stored judgement: {error!r}") from None
    if to_json(judgement) != text:
        raise ValueError("no stored judgement: it is written otherwise")
    return judgement


def _judgement(values: Mapping[str, Any]) -> Judgement:
    told = values["addressed"]
    parts = {
        "verdicts": tuple(Verdict(**{**item, "evidence": _evidence(item)}) for item in values["verdicts"]),
        "addressed": None if told is None else Addressed(told["reason"], _evidence(told)),
        "parts": tuple(values["parts"]),
        "commands": tuple(values["commands"]),
        "usage": Usage(**values["usage"]),
    }
    return Judgement(**{**values, **parts})


def _evidence(item: Mapping[str, Any]) -> tuple[Pointer, ...]:
    return tuple(Pointer(**pointer) for pointer in item["evidence"])
