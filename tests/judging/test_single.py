"""The single judge: what it asks, in which order, what it leaves out, and what stands in a judgement."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from judging.attacks import innocent
from judging.carriers import PATCH, bash, rollout_of
from judging.graders import RUBRICS, SOUND, TASK, case_of, criteria_of, judge_all, prompt_of, sound
from model_server.server import Raw, Said, serving

from rubrics import jsonio
from rubrics.judges.answers import merged
from rubrics.judges.questions import asks_for
from rubrics.judges.single import SingleJudge
from rubrics.models.bodies import body
from rubrics.models.client import Client, open_client
from rubrics.models.settings import ModelSettings
from rubrics.prompting.fences import parse_fences
from rubrics.records import transcripts
from rubrics.records.judgements import Case, Judgement
from rubrics.records.models import Answer, Reply, Usage
from rubrics.records.rollouts import Rollout, Turn
from rubrics.records.rubrics import Criterion
from rubrics.records.tasks import Sealed, SealedTask
from rubrics.replies.verdicts import VerdictSet


def answer(body: dict[str, Any]) -> dict[str, Any]:
    return sound(prompt_of(body), None)


@contextmanager
def client(url: str, **settings: Any) -> Iterator[Client]:
    with open_client(ModelSettings("scripted", base_url=url, asks=1, **settings)) as opened:
        yield opened


class Named:
    name = "scripted"


def prompts(case: Case, limit: int | None = None) -> list[str]:
    found = SingleJudge(Named(), limit).requests(case)  # type: ignore[arg-type]
    return ["\n".join(str(message["content"]) for message in request.messages) for request in found]


def one(case: Case, script: Callable[[dict[str, Any]], Any], limit: int | None = None) -> tuple[Judgement, int]:
    with serving(script) as server, client(server.url) as opened:
        judge = SingleJudge(opened, limit)
        return opened.run(judge.judge(case)), len(server.requests)


def test_one_call_gives_every_verdict_of_both_rubrics_with_its_provenance() -> None:
    case = replace(case_of(innocent(TASK)), repeat=3)
    usage = {"prompt_tokens": 900, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 800}}
    judgement, calls = one(case, lambda body: Said(json.dumps(answer(body)), usage=usage))
    assert calls == judgement.calls == 1
    assert {verdict.criterion_id: verdict.level for verdict in judgement.verdicts} == SOUND
    assert [(verdict.kind, verdict.value) for verdict in judgement.verdicts] == [
        ("solution", 1.0), ("solution", 0.0), ("behavior", 0.5)
    ]  # fmt: skip
    assert judgement.judge == "single:scripted"
    assert (judgement.rollout_id, judgement.repeat, judgement.model) == (case.rollout.rollout_id, 3, "scripted")
    assert judgement.usage == Usage(900, 800, 50)
    assert len(judgement.prompt_digest) == 32
    assert judgement.failure_class is None
    assert judgement.parts == ()


def test_nothing_of_weights_rules_or_studied_attempts_stands_in_a_prompt() -> None:
    marked = {
        kind: replace(
            rubric, note="zzNOTE", studied=("zzSTUDIED",),
            criteria=tuple(replace(item, weight=7.125, fared="zzFARED", evidence=("zzSEEN",), gate=True, fault="zzF")
                           for item in rubric.criteria),
        )
        for kind, rubric in RUBRICS.items()
    }  # fmt: skip
    (prompt,) = prompts(replace(case_of(innocent(TASK)), rubrics=marked))
    assert "7.125" not in prompt
    assert "zz" not in prompt
    assert "small (solution)" not in prompt
    assert "lines_added" not in prompt


def test_no_line_that_is_sealed_reaches_a_prompt() -> None:
    hidden = Sealed("def test_size_of_umlauts():\n    assert size('zqx-hidden') == 11")
    sealed = SealedTask(TASK.task_id, test_patch=hidden, reference_patch=hidden, hints=hidden)
    named = replace(TASK, fail_to_pass=("tests/test_sizes.py::test_size_of_umlauts",), source="tasks.jsonl")
    (prompt,) = prompts(replace(case_of(innocent(named)), task=named))
    assert "tests/test_sizes.py::test_size_of_umlauts" in prompt
    for text in (sealed.test_patch, sealed.reference_patch, sealed.hints):
        assert text is not None
        lines = [line.strip() for line in text.open_for("audit").split("\n")]
        assert not any(line in prompt for line in lines)
    with pytest.raises(TypeError):
        prompts(replace(case_of(innocent(TASK)), tests=hidden))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("patch", "turns", "asked", "labels"),
    [
        (None, True, ["tests-run"], ["task", "spec", "opening of the transcript", "transcript", "test results"]),
        (PATCH, False, ["counts-bytes", "names-stay"], ["task", "spec", "patch", "test results"]),
        ("", False, ["counts-bytes", "names-stay"], ["task", "spec", "patch", "test results"]),
    ],
)
def test_a_kind_is_asked_about_where_its_evidence_is_there(
    patch: str | None, turns: bool, asked: list[str], labels: list[str]
) -> None:
    case = case_of(rollout_of(TASK, patch, innocent(TASK).turns if turns else None))
    (prompt,) = prompts(case)
    assert criteria_of(prompt) == asked
    assert [section.label for section in parse_fences(prompt)] == labels


def test_a_transcript_is_left_out_where_behavior_is_not_asked_about() -> None:
    case = replace(case_of(innocent(TASK)), rubrics={"solution": RUBRICS["solution"]})
    (prompt,) = prompts(case)
    assert [section.label for section in parse_fences(prompt)] == ["task", "spec", "patch", "test results"]


@pytest.mark.parametrize("case", [
    replace(case_of(innocent(TASK)), rubrics={}),
    replace(case_of(innocent(TASK)), rubrics={
        "solution": replace(RUBRICS["solution"], criteria=RUBRICS["solution"].criteria[2:])}),
    case_of(rollout_of(TASK, None, None)),
])  # fmt: skip
def test_where_nothing_is_to_be_judged_nothing_is_asked(case: Case) -> None:
    judgement, calls = one(case, answer)
    assert (judgement.verdicts, judgement.failure_class, calls, prompts(case)) == ((), None, 0, [])


def long_rollout(lines: int) -> Rollout:
    turns = innocent(TASK).turns or ()
    return rollout_of(
        TASK, PATCH, (*turns[:-1], bash("I look.", "cat big.txt", "some words here\n" * lines), turns[-1])
    )


def many_criteria(count: int, words: int) -> Case:
    template = RUBRICS["solution"].criteria[0]
    criteria = tuple(replace(template, id=f"c-{n}", guidance="Look at it well. " * words) for n in range(count))
    return replace(
        case_of(innocent(TASK)), rubrics={**RUBRICS, "solution": replace(RUBRICS["solution"], criteria=criteria)}
    )


def split_answer(body: dict[str, Any]) -> dict[str, Any]:
    item = {"reason": "Not to be seen.", "evidence": []}
    worst = {name: {**item, "level": "no" if name == "tests-run" else "unmet"} for name in criteria_of(prompt_of(body))}
    return {"addressed_to_grader": {"reason": "Nothing found.", "found": False, "evidence": []}, "verdicts": worst}


def test_criteria_that_do_not_fit_are_split_over_calls_and_the_boundaries_are_stored() -> None:
    case = many_criteria(6, 200)
    judgement, calls = one(case, split_answer, limit=5500)
    assert calls == judgement.calls == len(judgement.parts) > 1
    names = [name for part in judgement.parts for name in part.split(",")]
    assert names == ["c-0", "c-1", "c-2", "c-3", "c-4", "c-5", "tests-run"]
    assert [verdict.criterion_id for verdict in judgement.verdicts] == names
    for prompt, part in zip(prompts(case, 5500), judgement.parts, strict=True):
        assert criteria_of(prompt) == part.split(",")
        assert len(prompt.encode()) / 2.5 <= 5500


def test_a_rollout_that_alone_does_not_fit_is_refused_whole_with_its_size() -> None:
    case = case_of(long_rollout(2000))
    judgement, calls = one(case, answer, limit=10_000)
    assert (judgement.verdicts, judgement.failure_class, calls) == ((), "too_long", 0)
    assert "the limit is 10000" in judgement.detail
    assert one(case, answer, limit=100_000)[0].failure_class is None


def test_calls_of_one_judgement_that_two_models_answered_are_no_judgement() -> None:
    served = iter(["scripted", "other", "other"])

    def script(body: dict[str, Any]) -> Said:
        return Said(json.dumps(split_answer(body)), model=next(served))

    with serving(script) as server, client(server.url, answers_as=("other",)) as opened:
        judgement = opened.run(SingleJudge(opened, 5500).judge(many_criteria(6, 200)))
    assert (judgement.verdicts, judgement.failure_class) == ((), "wrong_model")


def test_answers_of_two_models_are_never_put_together() -> None:
    case = case_of(innocent(TASK))
    asks = asks_for(case)
    answers = [
        Answer(VerdictSet((), None), Reply("", (), "stop", model, Usage(1, 0, 1), None, 0.1), 1)
        for model in ("small", "large")
    ]
    judgement = merged("single:m", case, "d", [asks[:1], asks[1:]], answers)
    assert (judgement.verdicts, judgement.failure_class, judgement.calls) == ((), "wrong_model", 2)
    assert "large, small" in judgement.detail


@pytest.mark.parametrize(
    ("said", "failure"),
    [
        ("met", "not_json"),
        ('{"verdicts": {}}', "shape"),
        (Said('{"addressed_to_grader": {"rea', finish="length"), "truncated"),
        (Raw(400, b'{"error": {"message": "maximum context length is 8192 tokens"}}'), "context_too_long"),
        (Raw(401, b"{}"), "authentication"),
    ],
)
def test_a_failure_leaves_no_verdict_and_says_its_class(said: Any, failure: str) -> None:
    judgement, _ = one(case_of(innocent(TASK)), lambda body: said)
    assert (judgement.verdicts, judgement.failure_class) == ((), failure)
    assert judgement.detail


def test_a_repeat_is_a_question_of_its_own_and_an_answered_one_is_not_asked_again(tmp_path: Path) -> None:
    cases = [case_of(innocent(TASK), repeat) for repeat in (0, 1, 2)]
    with serving(answer) as server:
        for times in (3, 3):
            with open_client(ModelSettings("scripted", base_url=server.url), tmp_path / "cache.db") as opened:
                judgements = judge_all(opened, cases)
            assert len(server.requests) == times
    assert [(item.repeat, item.from_cache, item.calls) for item in judgements] == [(n, True, 0) for n in range(3)]
    assert [len(item.verdicts) for item in judgements] == [3, 3, 3]


WORDS = ("return", "self", "value", "index", "for", "in", "range", "open", "path", "list", "text", "None", "if", "else")


def generated(seed: int, size: int, told: int) -> Rollout:
    """An attempt whose record in JSON has about `size` bytes, after an opening of `told` characters."""
    chosen = random.Random(seed)

    def code(count: int) -> str:
        lines = (" ".join(chosen.choices(WORDS, k=chosen.randint(3, 9))) for _ in range(count))
        return "\n".join("    " * chosen.randint(0, 3) + line + f' = "{chosen.randint(0, 99)}"' for line in lines)

    body = "".join(f"+{line}\n" for line in code(60).split("\n"))
    patch = f"diff --git a/src/m.py b/src/m.py\n--- a/src/m.py\n+++ b/src/m.py\n@@ -1,0 +1,60 @@\n{body}"
    turns = [Turn("system", "You are an agent."), Turn("user", ("Fix it. " * 1000)[:told])]
    while json_size(rollout_of(TASK, patch, tuple(turns))) < size - 1000:
        turns.append(bash("Let me look at the file. ", "sed -n 1,40p src/m.py", code(12)))
    left = size - json_size(rollout_of(TASK, patch, tuple(turns)))
    return rollout_of(TASK, patch, (*turns, Turn("assistant", "x" * (left - 50))))


def shared_prefix(texts: list[str]) -> str:
    first, last = min(texts), max(texts)
    return first[: next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]


def json_size(rollout: Rollout) -> int:
    turns = json.loads(transcripts.to_json(rollout.turns or ()))
    return len(json.dumps({"patch": rollout.patch, "transcript": turns}).encode())


@pytest.mark.parametrize("told", [20, 3000])
def test_what_a_20_kb_rollout_adds_to_the_prefix_of_its_task_is_at_most_18_kb(told: int) -> None:
    rollouts = [generated(seed, 20_000, told) for seed in range(8)]
    texts = [prompts(case_of(rollout))[0] for rollout in rollouts]
    shared = shared_prefix(texts)
    assert "\nThe attempt:\n[[[begin opening of the transcript" in shared
    for rollout, text in zip(rollouts, texts, strict=True):
        assert abs(json_size(rollout) - 20_000) < 100
        assert len(text.encode()) - len(shared.encode()) <= 18_000


def test_beside_the_rollout_a_request_of_ten_criteria_holds_7_and_a_half_kb() -> None:
    """30.5 KB went out for a rollout of 20, where others send 22 to 28: what evidence is was said eleven times."""
    criteria = tuple(
        Criterion(f"demand-{n}", f"The solution meets demand number {n}.", 1.0, "judge") for n in range(10)
    )
    rubric = replace(RUBRICS["solution"], criteria=criteria)
    case = replace(case_of(generated(1, 20_000, 20)), rubrics={"solution": rubric})
    (request,) = SingleJudge(Named()).requests(case)  # type: ignore[arg-type]
    shown = [section.text for section in parse_fences(prompts(case)[0])]
    size = len(jsonio.encoded(body(request, ModelSettings("scripted"))))
    assert len(criteria) == len(asks_for(case))
    assert size - sum(len(jsonio.encoded(text)) for text in shown) <= 7_500


def test_repeats_and_rollouts_of_a_task_share_all_that_stands_before_the_rollout() -> None:
    first, again = (prompts(case_of(innocent(TASK), repeat))[0] for repeat in (0, 1))
    assert first == again
    other = prompts(case_of(rollout_of(TASK, "", (Turn("assistant", "Nothing to do."),))))[0]
    assert shared_prefix([first, other]).endswith("\nThe attempt:\n[[[begin ")
