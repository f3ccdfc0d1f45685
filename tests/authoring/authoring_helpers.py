"""Stores of the sample tasks, authors played by the scripted server, and drafts for them to hand in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judging.graders import find, prompt_of
from model_server.server import ModelServer, Raw, Said, serving

from rubrics.judges.judge import Judge
from rubrics.models.client import Client
from rubrics.prompting.fences import outside_fences
from rubrics.stages.environments import open_environment
from rubrics.stages.models import open_model
from rubrics.stages.options import Options
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import drive, run_here
from rubrics.stages.synthesize import Synthesize
from rubrics.store.store import Store

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data" / "sample"
DUMPS = tuple(str(SAMPLE / name) for name in ("tasks.jsonl", "runs", "outcomes.json"))
SPANS = "sample__spans-8"
MODEL = "scripted-author"

Turn = Said | Raw | Callable[[dict[str, Any]], Any]
"""What the author says, perhaps depending on what it was asked."""


def sample_store(folder: Path, dumps: tuple[str, ...] = DUMPS) -> Store:
    """A store of the sample with its facts."""
    run_stages(("ingest", "facts"), {"store": str(folder), "dumps": dumps}, run_here)
    return Store.open(folder)


def spoken(body: dict[str, Any]) -> int:
    """How many turns the model has said in a conversation."""
    return sum(message["role"] == "assistant" for message in body["messages"])


def is_author(body: dict[str, Any]) -> bool:
    return any(tool["function"]["name"] == "submit_rubrics" for tool in body.get("tools", ()))


def playing(*turns: Turn, judge: Callable[[dict[str, Any]], Any] | None = None) -> Callable[[dict[str, Any]], Any]:
    """A script: the author's turns one after another in every conversation; what is no author's goes to `judge`."""

    def script(body: dict[str, Any]) -> Any:
        if not is_author(body) and judge is not None:
            return judge(body)
        turn = turns[min(spoken(body), len(turns) - 1)]
        return turn(body) if callable(turn) else turn

    return script


def options(store: Store, server: ModelServer, **more: Any) -> Options:
    values: dict[str, Any] = {
        "store": str(store.paths.root), "tasks": SPANS, "author": "model", "model": MODEL, "base_url": server.url,
        "data": (str(SAMPLE),), "env": "bubblewrap", **more,
    }  # fmt: skip
    return Options(**values)


def synthesized(
    store: Store,
    server: ModelServer,
    judge: Callable[[Client], Judge] | None = None,
    entering: bool = True,
    **more: Any,
) -> Store:
    """Run the stage as the pipeline does; with `entering` false no environment is opened."""
    chosen = options(store, server, **more)
    with open_model(chosen, store) as client, open_environment(chosen, store) as opener:
        stage = Synthesize(store, chosen, client, opener if entering else None, judge(client) if judge else None)
        drive(stage, store, run_here, 1)
    return Store.open(store.paths.root)


@contextmanager
def author(*turns: Turn, judge: Callable[[dict[str, Any]], Any] | None = None) -> Iterator[ModelServer]:
    with serving(playing(*turns, judge=judge)) as server:
        yield server


def criterion(name: str, text: str, **more: Any) -> dict[str, Any]:
    """A criterion in a submission's form: a question for the judge, anchored nowhere, unless said otherwise."""
    return {
        "rests_on": ["attempt-1"], "anchor": {"kind": "none", "place": None, "quote": None}, "id": name, "text": text,
        "guidance": None, "method": "judge", "rule": None, "scale": ["unmet", "met"], "gate": False, "fault": None,
        "weight": 2, **more,
    }  # fmt: skip


def spec_anchor(quote: str) -> dict[str, Any]:
    return {"kind": "spec", "place": None, "quote": quote}


def file_anchor(place: str, quote: str) -> dict[str, Any]:
    return {"kind": "file", "place": place, "quote": quote}


def submission(solution: Sequence[dict[str, Any]], behavior: Sequence[dict[str, Any]]) -> dict[str, Any]:
    notes = {"solution": "From the six points of the issue.", "behavior": "How the attempts found the cause."}
    return {
        kind: {"note": notes[kind], "criteria": list(criteria)}
        for kind, criteria in (("solution", solution), ("behavior", behavior))
    }


def submits(draft: dict[str, Any]) -> Said:
    return Said(calls=(("submit_rubrics", draft),))


def calls(*pairs: tuple[str, Any]) -> Said:
    return Said(calls=pairs)


