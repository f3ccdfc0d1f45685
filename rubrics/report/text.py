"""An explanation as text for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

from rubrics.report.numbers import number
from rubrics.report.trust import trust_lines
from rubrics.report.wrapping import WIDTH, say, wrapped
from rubrics.visible import one_line


def as_text(explained: Mapping[str, Any]) -> str:
    """All of the explanation; text that rollouts or rubrics hold cannot move the cursor or turn letters around."""
    parts = (_identity, _outcome, _scores, _patch, trust_lines, _arithmetic)
    return "\n".join(line.rstrip() for part in parts for line in (*part(explained), ""))


def _identity(explained: Mapping[str, Any]) -> Iterator[str]:
    yield f"Rollout {say(explained['rollout_id'])}"
    if explained["source_id"] is not None:
        yield f"  own id  {say(explained['source_id'])}"
    yield f"  task    {say(explained['task_id'])}"
    step = "" if explained["policy_step"] is None else f", policy step {explained['policy_step']}"
    yield f"  run     {say(explained['run'])}, attempt {explained['attempt']}"
    yield f"  policy  {say(explained['policy'])}{step}"
    named = "" if explained["source_group"] is None else f", named {say(explained['source_group'])}"
    yield f"  group   {say(explained['group_id'])}{named}"
    studied = {True: "yes", False: "no", None: "not known"}[explained["studied"]]
    copy = f", repeats {say(explained['duplicate_of'])}" if explained["duplicate_of"] else ""
    yield f"  studied {studied}{copy}"
    reward = explained["reward"]
    if reward is None:
        yield "  reward  none: no row in the reward table"
        return
    why = f" ({say(reward['failure_class'])})" if reward["failure_class"] else ""
    yield f"  status  {say(reward['status'])}{why}"
    yield f"  reward  {_number(reward['reward'])}, advantage {_number(reward['advantage'])}"


def _outcome(explained: Mapping[str, Any]) -> Iterator[str]:
    outcome = explained["outcome"]
    yield from wrapped(f"Outcome: {outcome['outcome']}: {outcome['why']}", 0)
    for item in outcome["sources"]:
        mark = "*" if item["source"] == outcome["counts"] else " "
        detail = f" ({say(item['detail'])})" if item["detail"] else ""
        yield f"  {mark} {say(item['outcome']):<9} {say(item['source'])}{detail}"
    if outcome["disagreement"]:
        yield "  The sources disagree; the one marked * counts."
    if outcome["doubt"]:
        yield f"  Not the same: {say(outcome['doubt'])}; run `rubrics reward`."


def _scores(explained: Mapping[str, Any]) -> Iterator[str]:
    for place, score in enumerate(explained["scores"]):
        if place:
            yield ""
        title = f"{score['kind'].capitalize()}: {_number(score['score'])}"
        if score["rubric"] is None:
            yield f"{title} (no rubric)"
            continue
        yield f"{title} (rubric {score['rubric'][:12]} by {say(score['author'])})"
        if score["note"]:
            yield from wrapped(score["note"], 2)
        if score["criteria"]:
            yield "   value  weight  criterion"
        for criterion in score["criteria"]:
            yield from _criterion(criterion)


def _criterion(criterion: Mapping[str, Any]) -> Iterator[str]:
    value = "-" if criterion["value"] is None else f"{criterion['value']:.3f}"
    gate = ", gate" if criterion["gate"] else ""
    yield f"  {value:>6}  {number(criterion['weight']):>6}  {say(criterion['id'])}{gate}"
    yield from wrapped(criterion["text"], 18)
    if criterion["failure_class"]:
        yield from wrapped(f"no value: {criterion['failure_class']}", 18)
    for name in ("fault", "anchor"):
        if criterion[name]:
            yield from wrapped(f"{name}: {criterion[name]}", 18)
    yield from wrapped(str(criterion["reason"]), 18)
    for item in criterion["evidence"]:
        shown = item["pointer"] if item["name"] is None else f"{item['name']} = {item['shown']}"
        yield from wrapped(shown, 20)
    for place in criterion.get("places", ()):
        yield from wrapped(place, 20)


def _patch(explained: Mapping[str, Any]) -> Iterator[str]:
    patch = explained["patch"]
    if patch is None:
        yield "Patch: not known"
        return
    notes = f" (not clean: {', '.join(patch['malformed'])})" if patch["malformed"] else ""
    yield f"Patch: {len(patch['files'])} files{notes}" if patch["files"] else f"Patch: changes nothing{notes}"
    for file in patch["files"]:
        yield f"  +{file['added']:<4} -{file['removed']:<4} {say(file['path'])} ({file['change']}, {file['kind']})"


def _arithmetic(explained: Mapping[str, Any]) -> Iterator[str]:
    yield "Arithmetic"
    for place, line in enumerate(explained["arithmetic"], 1):
        first, *rest = wrap(one_line(line), WIDTH - 5)
        yield f"  {place}. {first}"
        yield from (f"     {item}" for item in rest)


def _number(value: float | None) -> str:
    return "none" if value is None else number(value)
