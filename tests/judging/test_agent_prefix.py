"""What a provider's prefix cache can serve of the agent judge's requests, on published rollouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from agents.agent_helpers import calls
from agents.places import laid_out, started
from benchmarks.prefix import served_share
from environments.environment_helpers import small_task
from judging.agent_judging import judging, turns_of
from judging.graders import RUBRICS, TASK
from model_server.server import Said

from rubrics.records.judgements import Case
from rubrics.stages.judging import cases
from rubrics.stages.options import Options
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store.store import Store

AIM = 0.85
"""Share that is to be served."""
WORK: tuple[tuple[tuple[str, dict[str, Any]], ...], ...] = (
    (("show_transcript", {"first_turn": 2, "last_turn": 5}), ("show_tests", {})),
    (("search_transcript", {"text": "passed"}), ("search_transcript", {"text": "error"})),
    (("list_files", {}), ("read_file", {"path": "calc.py"})),
    (("show_transcript", {"first_turn": 12, "last_turn": 14}),),
    (("run_command", {"command": "head -50 long.txt"}),),
    (("show_transcript", {"first_turn": 20, "last_turn": 21}),),
    (("run_command", {"command": "python3 -c 'import calc; print(calc.add(1, 2))'"}),),
)


def test_the_share_is_that_of_exact_prefixes_of_earlier_requests() -> None:
    def body(*texts: str) -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": text} for text in texts], "tools": []}

    assert served_share([]) == 0.0
    assert served_share([body("a" * 100)]) == 0.0
    assert served_share([body("a" * 100), body("a" * 100)]) == 0.5
    assert served_share([body("a" * 1000), body("a" * 1000, "b" * 1000)]) == pytest.approx(1 / 3, abs=0.02)
    assert served_share([body("b" + "a" * 1000), body("a" * 1000)]) < 0.05
    grown = [body(*("x" * 100 for _ in range(count))) for count in range(1, 40)]
    assert served_share(grown) > 0.9


def grader(body: dict[str, Any]) -> Said:
    """Opens parts, runs commands, and says at last that nothing was found."""
    turn = turns_of(body)
    if turn < len(WORK):
        return calls(*WORK[turn], text="I look at what the criteria ask about.")
    said = {
        name: {"reason": "I did not find it anywhere.", "level": level, "evidence": []}
        for name, level in (("counts-bytes", "unmet"), ("names-stay", "unmet"), ("tests-run", "no"))
    }
    guard = {"reason": "Nothing speaks to me.", "found": False, "evidence": []}
    return calls(("submit_verdicts", {"addressed_to_grader": guard, "verdicts": said}))


def real_cases(real: Path, root: Path) -> list[Case]:
    """The published rollouts of the first task that has several, as they are put before a judge."""
    dumps = [str(real / "mini-swe-agent"), str(real / "specs.jsonl")]
    run_stages(("ingest",), {"store": str(root), "dumps": dumps}, run_here)
    store = Store.open(root)
    counts = "SELECT task_id FROM rollouts GROUP BY task_id HAVING count(*) >= 4 ORDER BY task_id LIMIT 1"
    (task_id,) = (row["task_id"] for row in store.query(counts).to_pylist())
    listed = cases(store, {task_id: RUBRICS}, Options(store=str(root)))
    return [case for case, _ in listed]


def test_most_of_what_an_agent_is_sent_on_published_rollouts_can_be_served(real: Path, tmp_path: Path) -> None:
    listed = real_cases(real, tmp_path / "store")
    folder = laid_out(tmp_path / "repo")
    assert len(listed) >= 4
    with started("bubblewrap", folder) as environment:
        task = small_task(folder)
        with judging(grader, lambda *_: environment.open(task, None)) as here:
            judgements = here.judge(*listed)
    assert {judgement.failure_class for judgement in judgements} == {None}
    assert TASK.task_id not in str(here.server.requests[0])
    share = served_share(here.server.requests)
    sent = sum(len(str(body)) for body in here.server.requests) / len(listed)
    print(f"served {share:.3f} of {sent:.0f} characters per rollout, {len(listed)} rollouts")
    assert share >= AIM
