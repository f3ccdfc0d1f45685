"""Lint and trial of a model's draft: rules by the evaluator, questions by a judge, on the studied attempts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rubrics.agents.threads import in_thread
from rubrics.authors.author import Brief, StudiedAttempt
from rubrics.authors.finished import Examined
from rubrics.authors.lint import lint
from rubrics.authors.lint_ground import spec_anchored
from rubrics.authors.lint_records import Finding, Ground
from rubrics.authors.model_ground import labels_of
from rubrics.authors.trial import Column, as_model, tried
from rubrics.authors.trial_draft import Tried, findings
from rubrics.contrasts.measure import CONTENT
from rubrics.judges.judge import Judge
from rubrics.records.judgements import Case, Judgement
from rubrics.records.rubrics import KINDS, Criterion, Kind, Rubric
from rubrics.records.tasks import Task
from rubrics.rules.evaluate import RuleEvaluator, measured_table

Draft = Mapping[Kind, Sequence[Criterion]]
NOT_TRIED = "not tried: no judge was there to answer it"


@dataclass(slots=True)
class Trial:
    """Tries drafts of one task. What a judge said of a criterion is asked once, also where a second draft keeps it."""

    brief: Brief
    studied: Sequence[StudiedAttempt]
    judge: Judge | None
    _said: dict[tuple[Kind, str, str | None, tuple[str, ...]], tuple[float | None, ...]] = field(default_factory=dict)
    _failed: dict[Kind, str] = field(default_factory=dict)

    async def examine(self, draft: Draft, ground: Ground) -> dict[Kind, list[Examined]]:
        """Every criterion with what is said against it. What the lint refuses is not tried."""
        linted = await in_thread(lambda: lint(draft, ground))
        wrong = {(item.kind, item.place) for item in linted}
        sound: dict[Kind, dict[int, Criterion]] = {
            kind: {i: item for i, item in enumerate(draft[kind]) if (kind, i) not in wrong} for kind in KINDS
        }
        rules = await in_thread(lambda: {kind: self._rules(kind, sound[kind]) for kind in KINDS})
        await self._ask(sound)
        examined: dict[Kind, list[Examined]] = {}
        for kind in KINDS:
            against = [item for item in linted if item.kind == kind]
            against += self._against(kind, sound[kind], rules[kind], ground.spec)
            examined[kind] = [
                Examined(self._with_reasons(kind, item, i in sound[kind], rules[kind].get(i)), _of(i, against))
                for i, item in enumerate(draft[kind])
            ]
        return examined

    def able(self, kind: Kind) -> list[StudiedAttempt]:
        """The attempts that have what a rubric of this kind is about."""
        return [item for item in self.studied if item.facts.get(CONTENT[kind]) is not None]

    def _rules(self, kind: Kind, sound: Mapping[int, Criterion]) -> dict[int, tuple[Column, Column]]:
        """Values of each rule: compared with itself too, and with the others only."""
        able = self.able(kind)
        places = [place for place, item in sound.items() if item.method == "rule"]
        rules = [sound[place].rule or "" for place in places]
        rows = [{**a.facts, **a.contrasts} for a in (*map(as_model, able), *able)]
        with RuleEvaluator() as evaluator:
            for rule in rules:
                evaluator.check(rule, kind, "draft")
            values = evaluator.values(rules, measured_table(rows))
        columns = [[row[index] for row in values] for index in range(len(places))]
        return {p: (c[: len(able)], c[len(able) :]) for p, c in zip(places, columns, strict=True)}

    async def _ask(self, sound: Mapping[Kind, Mapping[int, Criterion]]) -> None:
        """Let the judge answer what it was not asked before, one call per attempt."""
        new = {
            kind: tuple(i for i in sound[kind].values() if i.method == "judge" and _key(kind, i) not in self._said)
            for kind in KINDS
        }
        if self.judge is None or not any(new.values()):
            return
        rubrics = {kind: Rubric(self.brief.task_id, kind, new[kind], "", (), "", "") for kind in KINDS if new[kind]}
        judge, cases = self.judge, [self._case(item, rubrics) for item in self.studied]
        judgements = await asyncio.gather(*(judge.judge(case) for case in cases))
        for kind in rubrics:
            have = [self._has(kind, item) for item in self.studied]
            answers = [judgement for judgement, able in zip(judgements, have, strict=True) if able]
            failed = sorted({item.failure_class for item in answers if item.failure_class})
            if failed:
                self._failed[kind] = ", ".join(failed)
            for item in new[kind]:
                self._said[_key(kind, item)] = tuple(_value(answer, kind, item.id) for answer in answers)

    def _has(self, kind: Kind, item: StudiedAttempt) -> bool:
        return item.facts.get(CONTENT[kind]) is not None

    def _case(self, item: StudiedAttempt, rubrics: Mapping[Kind, Rubric]) -> Case:
        assert item.rollout is not None
        task = self.brief.task or Task(self.brief.task_id, None, None, self.brief.spec)
        able = {kind: rubric for kind, rubric in rubrics.items() if self._has(kind, item)}
        return Case(task, item.rollout, able, item.tests)

    def _against(
        self, kind: Kind, sound: Mapping[int, Criterion], rules: Mapping[int, tuple[Column, Column]], spec: str | None
    ) -> list[Finding]:
        tested = [
            Tried(place, item, self._column(kind, item, rules.get(place)), spec_anchored(item, spec))
            for place, item in sound.items()
        ]
        able = self.able(kind)
        labels = dict(zip((a.rollout_id for a in self.studied), labels_of(self.studied), strict=True))
        return findings(kind, tested, [a.passed for a in able], [labels[a.rollout_id] for a in able])

    def _column(self, kind: Kind, item: Criterion, rule: tuple[Column, Column] | None) -> Column | None:
        return rule[0] if rule is not None else self._said.get(_key(kind, item))

    def _with_reasons(
        self, kind: Kind, item: Criterion, was_tried: bool, rule: tuple[Column, Column] | None
    ) -> Criterion:
        """The criterion with how it fared."""
        if not was_tried:
            return item
        passed = [attempt.passed for attempt in self.able(kind)]
        if rule is not None:
            return replace(item, fared=tried(rule[1], passed).words())
        values = self._said.get(_key(kind, item))
        if values is None or self.judge is None:
            return replace(item, fared=NOT_TRIED)
        unknown = sum(value is None for value in values)
        lost = f"; {unknown} unknown ({self._failed.get(kind, 'no verdict')})" if unknown else ""
        return replace(item, fared=f"by {self.judge.name}: {tried(values, passed).words()}{lost}")


def _key(kind: Kind, item: Criterion) -> tuple[Kind, str, str | None, tuple[str, ...]]:
    """What a judge is asked."""
    return kind, item.text, item.guidance, item.scale


def _value(judgement: Judgement, kind: Kind, criterion_id: str) -> float | None:
    found = (v.value for v in judgement.verdicts if (v.kind, v.criterion_id) == (kind, criterion_id))
    return next(found, None)


def _of(place: int, against: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(item for item in against if item.place == place)
