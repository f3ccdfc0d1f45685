"""Small files of every shape that tools write: nothing in them is lost in silence, and nothing wrong is stored."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
from ingest_helpers import Read, read

from rubrics.ingest.account import UNREAD, account_of


@pytest.fixture(scope="module")
def shapes(real: Path) -> Path:
    return real / "shapes"


def failed(found: Read) -> bool:
    return account_of([asdict(line) for line in found.census], len(found.rollouts)).failed


NOT_READ = (
    "claude-code", "codex", "harbor", "inspect", "openhands-benchmarks-v1", "openhands-resolver", "openhands-sdk",
    "openhands-trajectory-json", "openhands-v0", "openhands-v0-pairs", "verifiers-legacy",
    "nemo-gym/env_rollouts.jsonl",
    *(f"from-schema/{name}" for name in (
        "agentless_loc.jsonl", "agentless_repair.jsonl", "multi_patch.jsonl", "openai_chat_log.jsonl",
        "openai_finetune_chat.jsonl", "openai_finetune_chat_id.jsonl", "otel.jsonl", "promptfoo.json", "r2egym.jsonl",
        "skyrl.jsonl", "swegym_openhands.parquet", "swesmith.parquet", "tb_results.json", "trl_completions.parquet",
        "verifiers_legacy.jsonl", "verl_rollout.jsonl",
    )),
)  # fmt: skip


@pytest.mark.parametrize("shape", NOT_READ)
def test_what_no_reader_reads_gives_nothing_and_a_failure(shapes: Path, shape: str) -> None:
    """A Harbor job gave no rollouts and exit code 0; rows of a network environment became attempts of SWE-agent."""
    found = read(shapes / shape)
    assert [item for item in found.records if item not in found.census] == []
    assert failed(found)
    assert found.count("read_as") == 0


@pytest.mark.parametrize("shape", [*NOT_READ, "autocoderover", "coder", "nemo-gym"])
def test_every_file_is_in_the_account(shapes: Path, shape: str) -> None:
    path = shapes / shape
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    found = read(path)
    kinds = {"read_as", "empty", "sealed_beside_attempt", *UNREAD}
    assert sum(line.count for line in found.census if line.subject == "file" and line.kind in kinds) == len(files)


def test_the_logs_of_a_harbor_job_are_not_called_sealed_and_its_hidden_tests_are(shapes: Path) -> None:
    line = read(shapes / "harbor").line("sealed_beside_attempt")
    assert line.place.endswith("verifier/test-stdout.txt")


def test_published_chats_beside_a_patch_are_read_with_their_claims_ignored(shapes: Path) -> None:
    found = read(shapes / "from-schema/nebius_openhands.parquet")
    assert [(item.task_id, item.n_turns, item.exit_status) for item in found.rollouts] == [
        (f"o__r-{number}", 2, "submit") for number in range(4)
    ]
    assert all(item.patch for item in found.rollouts)
    assert not found.outcomes
    trusted = read(shapes / "from-schema/nebius_openhands.parquet", trust_recorded=True)
    assert len(trusted.outcomes) == 4
    assert {item.source for item in trusted.outcomes} == {"recorded:predictions"}


def test_published_chats_of_another_form_are_counted_and_their_patches_read(shapes: Path) -> None:
    found = read(shapes / "from-schema/nebius_sweagent.parquet")
    assert [bool(item.patch) for item in found.rollouts] == [True] * 4
    assert found.count("transcript_not_read") == found.count("claim_ignored") == 4
    assert failed(found)
    trusted = read(shapes / "from-schema/nebius_sweagent.parquet", trust_recorded=True)
    assert {item.outcome for item in trusted.outcomes} <= {"passed", "failed"}
    assert len(trusted.outcomes) == 4


def test_rows_of_nemo_gym_keep_patch_and_numbers_and_what_was_not_measured_is_infra(shapes: Path) -> None:
    found = read(shapes / "nemo-gym/swe_rollouts.jsonl")
    assert [(item.task_id, bool(item.patch), item.turns) for item in found.rollouts] == [
        ("acme__calc-1", True, None), ("acme__calc-1", True, None), ("acme__calc-2", False, None)
    ]  # fmt: skip
    assert not found.outcomes
    assert (found.count("claim_ignored"), found.count("transcript_not_read")) == (6, 2)
    assert '"_ng_rollout_index":1' in (found.rollouts[1].extra or "")
    trusted = read(shapes / "nemo-gym/swe_rollouts.jsonl", trust_recorded=True)
    assert [item.outcome for item in trusted.outcomes] == ["passed", "passed", "infra"]


def test_several_agents_in_one_run_are_read_in_full_and_its_results_with_a_trailing_comma(shapes: Path) -> None:
    found = read(shapes / "coder")
    assert (found.rollout.harness, found.rollout.run, found.rollout.n_turns) == ("swe-agent", "coder", 3)
    assert found.chosen == {("acme__calc-1", "coder", 0): "passed"}
    assert '"agents":["Manager","Programmer","Manager"]' in (found.rollout.extra or "")
    assert found.count("trailing_comma") == 1
    assert "'acme__calc-2'" in found.line("outcome_without_rollout").detail


def test_both_reports_of_an_autocoderover_run_are_read_and_its_conversations_are_counted(shapes: Path) -> None:
    found = read(shapes / "autocoderover")
    assert found.chosen == {("acme__calc-1", "run-1", 0): "passed"}
    assert {item.source for item in found.outcomes} == {
        "harness:run-1/new_eval_results/report.json", "harness:run-1/old_eval_results/final_report.json"
    }  # fmt: skip
    assert found.count("not_recognised", "file") == 13
    assert failed(found)


def test_a_report_without_rollouts_says_which_it_could_not_find(shapes: Path) -> None:
    found = read(shapes / "from-schema/multi_final_report.json")
    line = found.line("outcome_without_rollout")
    assert line.count == 3
    assert "'o/r:pr-1', 'o/r:pr-2', 'o/r:pr-3'" in line.detail


def test_predictions_with_further_columns_keep_or_name_them(shapes: Path) -> None:
    found = read(shapes / "from-schema/agentless.jsonl")
    assert found.rollout.policy == "agentless"
    assert "`raw_model_patch`" in found.line("column_dropped").detail


def test_the_files_that_are_read_exactly_have_no_trouble(real: Path) -> None:
    for part in ("swe-agent", "mini-swe-agent-v1"):
        kinds = {line.kind for line in read(real / "formats" / part).troubles}
        assert kinds <= {"no_task", "patch_not_diff", "mixed_policies"}
