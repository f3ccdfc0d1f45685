"""Rank: the passes of every group of route gar, side by side, in rounds, by a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from rubrics.environments.session import Environment
from rubrics.errors import UsageError
from rubrics.ranking.bias import Shown, position_bias
from rubrics.ranking.bouts import Bout, Heard
from rubrics.ranking.model_single import SingleRanker
from rubrics.records.census import CensusLine, Subject
from rubrics.records.tasks import Task
from rubrics.stages.environments import Opener
from rubrics.stages.options import Options
from rubrics.stages.rank_bouts import Planned, planned
from rubrics.stages.rank_groups import LEFT_OUT, groups_to_rank
from rubrics.stages.rank_rows import SOURCE, Played, finding_rows, ranking_rows, rounds_of, shown_entries
from rubrics.stages.reward_config import reward_config
from rubrics.stages.stage import Chunk
from rubrics.stages.task_records import task_records
from rubrics.stages.tasks import task_chunks
from rubrics.store.chunks import Done, Output
from rubrics.store.commit import StageRun
from rubrics.store.store import Store

if TYPE_CHECKING:
    from rubrics.models.client import Client

ENVIRONMENTS = 2
"""Bouts that work in environments at once: each opens the task's start and up to three attempts."""
DETAILS = {
    **LEFT_OUT,
    "group_ranked": "groups whose passes were compared",
    "round_usable": "rounds that count",
    "duplicate_shared": "passes with the patch and transcript of another: shown once, ranked alike",
    "hack_suspected": "passes of which a ranking says that they game the tests; for an audit to decide",
}


class Ranker(Protocol):
    """Compares the candidates of one bout; many bouts may be under way at once."""

    name: str

    async def rank(self, bout: Bout) -> Heard:
        """Marks, or a failure class. Never raises for what a reply or an environment did wrong."""


class Rank:
    """Writes `rankings` of the chosen tasks, and what it found of gaming the tests to `audits`; rows of other tasks
    and of other auditors stay.

    Without an environment, or where no backend can be had, everything is ranked from the prompt alone, as is a task
    that names nothing to open.
    """

    name = "rank"
    reads = ("tasks", "rollouts", "transcripts", "outcomes", "grades", "rubrics", "audits", "environments")

    def __init__(
        self, store: Store, options: Options, client: Client | None, environment: Environment | None = None
    ) -> None:
        if client is None:
            raise UsageError("ranking asks a model; give --model NAME, and --base-url for an endpoint of your own")
        self._store, self._options, self._client = store, options, client
        self._config = reward_config(options)
        self._chunks = list(task_chunks(store, options))
        self._single: Ranker = SingleRanker(client, options.room)
        self._agent: Ranker | None = None
        self._opener = environment if isinstance(environment, Opener) else None
        if environment is not None and (self._opener is None or self._opener.error is None):
            from rubrics.ranking.model_ranker import AgentRanker

            self._agent = AgentRanker(client, environment, options.room, at_once=ENVIRONMENTS)

    def chunks(self) -> Iterable[Chunk]:
        return self._chunks

    def work(self, out: Output, chunk: Chunk) -> int:
        plans, counts = self._plans(chunk.items)
        shown: list[Shown] = []
        bouts = [bout for item in plans for _, bout in item.bouts]
        heard = iter(self._client.run_all([self._asked(bout) for bout in bouts]))
        for item in plans:
            said = tuple((showing, next(heard)) for showing, _ in item.bouts)
            counts.update(_write(out, shown, Played(item.group, item.entrants, item.cut, said)))
        for kind, count in sorted(counts.items()):
            if count:
                out.note(_counted(kind, count))
        out.keep("shown", [asdict(item) for item in shown])
        if self._opener is not None:
            ids = [rollout_id for item in plans for entrant in item.entrants for rollout_id in entrant.ids]
            out.keep("entered", self._opener.entered_of(ids))
        return chunk.rollouts

    def _plans(self, task_ids: tuple[str, ...]) -> tuple[list[Planned], Counter[str]]:
        groups, counts = groups_to_rank(self._store, task_ids, self._config, self._options.drop_duplicates)
        tasks = {name: task for name, (task, _) in task_records(self._store, list(task_ids)).items()}
        plans = []
        for group in groups:
            made = planned(self._store, group, tasks.get(group.task_id), self._options.rounds, self._options.seed)
            if isinstance(made, str):
                counts[made] += 1
            else:
                plans.append(made)
        return plans, counts

    def _asked(self, bout: Bout) -> Callable[[], Awaitable[Heard]]:
        ranker = self._agent if self._agent is not None and _can_be_opened(bout.task) else self._single
        return lambda: ranker.rank(bout)

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        tasks = [task_id for chunk in self._chunks for task_id in chunk.items]
        run.carry("rankings", "task_id IN (SELECT unnest($tasks))", tasks=tasks)
        run.carry("audits", "source = $source AND task_id IN (SELECT unnest($tasks))", source=SOURCE, tasks=tasks)
        for line in self._census(done):
            run.note(line)

    def _census(self, done: Sequence[Done]) -> Iterator[CensusLine]:
        if self._opener is not None:
            yield from self._opener.census(self.name, (item.kept["entered"] for item in done))
        for bias in position_bias([Shown(**entry) for item in done for entry in item.kept["shown"]]):
            if bias.position == 0 and bias.points is not None:
                spread = "" if bias.standardized is None else f", {bias.standardized:+.2f} standard deviations"
                detail = f"standing first is worth {bias.points:+.2f} points of W{spread}; see the view position_bias"
                yield CensusLine(self.name, "run", "position_bias", "", detail, bias.entries)


def _write(out: Output, shown: list[Shown], played: Played) -> Counter[str]:
    results = rounds_of(played)
    findings = list(finding_rows(played))
    out.append("rankings", ranking_rows(played, results))
    out.append("audits", findings)
    shown += shown_entries(played, results)
    counts = Counter(f"round_{result.failure_class or 'usable'}" for result in results)
    counts["group_ranked"] = 1
    counts["duplicate_shared"] = sum(len(item.ids) - 1 for item in played.entrants)
    counts["hack_suspected"] = len(findings)
    return counts


def _counted(kind: str, count: int) -> CensusLine:
    subject: Subject = "rollout" if kind in ("duplicate_shared", "hack_suspected") else "run"
    detail = DETAILS.get(kind, "rounds that do not count: no usable answer; a rerun asks again")
    return CensusLine(Rank.name, subject, kind, "", detail, count)


def _can_be_opened(task: Task) -> bool:
    return any((task.image, task.recipe, task.repository))
