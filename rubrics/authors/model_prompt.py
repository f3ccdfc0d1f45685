"""What a model that writes rubrics is told: the same for every task first, then the task, then the attempts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rubrics.authors.author import Brief, StudiedAttempt
from rubrics.authors.builtin import BuiltinAuthor, Evaluate
from rubrics.authors.lint_beside import GUARDS_SHARE, MOST_CRITERIA
from rubrics.authors.lint_form import HEAVIEST
from rubrics.authors.lint_ground import SHORTEST_QUOTE
from rubrics.authors.lint_records import Finding
from rubrics.authors.model_ground import labels_of
from rubrics.prompting.fences import Shown, fence, shown, shown_name
from rubrics.prompting.tasks import facts_view, spec_view
from rubrics.prompting.templates import prompt_digest, render
from rubrics.records.models import Request, Tool
from rubrics.records.rubrics import KINDS
from rubrics.records.tasks import Task
from rubrics.replies.drafts import draft_schema
from rubrics.rules.language import FUNCTIONS, vocabulary

TEMPLATES = ("author", "author_task", "author_revision")
SUBMIT = "submit_rubrics"
ENVIRONMENT_TOOLS = "run_command, read_file, list_files, search"
ATTEMPT_TOOLS = "show_patch, show_transcript, search_transcript, show_tests"
PATHS = 12
"""Changed files of an attempt that are listed."""


def digest() -> str:
    """The version of the prompt."""
    return prompt_digest(*TEMPLATES)


def submit_tool(labels: Sequence[str]) -> Tool:
    """The tool that ends the work."""
    return Tool(SUBMIT, "Hand in both rubrics, whole.", draft_schema(labels))


def opening(
    brief: Brief, studied: Sequence[StudiedAttempt], study_digest: str, entered: bool, evaluate: Evaluate
) -> Request:
    """The first messages. Everything that others wrote stands in fences."""
    task = brief.task or Task(brief.task_id, None, None, brief.spec)
    asked = render(
        "author_task",
        facts=fence("task facts", facts_view(task)),
        spec=fence("spec", spec_view(task)),
        entered=entered,
        environment_tools=ENVIRONMENT_TOOLS,
        attempt_tools=ATTEMPT_TOOLS,
        attempts=fence("attempts", Shown("\n".join(_attempts(studied)))),
        seed=fence("seed", shown("\n".join(_seed(brief, tuple(studied), study_digest, evaluate)) or "nothing")),
    )
    messages = ({"role": "system", "content": _instructions()}, {"role": "user", "content": asked})
    return Request(messages, purpose="author", schema_name="rubrics")


def revision(findings: Sequence[Finding]) -> str:
    """What is wrong with the draft. Names that attempts gave are made safe to show."""
    return render("author_revision", findings=[shown_name(finding.words()) for finding in findings])


def _instructions() -> str:
    return render(
        "author",
        submit=SUBMIT,
        shortest_quote=SHORTEST_QUOTE,
        guards_share=f"{GUARDS_SHARE:.0%}",
        heaviest=f"{HEAVIEST:g}",
        most_criteria=MOST_CRITERIA,
        functions=", ".join(sorted(FUNCTIONS)),
        vocabulary={kind: list(vocabulary(kind).values()) for kind in KINDS},
    )


def _attempts(studied: Sequence[StudiedAttempt]) -> Iterator[str]:
    for label, item in zip(labels_of(studied), studied, strict=True):
        facts = item.facts
        said = [f"{label}: {'passed' if item.passed else 'failed'} the tests"]
        if facts.get("files_changed") is None:
            said.append("patch not known")
        else:
            paths = [*(facts["files_edited"] or ()), *(facts["test_files_edited"] or ())]
            named = ", ".join(shown_name(path) for path in paths[:PATHS])
            more = f" and {len(paths) - PATHS} more" if len(paths) > PATHS else ""
            changed = f"{facts['files_changed']} files, +{facts['lines_added']} -{facts['lines_removed']} lines"
            said.append(f"patch of {changed}{f' ({named}{more})' if named else ''}")
        turns = facts.get("assistant_turns")
        said.append("no transcript" if turns is None else f"transcript of {turns} turns, {facts['commands']} commands")
        said.append("no test results" if not item.tests else f"{len(item.tests.splitlines())} test results")
        yield "; ".join(said)


def _seed(brief: Brief, studied: tuple[StudiedAttempt, ...], study_digest: str, evaluate: Evaluate) -> Iterator[str]:
    """The builtin author's criteria; they are made of names that the attempts gave."""
    for rubric in BuiltinAuthor(evaluate).write(brief, studied, study_digest):
        for item in rubric.criteria:
            guard = f" (guard: {item.fault})" if item.fault else ""
            yield f"{rubric.kind} {item.id}{guard}: {item.text} rule: {item.rule} ({item.fared})"
