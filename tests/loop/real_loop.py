"""The whole loop on published rollouts: a model writes rubrics, judges, audits and ranks; what came of it, counted.

`python tests/loop/real_loop.py [FOLDER]` prints the census with a model that plays every role soundly, then with a
tenth of all replies replaced by nonsense, then of the rerun that repairs it. FOLDER holds the published rollouts.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from loop.nonsense import Nonsense  # noqa: E402
from model_server.everything import everything, role_of  # noqa: E402
from model_server.server import ModelServer, serving  # noqa: E402

from rubrics import jsonio  # noqa: E402
from rubrics.records import transcripts  # noqa: E402
from rubrics.records.judgements import Pointer  # noqa: E402
from rubrics.replies.evidence import Sources  # noqa: E402
from rubrics.rules.evaluate import RuleEvaluator  # noqa: E402
from rubrics.stages import rubric_files  # noqa: E402
from rubrics.stages.pipeline import run_stages  # noqa: E402
from rubrics.stages.stage import run_here  # noqa: E402
from rubrics.store.store import Store  # noqa: E402

STAGES = ("ingest", "facts", "synthesize", "score", "audit", "reward")
SHARE = 0.1
SEEDS = (1, 5)
MODEL = "scripted"


def dumps(real: Path) -> list[str]:
    return [str(real / name) for name in ("specs.jsonl", "mini-swe-agent", "outcomes.json")]


def run_loop(root: Path, real: Path, url: str, names: tuple[str, ...] = STAGES, **options: Any) -> Store:
    """The named stages with a model in every role: author, single judge, audit judge, ranker that asks once."""
    values = {
        "store": str(root), "dumps": dumps(real), "author": "model", "judge": "single", "rank_mode": "single",
        "model": MODEL, "base_url": url, **options,
    }  # fmt: skip
    run_stages(names, values, run_here)
    return Store.open(root)


def roles(server: ModelServer) -> Counter[str]:
    """Requests by role."""
    return Counter(map(role_of, server.requests))


def table(store: Store, sql: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = store.query(sql).to_pylist()
    return found


def census(store: Store) -> Iterator[str]:
    """What came of everything that was asked, by table."""
    for name, sql in _CENSUS.items():
        counted = ", ".join(f"{row['what']} {row['n']}" for row in table(store, sql)) or "nothing"
        yield f"{name}: {counted}"


_CENSUS = {
    "criteria written": """
        SELECT kind || ' of ' || author AS what, sum(n_criteria)::int AS n FROM rubrics GROUP BY 1 ORDER BY 1""",
    "criteria dropped or tasks without rubric": """
        SELECT kind AS what, sum(count)::int AS n FROM census WHERE stage = 'synthesize' AND kind <> 'written_by_model'
        GROUP BY 1 ORDER BY 1""",
    "judgements": """
        SELECT coalesce(failure_class, 'usable') AS what, count(*) AS n FROM judgements GROUP BY 1 ORDER BY 1""",
    "verdicts": """
        SELECT coalesce(failure_class, 'usable') AS what, count(*) AS n FROM grades
        WHERE judge LIKE 'single:%' AND (level IS NOT NULL OR failure_class IS NOT NULL) GROUP BY 1 ORDER BY 1""",
    "ranked passes x rounds": """
        SELECT coalesce(failure_class, CASE WHEN usable THEN 'usable' ELSE 'unusable' END) AS what, count(*) AS n
        FROM rankings GROUP BY 1 ORDER BY 1""",
    "rankings of groups": """
        SELECT ranking AS what, count(DISTINCT group_id) AS n FROM rewards WHERE ranking IS NOT NULL GROUP BY 1
        ORDER BY 1""",
    "audit judge": """
        SELECT coalesce(failure_class, verdict) AS what, count(*) AS n FROM audits WHERE source LIKE 'judge:%'
        GROUP BY 1 ORDER BY 1""",
    "rewards": """
        SELECT status || coalesce(' ' || failure_class, '') AS what, count(*) AS n
        FROM rewards GROUP BY 1 ORDER BY 1""",
}  # fmt: skip


def invented(store: Store) -> list[str]:
    """Scores that nothing stands behind: there must be none."""
    return [*_invented_grades(store), *_invented_marks(store), *_invented_rewards(store)]


def _invented_grades(store: Store) -> Iterator[str]:
    """A value without a level, off its place in the scale, of a judgement that failed or is not there, or on evidence
    that does not stand where it says."""
    scales = _scales(store)
    judgements = {(row["rollout_id"], row["repeat"]): row for row in store.rows("judgements")}
    sources = _sources(store)
    for row in store.rows("grades"):
        scale = scales.get((row["task_id"], row["kind"], row["criterion_id"]))
        if scale is None:
            continue
        at = f"{row['rollout_id'][:8]} {row['kind']} {row['criterion_id']}"
        asked = judgements.get((row["rollout_id"], row["repeat"]))
        if row["value"] is None:
            if row["level"] is not None or row["failure_class"] is None:
                yield f"{at}: no value, but a level or no reason"
            continue
        if asked is None or asked["failure_class"] is not None:
            yield f"{at}: a value without a judgement that came to something"
        if row["level"] not in scale or row["value"] != scale.index(row["level"]) / (len(scale) - 1):
            yield f"{at}: value {row['value']} for level {row['level']} of {scale}"
        pointers = [Pointer(**item) for item in jsonio.loads(row["evidence"])]
        wrong = [said for item in pointers if (said := sources[row["rollout_id"]].wrong(item))]
        if wrong or (row["value"] > 0 and not pointers):
            yield f"{at}: {wrong or 'no evidence'}"


def _scales(store: Store) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """The scale of every criterion that a judge is asked about, as the rubric files say it."""
    found = {}
    with RuleEvaluator() as evaluator:
        for task_id in {row["task_id"] for row in store.rows("rubrics", ["task_id"])}:
            for kind, rubric in rubric_files.load(store.paths, task_id, evaluator).items():
                found |= {(task_id, kind, c.id): c.scale for c in rubric.criteria if c.method == "judge"}
    return found


def _sources(store: Store) -> dict[str, Sources]:
    sql = "SELECT rollout_id, patch, turns FROM rollouts LEFT JOIN transcripts USING (transcript_digest, task_id)"
    return {
        row["rollout_id"]: Sources(row["patch"], transcripts.from_json(row["turns"]) if row["turns"] else None)
        for row in table(store, sql)
    }


def _invented_marks(store: Store) -> Iterator[str]:
    """Marks of a round that failed; quality factors without a usable ranking; confirmed suspicions without evidence."""
    marks = ("approach", "precision", "minimality", "side_effects", "craftsmanship")
    for row in store.rows("rankings"):
        said = [row[name] for name in marks]
        if row["usable"] != (None not in said) or (row["failure_class"] and any(said)):
            yield f"{row['rollout_id'][:8]}: round {row['round']} has marks {said} and class {row['failure_class']}"
    for row in store.rows("rewards"):
        if row["ranking"] != "used" and row["tier"] is not None:
            yield f"{row['rollout_id'][:8]}: tier {row['tier']} of a ranking that is {row['ranking']}"
    sources = _sources(store)
    for row in store.rows("audits", where="source LIKE 'judge:%'"):
        pointers = [Pointer(**item) for item in jsonio.loads(row["evidence"])]
        if row["verdict"] == "confirmed" and not pointers:
            yield f"{row['rollout_id'][:8]}: {row['kind']} confirmed without evidence"
        wrong = [said for item in pointers if (said := sources[row["rollout_id"]].wrong(item))]
        if row["verdict"] == "confirmed" and wrong:
            yield f"{row['rollout_id'][:8]}: {row['kind']} confirmed, but {wrong}"
        if row["failure_class"] and row["verdict"] is not None:
            yield f"{row['rollout_id'][:8]}: {row['kind']} failed, and yet {row['verdict']}"


def _invented_rewards(store: Store) -> Iterator[str]:
    """A pass on route grs that has a reward without both scores that it multiplies."""
    empty = {row["rubric_digest"] for row in store.rows("rubrics") if not row["n_criteria"]}
    for row in store.rows("rewards"):
        if row["route"] == "grs" and row["test"] == 1 and row["hack"] != "confirmed" and row["reward"] is not None:
            for kind in ("solution", "behavior"):
                if row[kind] is None and row[f"{kind}_rubric"] not in empty:
                    yield f"{row['rollout_id'][:8]}: a reward, but no {kind} score"


def main(folder: str = str(ROOT.parent / "shared" / "real")) -> None:
    real = Path(folder)
    with tempfile.TemporaryDirectory() as place, serving(everything) as server:
        _tell("sound", run_loop(Path(place) / "sound", real, server.url), server)
        for seed in SEEDS:
            server.script = nonsense = Nonsense(everything, SHARE, seed)
            store = run_loop(Path(place) / str(seed), real, server.url)
            _tell(f"a tenth is nonsense, {seed}: {dict(sorted(nonsense.spoilt.items()))}", store, server)
            server.script = everything
            again = run_loop(store.paths.root, real, server.url, resynthesize=True)
            _tell("the same store, run again by a sound model", again, server)


def _tell(title: str, store: Store, server: ModelServer) -> None:
    print(title)
    print("  requests:", dict(sorted(roles(server).items())))
    for line in census(store):
        print(f"  {line}")
    print(f"  invented scores: {len(invented(store))}", flush=True)
    server.requests.clear()


if __name__ == "__main__":
    main(*sys.argv[1:])
