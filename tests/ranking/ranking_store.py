"""A store with one task and one group, judges that are scripted, and what ranks it over real HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from model_server.server import ModelServer, Said, serving

from rubrics.digests import digest128
from rubrics.environments.session import Environment
from rubrics.models.client import open_client
from rubrics.models.settings import ModelSettings
from rubrics.prompting.fences import parse_fences
from rubrics.records.rankings import CHECKS, FLAGS
from rubrics.stages.options import Options
from rubrics.stages.rank import Rank
from rubrics.stages.reward import Reward
from rubrics.stages.stage import drive, run_here
from rubrics.store.store import Store

TASK = "owner__repo-1"
SPEC = "Make `level` say how good the change is."


def patch(level: int, note: str = "plain") -> str:
    """A change whose quality stands in it."""
    return (
        "diff --git a/level.py b/level.py\n--- a/level.py\n+++ b/level.py\n@@ -1 +1,2 @@\n"
        f"-level = 0\n+level = {level}\n+note = '{note}'\n"
    )


def rollout(name: str, change: str | None, passed: bool = True, said: str = "") -> dict[str, Any]:
    """A row of `rollouts` beside its outcome and transcript."""
    words = said or f"I changed it, as {name}."
    turns = json.dumps([{"role": "user", "text": "do"}, {"role": "assistant", "text": words}])
    return {"name": name, "patch": change, "passed": passed, "turns": turns}


def make_store(root: Path, attempts: list[dict[str, Any]], **task: Any) -> Store:
    """One group of one task. Ids are digests, as ids are."""
    store = Store.create(root)
    with store.writing() as run:
        run.append("tasks", [{"task_id": TASK, "repo": "owner/repo", "spec": SPEC, "source": "", **task}])
        for number, item in enumerate(attempts):
            transcript = digest128([item["turns"]])
            rollout_id = id_of(item["name"])
            common = {"rollout_id": rollout_id, "task_id": TASK}
            run.append("rollouts", [{
                **common, "content_digest": digest128([item["patch"], transcript]), "transcript_digest": transcript,
                "group_id": "group-7", "policy": "secret-policy", "run": item["name"], "attempt": number,
                "harness": "native", "patch": item["patch"], "n_turns": 1, "source": "",
            }])  # fmt: skip
            outcome = "passed" if item["passed"] else "failed"
            tests = json.dumps({"test_a": "passed", "test_b": outcome})
            run.append("outcomes", [{**common, "source": "run:1", "outcome": outcome, "tests": tests}])
        seen = {digest128([item["turns"]]): item["turns"] for item in attempts}
        for transcript, turns in seen.items():
            row = {"transcript_digest": transcript, "task_id": TASK, "n_turns": 1, "turns": turns}
            run.append("transcripts", [row])
    return store


def id_of(name: str) -> str:
    return digest128(["rollout", name])


def group(levels: list[int], failures: int = 6) -> list[dict[str, Any]]:
    """Passes of these levels, and failures enough to keep the group on route gar."""
    passes = [rollout(f"pass-{place}", patch(level)) for place, level in enumerate(levels)]
    return passes + [rollout(f"fail-{place}", patch(0, f"fail {place}"), False) for place in range(failures)]


@contextmanager
def ranked(
    store: Store, script: Callable[[dict[str, Any]], Any], environment: Environment | None = None, **options: Any
) -> Iterator[ModelServer]:
    """Run `Rank` against a scripted server; without an environment in mode `single`."""
    with serving(script) as server:
        rank(store, server, environment, **options)
        yield server


def rank(store: Store, server: ModelServer, environment: Environment | None = None, **options: Any) -> None:
    """Run `Rank` against a server that runs already."""
    plain = Options(str(store.paths.root), model="scripted", rank_mode="single", **options)
    settings = ModelSettings(model="scripted", base_url=server.url, concurrency=4, attempts=1)
    with open_client(settings, store.paths.root / "model-cache.sqlite") as client:
        drive(Rank(store, plain, client, environment), store, run_here, 1)


def rewarded(store: Store) -> dict[str, dict[str, Any]]:
    """Reward rows by the name of the attempt."""
    drive(Reward(store, Options(str(store.paths.root))), store, run_here, 1)
    return {row["run"]: row for row in store.query("FROM rewards").to_pylist()}


def census(store: Store, stage: str = "rank") -> dict[str, int]:
    rows = store.query(f"SELECT kind, n FROM census_totals WHERE stage = '{stage}'").to_pylist()
    return {row["kind"]: row["n"] for row in rows}


def prompt(body: dict[str, Any]) -> str:
    return str(body["messages"][1]["content"])


def shown_labels(body: dict[str, Any]) -> list[str]:
    """Labels of the candidates in the order in which they are shown."""
    return re.findall(r"^Candidate ([a-z]+)\.", prompt(body), re.MULTILINE)


def levels(body: dict[str, Any]) -> dict[str, int]:
    """The planted quality of every attempt by its label."""
    found = {}
    for section in parse_fences(prompt(body)):
        if section.label.startswith("patch of "):
            found[section.label.removeprefix("patch of ")] = int(re.findall(r"level = (\d)", section.text)[-1])
    return found


def answer(marks: dict[str, int | list[int]], same: bool = False, flags: dict[str, list[str]] | None = None) -> Any:
    """A well-formed reply: one level for all checks, or five; evidence is the line that says the level."""

    def candidate(label: str, given: int | list[int]) -> dict[str, Any]:
        each = given if isinstance(given, list) else [given] * 5
        place = [{"place": f"{label}:patch:level.py:1", "quote": "level ="}]
        named = (flags or {}).get(label, [])
        said = {name: {"found": name in named, "evidence": place if name in named else []} for name in FLAGS}
        return {"reason": "what line 1 says", **dict(zip(CHECKS, each, strict=True)), "evidence": place, **said}

    every = {label: candidate(label, given) for label, given in marks.items()}
    return {"candidates": every, "reason": "their levels", "no_clear_difference": same}


def honest(body: dict[str, Any]) -> Any:
    """Marks what is there."""
    found = levels(body)
    return answer({label: found[label] for label in shown_labels(body)})


def first_is_better(body: dict[str, Any]) -> Any:
    """Marks what is there, and one level more for whoever is shown first."""
    found, order = levels(body), shown_labels(body)
    return answer({label: found[label] + (label == order[0]) for label in order})


def submitted(value: Any) -> Said:
    return Said(None, (("submit_ranking", value),))
