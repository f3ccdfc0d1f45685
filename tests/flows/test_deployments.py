"""What a team does with a Prefect server of its own: deploy, run on a worker, look at what is to be seen there."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import TIMEOUT, Command, prefect_server, rewards
from test_docs import ROOT, commands

SAMPLE = ROOT / "data" / "sample"


class Team:
    """A folder with a checkout's deployments, a fresh server, and the command `prefect` there."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        for name in ("flows", "prefect.yaml"):
            (shutil.copytree if name == "flows" else shutil.copy)(ROOT / name, folder / name)

    def __call__(self, line: str) -> str:
        words = shlex.split(line)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
        own = {"PREFECT_API_URL": self.url, "PREFECT_HOME": str(self.folder / "home"), "DO_NOT_TRACK": "1"}
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=self.folder, env={**clean, **own}, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=TIMEOUT, check=False
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def ask(self, path: str, body: object) -> Any:
        request = urllib.request.Request(
            f"{self.url}/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return json.load(answer)

    def options(self, **more: Any) -> str:
        return shlex.quote("options=" + json.dumps({"store": str(self.folder / "rubrics-store"), **more}))


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """A team that did what docs/flows.md says, then asked for the rubrics of some tasks, and for a dump that is not
    there."""
    folder = tmp_path_factory.mktemp("team")
    with prefect_server(tmp_path_factory.mktemp("server")) as url:
        made = Team(folder, url)
        (folder / "dump").symlink_to(SAMPLE)
        lines = [line for line in commands(ROOT / "docs" / "flows.md") if line.startswith("prefect")]
        assert [line.split()[1] for line in lines] == ["work-pool", "--no-prompt", "deployment", "worker"]
        for line in (*lines[:-1], f"{lines[-1]} --run-once"):
            made(line.replace("/srv", str(folder)))
        narrow = made.options(tasks="*spans*", limit=2, resynthesize=True)
        made(f"prefect deployment run synthesize-rubrics/synthesize --param {narrow}")
        missing = made.options(dumps=[str(folder / "nowhere")])
        made(f"prefect deployment run ingest-rollouts/ingest --param {missing}")
        made(f"{lines[-1]} --run-once")
        yield made


def flow_runs(team: Team) -> dict[str, dict[str, Any]]:
    return {run["name"]: run for run in team.ask("flow_runs/filter", {})}


def test_every_flow_is_deployed_with_its_options_typed_and_described(team: Team) -> None:
    found = team.ask("deployments/filter", {})
    assert {item["name"] for item in found} == {
        "pipeline", "ingest", "prepare", "test", "synthesize", "score", "audit", "rank", "reward"
    }  # fmt: skip
    assert all(item["description"] for item in found)
    for item in found:
        options = item["parameter_openapi_schema"]["definitions"]["Options"]
        assert options["required"] == ["store"]
        assert options["properties"]["limit"]["anyOf"] == [{"type": "integer"}, {"type": "null"}]
        assert "Glob over task ids" in options["properties"]["tasks"]["description"]


def test_a_worker_makes_the_tables_that_the_command_makes(team: Team, alone: Command, tmp_path: Path) -> None:
    alone("run", SAMPLE, "--store", "here", cwd=tmp_path, code=1)
    assert rewards(team.folder / "rubrics-store") == rewards(tmp_path / "here")


def test_runs_are_named_after_store_and_tasks_and_end_with_what_has_no_reward(team: Team) -> None:
    run = flow_runs(team)["rubrics-store: all tasks"]
    assert run["state"]["type"] == "COMPLETED"
    assert run["state"]["message"].endswith(". 1 of 32 rollouts masked (reward null): 1 infra RateLimitError")
    narrow = flow_runs(team)["rubrics-store: tasks *spans*, at most 2"]
    assert narrow["state"]["message"] == "Done: synthesize 8"


def test_tasks_are_named_after_stage_and_chunk(team: Team) -> None:
    run = flow_runs(team)["rubrics-store: all tasks"]
    names = {item["name"] for item in team.ask("task_runs/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}})}
    assert {name.split()[0] for name in names} >= {"ingest", "facts", "synthesize", "score", "audit", "reward"}


def test_rewards_by_group_census_and_bill_are_artifacts_of_the_run(team: Team) -> None:
    run = flow_runs(team)["rubrics-store: all tasks"]
    found = {item["key"]: item for item in team.ask("artifacts/filter", {}) if item["flow_run_id"] == run["id"]}
    table = json.loads(found["rewards-rubrics-store"]["data"])
    assert [(row["task_id"], row["rollouts"]) for row in table][:2] == [
        ("sample__confpath-31", 8), ("sample__durations-23", 8)
    ]  # fmt: skip
    assert len(table) == 4
    page = found["account-rubrics-store"]["data"]
    assert "## Census" in page
    assert "| reward | rollout | truncated | 1 |" in page
    assert "## Bill\n\nNo model was asked." in page


def test_what_cannot_be_done_fails_with_the_sentence_of_the_command(team: Team) -> None:
    (failed,) = [run for run in flow_runs(team).values() if run["state"]["type"] == "FAILED"]
    assert "nowhere: no such file or folder; name a dump of rollouts" in failed["state"]["message"]


def test_a_name_that_is_no_option_and_a_value_of_another_type_are_refused_by_the_server(team: Team) -> None:
    (deployed,) = [item for item in team.ask("deployments/filter", {}) if item["name"] == "reward"]
    for wrong in ({"storr": "x"}, {"limit": "many"}):
        body = {"parameters": {"options": {"store": "s", **wrong}}}
        with pytest.raises(urllib.error.HTTPError) as refused:
            team.ask(f"deployments/{deployed['id']}/create_flow_run", body)
        assert refused.value.code in (409, 422)
