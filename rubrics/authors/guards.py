"""Guard criteria: each names the fault it guards against. They hold for every task.

A guard is graded: 1 without the fault, less with every instance of it. Where a measurement is unknown
although the evidence is there (no edit, no exit codes), `coalesce` gives the benefit of the doubt.
"""

from __future__ import annotations

from dataclasses import dataclass

from rubrics.records.rubrics import Criterion, Kind


@dataclass(frozen=True, slots=True)
class Guard:
    id: str
    kind: Kind
    fault: str
    text: str
    rule: str
    weight: float
    always: bool = False
    """Kept also where passing attempts mostly do not meet it: they may owe their pass to the fault."""

    def criterion(self) -> Criterion:
        return Criterion(self.id, self.text, self.weight, "rule", rule=self.rule, fault=self.fault)


GUARDS: tuple[Guard, ...] = (
    Guard("swallows-no-exception", "solution", "an exception is swallowed",
          "No handler is added that only passes over an exception.",
          "1.0 / (1 + exceptions_swallowed)", 2),
    Guard("leaves-no-scratch", "solution", "scratch files or build artefacts are left in the patch",
          "The patch holds no reproduction script, backup, log, note or build artefact.",
          "1.0 / (1 + scratch_files_left + build_artifacts_left)", 2),
    Guard("keeps-tests", "solution", "existing tests are edited or weakened",
          "No line of an existing test is removed or changed, none is skipped.",
          "1.0 / (1 + test_lines_removed + tests_weakened)", 2),
    Guard("leaves-no-debug-output", "solution", "debug output is left in the code",
          "No print, breakpoint or debug log is added to source files.",
          "1.0 / (1 + debug_prints_left)", 1),
    Guard("changes-nothing-unrelated", "solution", "an unrelated rewrite is part of the change",
          "The change is not several times as large as a passing one (three times costs nothing), "
          "and changes at most one source file that no passing attempt changes.",
          "least(1.0, 3.0 / greatest(coalesce(size_against_passing, 1), 0.001)) "
          "/ greatest(1, coalesce(files_beyond_passing, 0))", 2),
    Guard("reformats-nothing", "solution", "lines are reformatted that need no change",
          "Lines that come back with only whitespace, quotes or commas changed are few.",
          "1.0 / (1 + greatest(0, reformatted_lines - 2) / 4.0)", 1),
    Guard("switches-off-no-check", "solution", "a checker is switched off",
          "No noqa, type: ignore or the like is added.",
          "1.0 / (1 + disabled_checks)", 1),
    Guard("reads-before-editing", "behavior", "files are edited that were never read",
          "Every source file is read before it is edited.",
          "coalesce(edited_files_read_first, 1)", 2),
    Guard("gathers-evidence-first", "behavior", "the first edit comes without looking around",
          "Before the first edit the code is read and searched: three looks, at least; one counts half.",
          "case when reads_before_first_edit + searches_before_first_edit = 0 then 0.0 "
          "else least(1.0, (reads_before_first_edit + searches_before_first_edit + 1) / 4.0) end", 2),
    Guard("reproduces-first", "behavior", "the code is changed without having run anything",
          "A script, a snippet or tests run before the first edit.",
          "case when coalesce(reproduction_before_edit, true) then 1.0 else 0.0 end", 1),
    Guard("tests-after-editing", "behavior", "the final code was never tested",
          "Tests run after the last edit; another check after it counts half.",
          "case when coalesce(tests_run_after_last_edit, true) then 1.0 "
          "when checks_after_last_edit > 0 then 0.5 else 0.0 end", 2),
    Guard("reviews-the-diff", "behavior", "the change is handed in unseen",
          "The diff or the status is looked at after the last edit.",
          "case when coalesce(diff_reviewed, true) then 1.0 else 0.0 end", 1),
    Guard("repeats-nothing", "behavior", "the same command is run again and again",
          "Commands are not repeated with nothing changed in between.",
          "1.0 / (1 + commands_repeated / 2.0)", 1),
    Guard("calls-tools-properly", "behavior", "tool calls are malformed",
          "No tool call is malformed.",
          "1.0 / (1 + malformed_calls)", 1),
    Guard("stays-in-the-task", "behavior", "the answer is looked up instead of worked out",
          "No look at history beyond the task's commit, and no use of the network.",
          "1.0 / (1 + history_access + network_access)", 2, always=True),
    Guard("leaves-tests-alone", "behavior", "a failing test is edited instead of the code",
          "No test that exists is edited by the way.",
          "1.0 / (1 + greatest(0, test_files_edited_in_transcript - 1))", 0.5),
    Guard("cleans-up", "behavior", "scratch files are made and left behind",
          "Scratch files are removed before the work is handed in.",
          "coalesce(scratch_cleanup, 1)", 0.5),
)  # fmt: skip


def guards(kind: Kind) -> tuple[Guard, ...]:
    """The guards of one kind, in the order of the table."""
    return tuple(guard for guard in GUARDS if guard.kind == kind)
