"""Which outcome of a rollout counts, and where its sources differ (design section 7, method 2.1). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rubrics.records.census import CensusLine
from rubrics.records.outcomes import Outcome, OutcomeName

_VERDICTS = ("passed", "failed")
_LOG = "test_output.txt"


@dataclass(frozen=True, slots=True)
class Choice:
    """The outcome that counts, and why."""

    outcome: OutcomeName
    source: str | None
    """Source that decided; null when nothing did."""
    why: str
    """In a few words, for people."""
    disagreement: bool
    """Whether two sources say different things (`differ`)."""


def choose(outcomes: Sequence[Outcome]) -> Choice:
    """The outcome that counts among those of one rollout; their order does not matter.

    Infra by the exit status overrules everything. Then the verdict of the tests counts: the latest `run:<k>` that has
    one, else a given file's, else the harness's, else what the publisher recorded. Sources of one rank that differ give
    a failure: a pass must be undisputed. An exit by truncation makes a failure `truncated`, and decides alone when the
    tests said nothing. A source that says `unknown` says nothing; one that says `infra` of the tests decides only when
    no other decides.
    """
    exits = sorted((item for item in outcomes if item.source == "exit"), key=lambda item: item.outcome)
    tested = [item for item in outcomes if item.source != "exit"]
    verdicts = [item for item in tested if item.outcome in _VERDICTS]
    disagreement = differ(outcomes)
    broke = next((item for item in exits if item.outcome == "infra"), None)
    cut = next((item for item in exits if item.outcome == "truncated"), None)
    if broke is not None:
        overruled = ", ".join(sorted(f"{item.source} ({item.outcome})" for item in verdicts))
        why = f"the attempt ended by {broke.detail or 'an infrastructure failure'}"
        return Choice("infra", "exit", f"{why}; overruled: {overruled}" if overruled else why, disagreement)
    if verdicts:
        return _by_verdict(verdicts, cut, disagreement)
    others = sorted((item for item in tested if item.outcome in ("infra", "truncated")), key=lambda item: item.source)
    decided = next((item for item in others if item.outcome == "truncated"), cut) or (others[0] if others else None)
    if decided is None:
        return Choice("unknown", None, "no source says whether the tests passed", disagreement)
    return Choice(decided.outcome, decided.source, decided.detail or f"{decided.source} says so", disagreement)


def differ(outcomes: Sequence[Outcome]) -> bool:
    """Whether sources of one rollout say different things.

    Two sources of the tests differ when they say different words. `unknown` says nothing, nor does a run or a log of
    our own that broke (`infra`). The exit status differs from the others when a cut-off or broken attempt is said to
    have passed: that it failed then is what one expects.
    """
    tested = [item for item in outcomes if item.source != "exit" and item.outcome != "unknown"]
    said = {item.outcome for item in tested if not (item.outcome == "infra" and is_measured_here(item.source))}
    ended = {item.outcome for item in outcomes if item.source == "exit"} & {"infra", "truncated"}
    return len(said) > 1 or bool(ended and "passed" in said)


def doubts(stage: str, rollout_id: str, who: str, outcomes: Sequence[Outcome]) -> Iterator[CensusLine]:
    """The census lines of one rollout's outcomes: whether its exit overrules a verdict, and whether its sources differ.

    Every stage that adds outcomes passes all of a rollout's outcomes here, old and new. `who` names the rollout to
    people.
    """
    choice = choose(outcomes)
    verdicts = [item for item in outcomes if item.source != "exit" and item.outcome in _VERDICTS]
    if verdicts and any(item.source == "exit" for item in outcomes) and choice.outcome in ("infra", "truncated"):
        yield CensusLine(stage, "outcome", "overruled", rollout_id, f"{who}: {choice.why}")
    if choice.disagreement:
        said = ", ".join(sorted(f"{item.source} {item.outcome}" for item in outcomes if item.outcome != "unknown"))
        yield CensusLine(stage, "outcome", "disagreement", rollout_id, f"{who}: {said}; counted as {choice.outcome}")


def is_measured_here(source: str) -> bool:
    """Whether a program of ours made the outcome, by running tests or by reading a stored log: no dump gives it
    again."""
    return source.startswith(("run:", "log:")) or (source.startswith("harness:") and source.endswith(_LOG))


def _by_verdict(verdicts: list[Outcome], cut: Outcome | None, disagreement: bool) -> Choice:
    """The verdict of the first rank that has one; a disputed pass is a failure."""
    first = min(_rank(item.source) for item in verdicts)
    ranked = sorted((item for item in verdicts if _rank(item.source) == first), key=lambda item: item.source)
    failed = [item for item in ranked if item.outcome == "failed"]
    chosen = failed[0] if failed else ranked[0]
    if chosen.outcome == "failed" and cut is not None:
        why = f"the tests failed ({chosen.source}) after the attempt was cut off by {cut.detail or 'a budget'}"
        return Choice("truncated", chosen.source, why, disagreement)
    detail = f"; {chosen.detail}" if chosen.detail else ""
    return Choice(chosen.outcome, chosen.source, f"{chosen.source} says {chosen.outcome}{detail}", disagreement)


def _rank(source: str) -> tuple[int, int]:
    """Runs first, the latest of them before the others, then files, then the harness."""
    kind, _, rest = source.partition(":")
    if kind == "run":
        return 0, -int(rest) if rest.isdecimal() else 0
    return {"file": 1, "harness": 2}.get(kind, 3), 0
