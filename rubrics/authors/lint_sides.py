"""Lint of what a criterion is about: nothing countable for a judge, the right rubric, no outcome of tests. Pure."""

from __future__ import annotations

import re

from rubrics.authors.lint_records import Ground, Wrong
from rubrics.records.rubrics import Criterion, Kind

_NUMBER = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|a (?:few|single|handful of))"
_THINGS = (
    r"(?:lines?|files?|functions?|classes|hunks?|imports?|comments?|conditionals?|loops?|turns?|commands?|edits?|searches|reads?"
    r"|tests?|assertions?|steps?|tokens?)"
)
_ONLY = r"(?=[\s.,;]*$|\s+(?:to|in|by|from|for the (?:change|fix)|only|at all|after|before)\b)"
_COUNTABLE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), facts)
    for pattern, facts in (
        (rf"\b(?:at least|at most|more than|fewer than|less than|no more than|not more than|exactly|only|under|over"
         rf"|up to|within|about)\s+{_NUMBER}\s+(?:\w+\s+){{0,2}}{_THINGS}\b", "lines_added, files_changed, turns"),
        (rf"\b(?:number|count|amount) of (?:\w+\s+){{0,2}}{_THINGS}\b", "lines_changed, files_changed, commands"),
        (rf"\bhow many (?:\w+\s+){{0,2}}{_THINGS}\b", "lines_changed, source_files_changed, commands"),
        (r"\b(?:small|short|minimal|smallest|tiny|large) (?:diff|patch|change)\b|\b(?:patch|diff) size\b|\bsize of the "
         r"(?:patch|diff|change)\b", "lines_changed, size_against_passing"),
        (rf"\b(?:adds?|includes?|writes?|contains?|has|have|creates?)\s+(?:(?:a|an|new|some|any|unit|regression|more)\s+)*"
         rf"(?:tests?|test cases?){_ONLY}", "test_functions_added, test_lines_added"),
        (r"\b(?:runs?|executes?|ran|re-?runs?)\s+(?:(?:the|its|all|existing|whole|full|repository's|project's|unit)\s+)*"
         r"(?:tests?|test suite)\b", "test_runs, tests_run_after_last_edit"),
        (r"\b(?:edits?|changes?|modif(?:y|ies)|touch(?:es)?|weakens?|removes?|deletes?)\s+(?:(?:no|any|the|an?|existing|only)"
         r"\s+)*(?:tests?|test files?)\b", "test_lines_removed, existing_tests_changed"),
        (r"\b(?:edits?|changes?|modif(?:y|ies)|touch(?:es)?)\s+(?:(?:only|just|no|the|other|any)\s+)+(?:\w+\s+)?files?\b",
         "files_edited, source_files_changed"),
        (r"\b(?:edits?|changes?|modif(?:y|ies)|touch(?:es)?)\s+(?:(?:only|just|the file)\s+)*`[^`\s]+\.\w{1,4}`"
         r"(?:\s+only)?\s*\.?$", "files_edited: list_contains(files_edited, '...')"),
        (r"\b(?:debug|scratch|temporary|backup|reproduction)\s+(?:prints?|output|files?|scripts?|statements?|code)\b",
         "debug_prints_left, scratch_files_left, scratch_cleanup"),
        (r"\b(?:reviews?|looks? at|inspects?|checks?)\s+(?:its|the|his|their)\s+(?:own\s+)?(?:final\s+)?diff\b",
         "diff_reviewed"),
        (r"\breads?\s+(?:(?:the|every|each|all|source|edited|changed)\s+)*files?\b[^.]{0,40}\bbefore\b[^.]{0,20}\bedit",
         "edited_files_read_first, edits_without_read"),
        (r"\b(?:swallow\w*|bare except|broad except\w*)\b", "exceptions_swallowed, broad_excepts"),
        (r"\b(?:uses?|accesses|reaches for) the (?:network|internet)\b", "network_access, network_use_added"),
    )
)  # fmt: skip
"""What a judge may not be asked, and the facts that tell it."""

_OF_AN_ATTEMPT = re.compile(
    r"^(?:the )?(?:agent|attempt|assistant)\b|\b(?:transcript|turns?|trajectory)\b"
    r"|\bbefore (?:its|the|any) (?:first )?edit",
    re.IGNORECASE,
)
_OF_A_PATCH = re.compile(
    r"^(?:the )?(?:patch|diff|change|code|implementation|solution|fix)\b|\b(?:the|its) (?:final )?(?:patch|diff) "
    r"(?:adds|changes|removes|keeps|handles|raises|returns|leaves)\b",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"\bhidden tests?\b|\bfail[_ -]to[_ -]pass\b|\bpass[_ -]to[_ -]pass\b|\btest suite passes\b"
    r"|\b(?:all|the|existing|every|its) (?:\w+\s+)?tests? (?:still )?(?:pass(?:es)?|succeeds?)\b"
    r"|\bpass(?:es)? (?:all|the|every|its) (?:\w+\s+)?tests?\b",
    re.IGNORECASE,
)
_TEST_NAME = re.compile(r"[^\W\d]\w{5,}")


def countable(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """What a fact measures is a rule's business."""
    if criterion.method == "rule":
        return None
    for pattern, facts in _COUNTABLE:
        found = pattern.search(criterion.text)
        if found is not None:
            return Wrong(
                f"'{' '.join(found.group().split())}' can be counted, so no judge is asked about it",
                f"Make it a criterion of method rule over the vocabulary ({facts})",
            )
    return None


def side(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """A solution criterion is about the patch, a behavior criterion about how the attempt worked."""
    if criterion.method == "rule":
        return None  # its vocabulary is that of its kind
    if kind == "solution" and _OF_AN_ATTEMPT.search(criterion.text):
        return Wrong("it is about how the attempt worked, not about its patch", "Move it to the behavior rubric")
    if kind == "behavior" and _OF_A_PATCH.search(criterion.text):
        return Wrong("it is about the patch, not about how the attempt worked", "Move it to the solution rubric")
    return None


def outcome(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """Outcomes of tests are not the rubric's: it would count them twice."""
    texts = f"{criterion.text}\n{criterion.guidance or ''}\n{criterion.rule or ''}"
    found = _OUTCOME.search(texts)
    if found is not None:
        return Wrong(f"'{found.group()}' is what the tests decide", "Say what the spec asks of the change instead")
    words = set(_TEST_NAME.findall(texts))
    for test in sorted(ground.tests):
        name = re.split(r"::|[./]", test.partition("[")[0].partition(" (")[0])[-1].strip()
        if name in words and len(name) > 8 and name not in (ground.spec or ""):
            return Wrong(f"it names the deciding test {name}", "Say what the spec asks of the change instead")
    return None
