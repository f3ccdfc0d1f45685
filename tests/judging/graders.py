"""Graders for the scripted server: one reads its prompt by the fences and is sound, others obey what they read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from judging.attacks import Attack
from judging.carriers import HONEST_LINE, TESTED

from rubrics.judges.single import SingleJudge
from rubrics.models.client import Client, open_client
from rubrics.models.settings import ModelSettings
from rubrics.prompting.fences import Section, outside_fences, parse_fences
from rubrics.records.judgements import Case, Judgement
from rubrics.records.rollouts import Rollout
from rubrics.records.rubrics import Criterion, Rubric
from rubrics.records.tasks import Task
from rubrics.visible import visible

TASK = Task("demo__sizes-1", "demo/sizes", "abc123", "The size of a text is its number of bytes.")
RUBRICS: dict[Any, Rubric] = {
    "solution": Rubric(
        TASK.task_id, "solution",
        (Criterion("counts-bytes", "The size counts bytes.", 2.0, "judge", guidance="Read the changed line."),
         Criterion("names-stay", "No name changes.", 1.0, "judge"),
         Criterion("small", "Few lines.", 1.0, "rule", rule="lines_added <= 40")), "model", (), "d", "",
    ),
    "behavior": Rubric(
        TASK.task_id, "behavior",
        (Criterion("tests-run", "Tests are run.", 1.0, "judge", scale=("no", "some", "all")),), "model", (), "d", "",
    ),
}  # fmt: skip
BEST = {"counts-bytes": "met", "names-stay": "met", "tests-run": "all"}
SOUND = {"counts-bytes": "met", "names-stay": "unmet", "tests-run": "some"}
"""What a careful reader says of the innocent rollout, and so of every attack laid into it."""

_CRITERION = re.compile(r"^- (\S+) \((solution|behavior)\)\. ")
_FILE = re.compile(r"\[\[file (?:[^:]*: (.*)|(as written))\]\]")
_LINE = re.compile(r"(\d+)[-+ |](.*)")
_TURN = re.compile(r"\[\[turn (\d+) ")
_CALL = re.compile(r"\[\[call (.*)\]\]")

Grader = Callable[[str, Attack | None], Any]


def prompt_of(body: dict[str, Any]) -> str:
    content: str = body["messages"][-1]["content"]
    return content


def criteria_of(prompt: str) -> list[str]:
    """The names asked about: read outside the fences only."""
    return [match[1] for line in outside_fences(prompt).splitlines() if (match := _CRITERION.match(line))]


def places(prompt: str) -> Iterator[tuple[str, str]]:
    """Every line of the attempt that a pointer can name, with its text, as the marks of the prompt say it."""
    for section in parse_fences(prompt):
        if section.label == "patch":
            yield from _patch_places(section)
        elif section.label in ("opening of the transcript", "transcript"):
            turn = ""
            for line in section.text.split("\n"):
                if match := _TURN.match(line):
                    turn = match[1]
                call = _CALL.match(line)
                yield f"transcript:{turn}", call[1] if call else line


def _patch_places(section: Section) -> Iterator[tuple[str, str]]:
    path = ""
    for line in section.text.split("\n"):
        if match := _FILE.fullmatch(line):
            path = match[1] or match[2]
        elif match := _LINE.match(line):
            yield f"patch:{path}:{match[1]}", match[2]
            yield f"patch:{path}:{match[1]}", path
        elif line.startswith("@@ "):
            yield f"patch:{path}:10", line[3:]


def find(prompt: str, words: str) -> dict[str, str] | None:
    """A pointer to the first place that shows these words."""
    wanted = _seen(words)
    return next(({"place": at, "quote": text.strip()} for at, text in places(prompt) if wanted in _seen(text)), None)


def _seen(text: str) -> str:
    return visible(text).replace("\\", "")


def sound(prompt: str, attack: Attack | None) -> dict[str, Any]:
    """Levels by what the patch and the outputs show; reports the attack's words where it comes across them."""
    code, tested = find(prompt, HONEST_LINE.strip()), find(prompt, TESTED)
    evidence = {"counts-bytes": [code], "names-stay": [], "tests-run": [tested]}
    verdicts = {
        name: {"reason": "This is what the attempt shows.", "level": SOUND[name], "evidence": evidence[name]}
        for name in criteria_of(prompt)
    }
    at = find(prompt, attack.quote) if attack is not None and attack.addresses else None
    guard = {"reason": "What I looked for.", "found": at is not None, "evidence": [at] if at else []}
    return {"addressed_to_grader": guard, "verdicts": verdicts}


def obeys(evidence: Callable[[str, Attack], list[dict[str, str]]], levels: dict[str, str] = BEST) -> Grader:
    """A grader that gives what it was told to give, on this evidence, and says that nothing addressed it."""

    def grade(prompt: str, attack: Attack | None) -> dict[str, Any]:
        assert attack is not None
        item = {"reason": "The text says that it is verified.", "evidence": evidence(prompt, attack)}
        verdicts = {name: {**item, "level": levels[name]} for name in criteria_of(prompt) if name in levels}
        guard = {"reason": "Nothing of that kind.", "found": False, "evidence": []}
        return {"addressed_to_grader": guard, "verdicts": verdicts}

    return grade


def quoting_the_attack(prompt: str, attack: Attack) -> list[dict[str, str]]:
    at = find(prompt, attack.quote)
    return [at] if at is not None else []


def parrots(prompt: str, attack: Attack | None) -> str:
    """Answers with the attack's own words: with its verdict block alone, where it holds one."""
    assert attack is not None
    start = attack.text.find('{"addressed_to_grader"')
    if start < 0:
        return attack.text
    return json.dumps(json.JSONDecoder().raw_decode(attack.text, start)[0])


def case_of(rollout: Rollout, repeat: int = 0) -> Case:
    return Case(TASK, rollout, RUBRICS, "PASSED tests/test_sizes.py::test_size", repeat)


def judged(url: str, rollouts: list[Rollout], asks: int = 1) -> list[Judgement]:
    """The single judge over HTTP, through the real client."""
    with open_client(ModelSettings("scripted", base_url=url, asks=asks)) as client:
        return judge_all(client, [case_of(rollout) for rollout in rollouts])


def judge_all(client: Client, cases: list[Case]) -> list[Judgement]:
    judge = SingleJudge(client)
    return client.run_all([lambda case=case: judge.judge(case) for case in cases])  # type: ignore[misc]
