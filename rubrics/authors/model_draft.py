"""A submission as criteria, and the finished work of an author as it is remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from rubrics import jsonio
from rubrics.authors.author import StudiedAttempt
from rubrics.authors.model_ground import labels_of
from rubrics.contrasts.measure import CONTENT
from rubrics.errors import UnusableReply
from rubrics.records.rubrics import KINDS, Criterion, Kind
from rubrics.replies.drafts import Anchor, Draft, DraftCriterion, read_drafts
from rubrics.visible import one_line

Drafts = Mapping[Kind, Draft]
ID = 12
"""Characters of a rollout_id that stand for it in a rubric."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a conversation came to: enough to make the rubrics again without asking anything."""

    draft: str
    """Arguments of the first submission, as written."""
    revision: str | None
    """Those of the second one; null when nothing was wrong with the first."""
    model: str
    """The model that answered, by its own word."""
    turns: int
    base: dict[str, bool] = field(default_factory=dict)
    """What was looked up at base, and the answers."""

    def last(self, labels: Sequence[str]) -> Drafts:
        """The rubrics as handed in last. Raises `UnusableReply`."""
        return read_drafts(self.revision or self.draft, labels)

    def to_json(self) -> str:
        return jsonio.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | None, labels: Sequence[str]) -> Work | None:
        """Null for what this version cannot read."""
        try:
            work = cls(**jsonio.loads(text or ""))
            work.last(labels)
        except (ValueError, TypeError, UnusableReply):
            return None
        return work


def criteria(drafts: Drafts, studied: Sequence[StudiedAttempt]) -> dict[Kind, tuple[Criterion, ...]]:
    """The criteria of both rubrics."""
    return {kind: tuple(_criterion(kind, item, studied) for item in drafts[kind].criteria) for kind in KINDS}


def own_note(draft: Draft) -> str:
    """What the author says of a rubric, on one line."""
    return one_line(" ".join(draft.note.split()))


def _criterion(kind: Kind, item: DraftCriterion, studied: Sequence[StudiedAttempt]) -> Criterion:
    """Evidence are the attempts that it names; where it names none, all that have what it is about."""
    named = dict(zip(labels_of(studied), studied, strict=True))
    able = [attempt for attempt in studied if attempt.facts.get(CONTENT[kind]) is not None]
    evidence = [named[label] for label in item.rests_on] or able
    return Criterion(
        id=item.id,
        text=item.text,
        weight=item.weight,
        method=item.method,
        rule=item.rule,
        guidance=item.guidance,
        scale=item.scale,
        gate=item.gate,
        fault=item.fault,
        anchor=_anchor(item.anchor),
        evidence=tuple(attempt.rollout_id[:ID] for attempt in evidence),
    )


def _anchor(anchor: Anchor) -> str | None:
    return f"{anchor.place}: {anchor.quote}" if anchor.kind == "file" else anchor.quote
