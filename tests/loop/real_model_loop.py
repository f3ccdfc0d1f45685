"""The loop on a few published rollouts with a real small model on the CPU: it grades badly, and nothing is made up.

`python tests/loop/real_model_loop.py [FOLDER]`, about a quarter of an hour. A model of 270 million parameters writes no
rubrics that can be used, so those that a scripted author wrote are in the store when it is asked to; then it judges,
audits and ranks by them. On a busy machine it reads some 100 tokens a second, and a transcript has 20,000: it is asked
about patches alone.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from loop.real_loop import census, invented, run_loop  # noqa: E402
from model_server.everything import everything  # noqa: E402
from model_server.real import RealModel, real_model  # noqa: E402
from model_server.server import serving  # noqa: E402

from rubrics.rules.evaluate import RuleEvaluator  # noqa: E402
from rubrics.rules.files import to_yaml  # noqa: E402
from rubrics.stages import rubric_files  # noqa: E402
from rubrics.store.store import Store  # noqa: E402

AUTHORED = "pylint-dev__astroid-1978"
TASKS = "pylint-dev__astroid-1[19]*"
"""Two tasks with the shortest transcripts: one that nobody solves, one whose passes are ranked."""
CONTEXT = 32_768
FITS = 31_000
"""Tokens of a prompt, estimated from above: what is longer is refused before it is asked."""
ANSWER = 400
REPEATS = 3
"""Times that each rollout is judged, warm: cold it would say the same every time."""


def about_patches_alone(store: Store) -> None:
    """Takes from the rubric files what a judge is asked about transcripts, as a person would."""
    with RuleEvaluator() as evaluator:
        for task_id in {row["task_id"] for row in store.rows("rubrics", ["task_id"])}:
            rubric = rubric_files.load(store.paths, task_id, evaluator)["behavior"]
            rules = tuple(item for item in rubric.criteria if item.method == "rule")
            store.paths.rubric(task_id, "behavior").write_text(to_yaml(replace(rubric, criteria=rules)), "utf-8")


def run_small(root: Path, real: Path, model: RealModel) -> Store:
    """The store after a scripted author, then the small model as author, judge, auditor and ranker."""
    with serving(everything) as server:
        about_patches_alone(run_loop(root, real, server.url, ("ingest", "facts", "synthesize"), tasks=TASKS))
    small = {
        "model": model.name, "concurrency": 1, "max_tokens": ANSWER, "context": FITS, "rounds": 1, "dumps": [],
        "request_timeout": 400.0, "workers": 1, "temperature": 0.7, "repeats": REPEATS,
    }  # fmt: skip
    for names, tasks in ((("synthesize",), AUTHORED), (("score", "audit", "reward"), TASKS)):
        began = time.monotonic()
        store = run_loop(root, real, model.url, names, tasks=tasks, resynthesize=True, **small)
        print(f"{', '.join(names)}: {time.monotonic() - began:.0f} s", flush=True)
    return store


def main(folder: str = str(ROOT.parent / "shared" / "real")) -> None:
    with tempfile.TemporaryDirectory() as place, real_model(CONTEXT, 1) as model:
        store = run_small(Path(place) / "store", Path(folder), model)
        for line in census(store):
            print(line)
        for row in store.rows("census", where="stage = 'synthesize' AND place = $task", task=AUTHORED):
            print(row["kind"], row["detail"])
        for table in ("judgements", "rankings"):
            for row in store.rows(table):
                print(f"{table}, {row['failure_class'] or 'usable'}: {(row['detail'] or '')[:160]}")
        print(f"invented scores: {len(invented(store))}")


if __name__ == "__main__":
    main(*sys.argv[1:])