SOLUTION = [
    criterion(
        "keeps-the-farther-end",
        "A span that lies inside another leaves the end of the outer one in the result of `merge`.",
        anchor=spec_anchor("takes the end of the second span although the first one reaches further"),
        guidance="Met when the larger of the two ends is kept; unmet when the later end replaces the earlier one.",
        weight=3,
    ),
    criterion(
        "refuses-reversed-spans",
        "A span whose end is before its start raises `ValueError` with the span in its message.",
        anchor=spec_anchor("A span whose end is before its start raises `ValueError`, and the message shows the span."),
        guidance="Met when the raise carries the span; unmet when nothing is raised or the message lacks it.",
    ),
    criterion(
        "leaves-the-list-alone",
        "The list of the caller is left as it came.",
        anchor=file_anchor("spans/merge.py:6", "spans.sort()"),
        guidance="Met when sorting makes a new list; unmet when the argument itself is sorted.",
    ),
    criterion(
        "looks-like-passes",
        "Brings in what the passing attempts bring in.",
        method="rule",
        rule="coalesce(new_tokens_like_passing, 1)",
        anchor=spec_anchor("please make `merge` do what the README says about it in every case"),
        rests_on=["attempt-1", "attempt-2"],
    ),
    criterion(
        "no-debug-output",
        "No debug output is left in the source.",
        method="rule",
        rule="1.0 / (1 + debug_prints_left)",
        fault="debug output is left in the code",
        weight=0.5,
    ),
]  # fmt: skip
BEHAVIOR = [
    criterion(
        "shows-the-fault-first",
        "A script or the tests run before the first edit.",
        method="rule",
        rule="case when coalesce(reproduction_before_edit, true) then 1.0 else 0.0 end",
        fault="the code is changed without having run anything",
    ),
    criterion(
        "tries-each-case-of-the-issue",
        "The agent tries the cases that the issue lists on its changed code.",
        anchor=spec_anchor("please make `merge` do what the README says about it in every case"),
        guidance="Met when nested, touching, empty and reversed spans were each run after the change.",
        scale=["none of them", "some of them", "all of them"],
    ),
]
GOOD = submission(SOLUTION, BEHAVIOR)


def read_everything(body: dict[str, Any]) -> Said:
    """A first turn that uses every tool."""
    return calls(
        ("list_files", {}),
        ("read_file", {"path": "spans/merge.py"}),
        ("search", {"pattern": "merge("}),
        (
            "run_command",
            {"command": "git log --all --format=%s; python3 -m unittest discover -s tests -t . 2>&1 | tail -1"},
        ),
        ("show_patch", {"attempt": "attempt-1"}),
        ("show_transcript", {"attempt": "attempt-3", "first_turn": 0, "last_turn": 4}),
        ("search_transcript", {"attempt": "attempt-2", "text": "merge"}),
        ("show_tests", {"attempt": "attempt-4"}),
    )


def text_of(server: ModelServer) -> str:
    """All that the model was sent."""
    return "\n".join(json.dumps(body, ensure_ascii=False) for body in server.requests)


SEEN = {
    "keeps-the-farther-end": "max(",
    "refuses-reversed-spans": "raise ValueError",
    "leaves-the-list-alone": "sorted(",
}
"""Words by which the scripted judge decides; a criterion that is not named here is unmet."""


def judges(seen: dict[str, str] = SEEN) -> Callable[[dict[str, Any]], Any]:
    """A judge that gives the best level where the attempt shows the words, else the worst."""

    def judge(body: dict[str, Any]) -> Any:
        prompt = prompt_of(body)
        verdicts = {}
        for name, levels in levels_of(prompt).items():
            words = seen.get(name.partition("/")[2] or name)
            at = find(prompt, words) if words else None
            verdicts[name] = {
                "reason": "This is what the attempt shows.",
                "level": levels[-1] if at else levels[0],
                "evidence": [at] if at else [],
            }
        guard = {"reason": "I looked for such text.", "found": False, "evidence": []}
        return {"addressed_to_grader": guard, "verdicts": verdicts}

    return judge


def levels_of(prompt: str) -> dict[str, list[str]]:
    """The criteria that are asked about, with their levels."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in outside_fences(prompt).splitlines():
        if match := re.match(r"- (\S+) \((?:solution|behavior)\)\. ", line):
            name = match[1]
        elif match := re.match(r"  Levels, worst to best: (.*)", line):
            found[name] = json.loads(f"[{match[1]}]")
    return found
