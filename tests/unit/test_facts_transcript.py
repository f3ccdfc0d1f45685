"""Facts of transcripts, one story at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rubrics.facts.diffs import parse_patch
from rubrics.facts.transcript_facts import measure_transcript
from rubrics.records.rollouts import ToolCall, Turn


def turn(command: str, answer: str | None = "", code: int | None = 0, **fields: Any) -> Turn:
    call = ToolCall("bash", {"command": command}, json.dumps({"command": command}))
    return Turn("assistant", fields.pop("text", "I do this."), None, (call,), answer, code, **fields)


def facts(*turns: Turn, patch: str | None = None, exit_status: str | None = None) -> dict[str, Any]:
    return measure_transcript(turns, None if patch is None else parse_patch(patch), exit_status)


CAREFUL = (
    Turn("system", "You are an agent."),
    Turn("user", "Fix the bug."),
    turn("cat src/a.py", "code", text="My plan: look first."),
    turn("cat > reproduce.py << 'EOF'\nimport a\nEOF\npython reproduce.py", "Traceback (most recent call last)", 1),
    turn("sed -i s/1/2/ src/a.py"),
    turn("python reproduce.py", "ok"),
    turn("python -m pytest tests | tail -3", "3 passed"),
    turn("rm reproduce.py"),
    turn("git diff"),
    turn("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
)
HASTY = (
    Turn("user", "Fix the bug."),
    turn("sed -i s/1/2/ src/a.py", "sed: can't read src/a.py: No such file or directory", 2),
    turn("sed -i s/1/2/ src/a.py", "sed: can't read src/a.py: No such file or directory", 2),
    turn("pytest", "1 failed, 2 passed", 1),
    turn("sed -i s/1/3/ src/b.py"),
)


def test_a_careful_attempt_reads_reproduces_tests_reviews_and_cleans_up() -> None:
    row = facts(*CAREFUL, exit_status="Submitted")
    expected = {
        "turns": 10,
        "assistant_turns": 8,
        "plan_stated": True,
        "reads_before_first_edit": 1,
        "turns_before_first_edit": 2,
        "first_edit_position": 0.25,
        "edited_files_read_first": 1.0,
        "edits_without_read": 0,
        "reproduction_before_edit": True,
        "reproduction_rerun_after_edit": True,
        "tests_run_before_edit": False,
        "tests_run_after_last_edit": True,
        "last_test_run_failed": False,
        "edited_after_last_test": False,
        "checks_after_last_edit": 2,
        "diff_reviewed": True,
        "scratch_files_created": 1,
        "scratch_cleanup": 1.0,
        "commands_failed": 1,
        "error_followed_up": 1.0,
        "submitted": True,
        "exit_by_limit": False,
        "files_written": ["reproduce.py", "src/a.py"],
        "source_files_written": 1,
    }
    assert {name: row[name] for name in expected} == expected


def test_a_hasty_attempt_edits_unread_files_repeats_itself_and_leaves_after_a_failure() -> None:
    row = facts(*HASTY, exit_status="LimitsExceeded")
    expected = {
        "turns_before_first_edit": 0,
        "edited_files_read_first": 0.0,
        "edits_without_read": 2,
        "edit_failures": 2,
        "longest_repeat_run": 2,
        "commands_failed": 3,
        "error_followed_up": 2 / 3,
        "test_runs_failed": 1,
        "last_test_run_failed": True,
        "edited_after_last_test": True,
        "tests_run_after_last_edit": False,
        "diff_reviewed": False,
        "submitted": False,
        "exit_by_limit": True,
    }
    assert {name: row[name] for name in expected} == expected


def test_a_command_counts_as_repeated_only_when_nothing_was_edited_in_between() -> None:
    assert facts(turn("pytest"), turn("ls"), turn("pytest"))["commands_repeated"] == 1
    assert facts(turn("pytest"), turn("sed -i s/a/b/ x.py"), turn("pytest"))["commands_repeated"] == 0


def test_without_a_source_edit_questions_about_it_have_no_answer() -> None:
    row = facts(turn("cat > reproduce.py << E\nx\nE"), turn("pytest", None, None))
    names = ("turns_before_first_edit", "tests_run_after_last_edit", "diff_reviewed", "edited_files_read_first")
    assert [row[name] for name in names] == [None] * 4
    assert row["last_test_run_failed"] is None


def test_a_pipe_does_not_hide_a_failed_test_run() -> None:
    assert facts(turn("pytest | tail -1", "== 2 failed, 3 passed in 1s ==", 0))["last_test_run_failed"] is True


def test_reaching_for_history_and_network_is_counted_apart_from_ordinary_use() -> None:
    row = facts(turn("git log --oneline -5"), turn("git diff HEAD"), turn("git stash"), turn("git status"))
    assert (row["history_access"], row["network_access"]) == (0, 0)
    row = facts(
        turn("git log --all --oneline"), turn("git show 1a2b3c4d:src/a.py"), turn("git reflog"), turn("wget x.org")
    )
    assert (row["history_access"], row["network_access"]) == (3, 1)


def test_a_root_file_that_the_patch_holds_is_no_scratch_file() -> None:
    patch = "diff --git a/tool.py b/tool.py\nnew file mode 100644\n--- /dev/null\n+++ b/tool.py\n@@ -0,0 +1 @@\n+x\n"
    create = turn("cat > tool.py << E\nx\nE")
    assert facts(create)["scratch_files_created"] == 1
    assert facts(create, patch=patch)["scratch_files_created"] == 0
    assert facts(create, patch=patch)["source_edits"] == 1


def test_demonstrations_are_left_out() -> None:
    shown = turn("sed -i s/1/2/ src/a.py", flags=("demonstration",))
    assert facts(shown, *CAREFUL) == facts(*CAREFUL)


def test_the_digest_ignores_blanks_at_ends_and_nothing_else() -> None:
    one, two, other = (facts(turn("ls", answer))["transcript_normal_digest"] for answer in ("a\n", "a", "b"))
    assert one == two != other


def test_tokens_and_sizes_are_sums_of_what_is_known() -> None:
    row = facts(turn("ls", "é", input_tokens=3), turn("ls", "aa", flags=("truncated_observation",)))
    names = (
        "input_tokens_total",
        "output_tokens_total",
        "observation_bytes",
        "largest_observation",
        "truncated_observations",
    )
    assert [row[name] for name in names] == [3, None, 4, 2, 1]


def test_real_attempts_are_understood(real: Path) -> None:
    """mini-swe-agent: every attempt with a patch edited source before it, and nearly no action is of unknown kind."""
    unknown = total = 0
    for path in sorted((real / "mini-swe-agent").glob("*/*/*.traj.json")):
        document = json.loads(path.read_text())
        turns = tuple(
            turn(json.loads(call["function"]["arguments"])["command"], None, None)
            for message in document["messages"]
            for call in message.get("tool_calls") or ()
        )
        row = facts(*turns, patch=document["info"]["submission"], exit_status=document["info"]["exit_status"])
        if document["info"]["submission"].strip():
            assert row["source_edits"] > 0, path.name
            assert row["submitted"], path.name
            assert row["edited_files_read_first"] == 1.0, path.name
        total += row["commands"]
        unknown += "other" in row["commands_list"]
    assert total > 500
    assert unknown == 0


def test_real_swe_agent_attempts_are_understood(real: Path) -> None:
    """Every dialect: the agent reproduces, opens the file, edits source, cleans up and submits."""
    seen = 0
    for path in sorted((real / "formats" / "swe-agent").glob("*marshmallow-1867*.traj")):
        document = json.loads(path.read_text())
        row = facts(*(turn(step["action"], step["observation"], None) for step in document["trajectory"]))
        assert row["submitted"], path.name
        assert row["source_edits"] == 1 + row["edit_failures"], path.name
        assert row["edited_files_read_first"] == 1.0, path.name
        assert row["scratch_cleanup"] == 1.0, path.name
        assert row["reproduction_rerun_after_edit"], path.name
        seen += 1
    assert seen >= 6
