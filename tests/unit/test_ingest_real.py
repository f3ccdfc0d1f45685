"""The published rollouts, read as they are: counts that were established by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rubrics.ingest.join import Ingested
from rubrics.ingest.read import ingest
from rubrics.outcomes import choose
from rubrics.records import transcripts
from rubrics.records.census import CensusLine
from rubrics.records.outcomes import Outcome
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import SealedTask, Task

RUNS = {
    "deepseek_bench_dev",
    "deepseek_chat_dev_rerun",
    "deepseek_lite_dev",
    "deepseek_lite_dev_noparallel",
    "deepseek_reasoner_dev",
}


def rollouts(records: list[Ingested]) -> list[Rollout]:
    return [record for record in records if isinstance(record, Rollout)]


def verdicts(records: list[Ingested], *, with_transcript: bool) -> Counter[str]:
    said: dict[str, list[Outcome]] = {}
    for record in records:
        if isinstance(record, Outcome):
            said.setdefault(record.rollout_id, []).append(record)
    chosen = [
        choose(said.get(rollout.rollout_id, [])).outcome
        for rollout in rollouts(records)
        if (rollout.turns is not None) == with_transcript
    ]
    return Counter(chosen)


def counted(records: list[Ingested], kind: str) -> int:
    return sum(line.count for line in records if isinstance(line, CensusLine) and line.kind == kind)


def test_the_runs_hold_20_attempts_of_which_8_have_a_recorded_outcome(real: Path) -> None:
    records = list(ingest([real / "specs.jsonl", real / "mini-swe-agent"]))
    assert sum(isinstance(record, Task) for record in records) == 4
    assert sum(isinstance(record, SealedTask) for record in records) == 4
    assert verdicts(records, with_transcript=True) == {"passed": 5, "failed": 3, "unknown": 10, "infra": 2}
    assert verdicts(records, with_transcript=False) == {"unknown": 19}
    assert counted(records, "merged") == 4
    assert counted(records, "no_task") == 19
    assert counted(records, "exit_status_without_rollout") == 5
    assert counted(records, "mixed_policies") == 4
    assert {rollout.run for rollout in rollouts(records)} == RUNS


def test_with_the_outcome_file_18_are_known_and_2_are_infra_and_overruled(real: Path) -> None:
    records = list(ingest([real / "specs.jsonl", real / "mini-swe-agent", real / "outcomes.json"]))
    assert verdicts(records, with_transcript=True) == {"passed": 12, "failed": 6, "infra": 2}
    assert counted(records, "overruled") == 2
    assert counted(records, "disagreement") == 0
    assert counted(records, "not_an_attempt") == 8
    infra = [item for item in records if isinstance(item, Outcome) and item.outcome == "infra"]
    ended = {rollout.rollout_id: rollout for rollout in rollouts(records)}
    assert {(ended[item.rollout_id].run, ended[item.rollout_id].patch) for item in infra} == {
        ("deepseek_reasoner_dev", "")
    }


def test_the_folder_of_all_runs_and_each_run_alone_give_the_same_rollouts(real: Path) -> None:
    together = rollouts(list(ingest([real / "mini-swe-agent"])))
    apart = rollouts(list(ingest(sorted((real / "mini-swe-agent").iterdir()))))
    assert {item.rollout_id for item in together} == {item.rollout_id for item in apart}
    single = real / "mini-swe-agent/deepseek_lite_dev/pylint-dev__astroid-1978/pylint-dev__astroid-1978.traj.json"
    assert rollouts(list(ingest([single])))[0].rollout_id in {item.rollout_id for item in together}


def test_a_folder_given_twice_is_counted_once(real: Path) -> None:
    once = list(ingest([real / "mini-swe-agent"]))
    twice = list(ingest([real / "mini-swe-agent", real / "mini-swe-agent"]))
    assert {item.rollout_id for item in rollouts(twice)} == {item.rollout_id for item in rollouts(once)}
    assert len(rollouts(twice)) == 39
    assert counted(twice, "repeated") == 39
    assert counted(twice, "duplicate") == 0


def test_nothing_sealed_is_in_a_rollout_or_in_the_census(real: Path) -> None:
    records = list(ingest([real / "specs.jsonl", real / "mini-swe-agent", real / "formats"]))
    hidden = [
        line.strip()
        for record in records
        if isinstance(record, SealedTask) and record.test_patch is not None
        for line in record.test_patch.open_for("audit").splitlines()
        if line.startswith("+") and len(line) > 60
    ]
    assert hidden
    shown = "\n".join(repr(record) for record in records if not isinstance(record, Rollout))
    assert not [line for line in hidden if line in shown]
    assert "gold_files" not in repr(records)
    assert all("eval.sh" not in rollout.source for rollout in rollouts(records))


def test_tool_calls_answers_exit_codes_and_tokens_of_a_1_1_trajectory_are_read(real: Path) -> None:
    folder = real / "mini-swe-agent/deepseek_bench_dev/pylint-dev__astroid-1196"
    (rollout,) = rollouts(list(ingest([folder])))
    assert rollout.turns is not None
    assert rollout.n_turns == 62
    spoken = [turn for turn in rollout.turns if turn.role == "assistant"]
    assert all(
        call.name == "bash" and set(call.arguments or ()) == {"command"} for turn in spoken for call in turn.tool_calls
    )
    assert spoken[0].exit_code == 0
    assert (spoken[0].input_tokens, spoken[0].output_tokens) == (1844, 99)
    assert sum(turn.observation is None for turn in spoken) == 1, "the last call is never answered"
    assert spoken[-1].observation is None
    assert rollout.policy == "deepseek/deepseek-chat"


def test_the_old_bare_list_form_gives_commands_exit_codes_and_the_submitted_patch(real: Path) -> None:
    found = {item.task_id: item for item in rollouts(list(ingest([real / "formats/mini-swe-agent-v1"])))}
    issue, local = found["github_issue"], found["local"]
    assert issue.patch is not None
    assert issue.patch.startswith("diff --git a/tests/missing_colon.py")
    assert local.patch == ""
    assert issue.turns is not None
    calls = [call for turn in issue.turns for call in turn.tool_calls]
    assert issue.n_turns == len(calls) == 10
    assert calls[1].arguments == {"command": "ls -la"}
    assert [turn.exit_code for turn in issue.turns if turn.role == "assistant"] == [1, 0, 0, 0, 0, 0, 0, 1, 0, None]


def test_every_dialect_of_swe_agent_gives_one_call_a_turn(real: Path) -> None:
    found = rollouts(list(ingest([real / "formats/swe-agent"])))
    assert len(found) == 13
    for rollout in found:
        assert rollout.turns is not None
        own = [turn for turn in rollout.turns if turn.role == "assistant"]
        assert 4 <= len(own) == rollout.n_turns
        assert all(len(turn.tool_calls) == 1 for turn in own), rollout.source
        assert all(turn.observation for turn in own[:-1]), rollout.source
        assert rollout.turns[0].role == "system"
        assert not any("malformed_call" in turn.flags for turn in rollout.turns)


def test_demonstrations_are_flagged_and_no_turns_of_the_attempt(real: Path) -> None:
    name = "gpt4__swe-agent__test-repo__default_from_url__t-0.00__p-0.95__c-3.00__install-1.traj"
    (rollout,) = rollouts(list(ingest([real / "formats/swe-agent" / name])))
    assert rollout.turns is not None
    assert [turn.role for turn in rollout.turns if "demonstration" in turn.flags] == ["user"]
    assert rollout.n_turns == 5
    assert (rollout.input_tokens, rollout.output_tokens) == (52861, 326)


def test_aider_is_one_attempt_with_the_chat_of_all_tries_and_its_claims_ignored(real: Path) -> None:
    records = list(ingest([real / "formats/aider"]))
    found = {item.task_id: item for item in rollouts(records)}
    assert len(found) == 2
    assert not [item for item in records if isinstance(item, Outcome)]
    assert counted(records, "claim_ignored") == 6
    turns = found["pytest-dev__pytest-7373"].turns
    assert turns is not None
    edits = [call for turn in turns for call in turn.tool_calls]
    assert [call.name for call in edits] == ["edit", "edit"]
    assert edits[0].arguments is not None
    assert edits[0].arguments["path"] == "src/_pytest/mark/evaluate.py"
    assert edits[0].arguments["replace"] == ""
    assert edits[1].arguments is not None
    assert edits[1].arguments["search"].strip() == "result = cached_eval(self.item.config, expr, d)"
    assert [turn.output_tokens for turn in turns if turn.role == "assistant"] == [56, 285]
    assert turns[-1].observation == "Applied edit to src/_pytest/mark/evaluate.py"


def test_predictions_lose_their_fences_and_never_give_an_outcome(real: Path) -> None:
    records = list(ingest([real / "formats/predictions"]))
    found = rollouts(records)
    assert Counter(item.run for item in found) == {
        "blacksmith": 15,
        "dex8b_model_patch_fenced": 40,
        "dex8b_prediction_key": 40,
        "swe-agent_all_preds": 1,
    }
    assert counted(records, "fenced") == 80
    assert counted(records, "claim_ignored") == 15
    assert not [item for item in records if isinstance(item, Outcome)]
    assert all(item.patch and "```" not in item.patch for item in found)
    assert all(item.patch.lstrip().startswith("diff --git") for item in found if item.patch)
    assert {item.policy for item in found if item.run.startswith("dex8b")} == {"Dex-8B (Kirkland Lake AI Lab)"}


@pytest.mark.parametrize("part", ["mini-swe-agent", "formats"])
def test_every_transcript_survives_its_stored_form(real: Path, part: str) -> None:
    for rollout in rollouts(list(ingest([real / part]))):
        if rollout.turns is not None:
            assert transcripts.from_json(transcripts.to_json(rollout.turns)) == rollout.turns
