"""Writes `docs/examples/agent-run.md`: every word between the program and a scripted agent judge on a rollout."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "authoring")]

from agents.agent_helpers import calls, one_after_another  # noqa: E402
from authoring_helpers import (  # noqa: E402
    GOOD,
    SAMPLE,
    SEEN,
    SPANS,
    author,
    judges,
    read_everything,
    sample_store,
    submits,
    synthesized,
)
from model_server.server import serving  # noqa: E402

from rubrics.agents.conversation_text import conversation_text  # noqa: E402
from rubrics.judges.model_agent import AgentJudge  # noqa: E402
from rubrics.judges.single import SingleJudge  # noqa: E402
from rubrics.models.client import open_client  # noqa: E402
from rubrics.models.settings import ModelSettings  # noqa: E402
from rubrics.records.judgements import Case, Judgement  # noqa: E402
from rubrics.records.models import Tool  # noqa: E402
from rubrics.rules.evaluate import RuleEvaluator  # noqa: E402
from rubrics.stages import rubric_files  # noqa: E402
from rubrics.stages.environments import open_environment  # noqa: E402
from rubrics.stages.judging import cases, grade_rows  # noqa: E402
from rubrics.stages.options import Options  # noqa: E402
from rubrics.store.store import Store  # noqa: E402

TARGET = ROOT / "docs" / "examples" / "agent-run.md"
RUN = "beta-2"
REVERSED = """python3 - <<'END'
from spans import merge
try:
    print("a result:", merge([(3, 1)]))
except ValueError as error:
    print("ValueError:", error)
END"""
KEPT = """python3 - <<'END'
from spans import merge
given = [(7, 9), (0, 10), (2, 5)]
print("result:", merge(given))
print("the caller's list is now:", given)
END"""
LOOKS = calls(
    ("run_command", {"command": REVERSED}),
    ("run_command", {"command": KEPT}),
    ("show_transcript", {"first_turn": 4, "last_turn": 6}),
    text="By the patch reversed spans are refused and the list is kept. I run both, and look at what the agent tried.",
)
TRIED = {**SEEN, "tries-each-case-of-the-issue": "python -c"}
"""Words by which the trial of the rubrics decides."""
HEAD = """\
# An agent reaches its verdicts

The rollout is the attempt of run `{run}` at the task `{task}` of `data/sample`; its tests failed. The replies of the
judge are scripted, so that this page is the same each time; prompts, tools, sandbox and reader are real.
`make examples` writes it anew. [judging.md](../judging.md) says what happens here.

By its patch alone the attempt seems to refuse reversed spans. The judge runs the case in the rollout's own environment
and sees that it does not. Its first submission says otherwise, and quotes output that was never printed: the reader
refuses all of it and says why. The second one quotes what is there, and becomes the grades at the end of this page.
"""


def said(reason: str, level: str, *evidence: tuple[str, str]) -> dict[str, Any]:
    return {"reason": reason, "level": level, "evidence": [{"place": p, "quote": q} for p, q in evidence]}


REFUSES = said(
    "The patch raises ValueError with the span, and the command shows it.", "met",
    ("patch:spans/merge.py:10", "raise ValueError((start, end))"), ("run:0", "ValueError: (3, 1)"),
)  # fmt: skip
"""What the patch alone suggests, with words that no command printed."""
RETURNS = said(
    "The error is raised, then caught by the handler around it: a reversed span gives an empty list.", "unmet",
    ("patch:spans/merge.py:18", "except Exception:"), ("run:0", "a result: []"),
)  # fmt: skip


def submission(reversed_spans: dict[str, Any]) -> dict[str, Any]:
    """All verdicts, with this one about reversed spans."""
    verdicts = {
        "keeps-the-farther-end": said(
            "The larger end is kept, and the command shows (0, 10) for a span that holds another.", "met",
            ("patch:spans/merge.py:14", "merged[-1] = (merged[-1][0], max(merged[-1][1], end))"),
            ("run:1", "result: [(0, 10)]"),
        ),
        "refuses-reversed-spans": reversed_spans,
        "leaves-the-list-alone": said(
            "Sorting makes a new list; after the call the caller's list is as it was.", "met",
            ("run:1", "the caller's list is now: [(7, 9), (0, 10), (2, 5)]"),
        ),
        "tries-each-case-of-the-issue": said(
            "After its edit the agent runs the nested case alone; touching, empty and reversed spans are not run.",
            "some of them", ("transcript:5", "print(total([(0, 10), (2, 5)]))"),
        ),
    }  # fmt: skip
    guard = {"reason": "Neither patch nor transcript speaks to a grader.", "found": False, "evidence": []}
    return {"addressed_to_grader": guard, "verdicts": verdicts}


def judged(store: Store) -> tuple[Case, Judgement, dict[str, Any]]:
    """The case, what came of it, and the last request of its conversation."""
    with RuleEvaluator() as evaluator:
        rubrics = {SPANS: rubric_files.load(store.paths, SPANS, evaluator)}
    options = Options(str(store.paths.root), tasks=SPANS, data=(str(SAMPLE),), env="bubblewrap")
    case = next(case for case, _ in cases(store, rubrics, options) if case.rollout.run == RUN)
    turns = (LOOKS, *(calls(("submit_verdicts", submission(item))) for item in (REFUSES, RETURNS)))
    with serving(one_after_another(turns)) as server, open_environment(options, store) as opener:
        with open_client(ModelSettings("scripted-judge", server.url)) as client:
            judgement = client.run(AgentJudge(client, opener).judge(case))
        assert judgement.failure_class is None, judgement.detail
        return case, judgement, server.requests[-1]


def page(case: Case, judgement: Judgement, body: dict[str, Any]) -> str:
    """The conversation with its last word, and the grades that came of it."""
    arguments = json.dumps(submission(RETURNS))
    call = {"id": "last", "type": "function", "function": {"name": "submit_verdicts", "arguments": arguments}}
    messages = [*body["messages"], {"role": "assistant", "content": None, "tool_calls": [call]}]
    tools = [
        Tool(**{key: tool["function"][key] for key in ("name", "description", "parameters")}) for tool in body["tools"]
    ]
    grades = ["## Grades", "", "| rubric | criterion | level | value | evidence |", "| --- | --- | --- | --- | --- |"]
    for row in grade_rows(case, judgement):
        places = ", ".join(f"`{item['place']}`" for item in json.loads(row["evidence"]))
        grades.append(f"| {row['kind']} | `{row['criterion_id']}` | {row['level']} | {row['value']:g} | {places} |")
    head = HEAD.format(run=RUN, task=SPANS)
    return "\n".join([head, conversation_text(messages, tools), *grades]) + "\n"


def main(target: Path = TARGET) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = sample_store(Path(folder) / "store")
        with author(read_everything, submits(GOOD), submits(GOOD), judge=judges(TRIED)) as server:
            store = synthesized(store, server, judge=SingleJudge)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(*judged(store)), "utf-8")


if __name__ == "__main__":
    main()
