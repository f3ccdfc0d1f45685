"""The schema of every table, in one place: columns and what they may hold, keys, order, size of row groups."""

from __future__ import annotations

from rubrics.contrasts.vocabulary import CONTRASTS
from rubrics.facts.vocabulary import FACTS
from rubrics.records.rubrics import KINDS
from rubrics.rewards import hacks, product, ranking, routing
from rubrics.store.columns import (
    BOOL,
    COUNT,
    FLOAT,
    INT,
    LEVEL,
    PASSED,
    POSITIVE,
    SHARE,
    TEXT,
    TEXTS,
    Column,
    Table,
    of_fact,
    word,
)
from rubrics.vocabulary import Fact

FORMAT_MAJOR = 2
"""Raised when a reader of the old format could misread the new one. 2: group ids are unique over all tasks; parts are
named after their bytes."""

WIDE_ROW_GROUP = 128


def _columns(**kinds: Column) -> dict[str, Column]:
    return kinds


def _facts(facts: tuple[Fact, ...]) -> dict[str, Column]:
    return {fact.name: of_fact(fact) for fact in facts}


KIND = word(*KINDS)
OUTCOME = word(*product.OUTCOMES)
STATUS = word(*product.STATUSES)
HACK = word(*hacks.HACKS)
ROUTE = word(*routing.ROUTES)
RANKING = word(*ranking.RANKINGS)

TASKS = Table(
    "tasks",
    _columns(
        task_id=TEXT, repo=TEXT, base_commit=TEXT, spec=TEXT, repository=TEXT, image=TEXT, recipe=TEXT, workdir=TEXT,
        test_command=TEXT, test_report=TEXT, fail_to_pass=TEXTS, pass_to_pass=TEXTS, source=TEXT,
    ),
    key=("task_id",),
    order=("task_id",),
    made_by="rubrics ingest DUMP...",
)  # fmt: skip

SEALED = Table(
    "sealed",
    _columns(task_id=TEXT, test_patch=TEXT, reference_patch=TEXT, hints=TEXT),
    key=("task_id",),
    order=("task_id",),
    has_view=False,
    made_by="rubrics ingest DUMP...",
)

ROLLOUTS = Table(
    "rollouts",
    _columns(
        rollout_id=TEXT, source_id=TEXT, content_digest=TEXT, transcript_digest=TEXT, task_id=TEXT, group_id=TEXT,
        source_group=TEXT, policy=TEXT, policy_step=INT, run=TEXT, attempt=INT, harness=TEXT, patch=TEXT,
        exit_status=TEXT, n_turns=COUNT, input_tokens=COUNT, output_tokens=COUNT, snapshot=TEXT, duplicate_of=TEXT,
        source=TEXT, extra=TEXT,
    ),
    key=("rollout_id",),
    order=("task_id", "rollout_id"),
    row_group=5_000,
    made_by="rubrics ingest DUMP...",
)  # fmt: skip

TRANSCRIPTS = Table(
    "transcripts",
    _columns(transcript_digest=TEXT, task_id=TEXT, n_turns=COUNT, turns=TEXT),
    key=("transcript_digest", "task_id"),
    order=("task_id", "transcript_digest"),
    row_group=WIDE_ROW_GROUP,
    made_by="rubrics ingest DUMP...",
)

ENVIRONMENTS = Table(
    "environments",
    _columns(
        task_id=TEXT, image=TEXT, backend=TEXT, rung=TEXT, clean=BOOL, rounds=COUNT, findings=COUNT, open=COUNT,
        proof=TEXT, probes=TEXT, probe_model=TEXT, probe_result=TEXT, notes=TEXTS, failure_class=TEXT, detail=TEXT,
        config=TEXT, code_version=TEXT,
    ),
    key=("task_id",),
    order=("task_id",),
    made_by="rubrics prepare",
)  # fmt: skip
"""What preparing a task's environment found and proved. `clean` null: it could not be prepared (`failure_class`).
`probe_model` (null: none was asked) is the probe that a model drives, `probe_result` what became of its last look:
found_nothing, found or unfinished_<class>, null when the others never came to an end; `clean` speaks for it only with
found_nothing."""

OUTCOMES = Table(
    "outcomes",
    _columns(
        rollout_id=TEXT, task_id=TEXT, source=TEXT, outcome=OUTCOME, detail=TEXT, tests=TEXT, log_digest=TEXT,
        rung=TEXT,
    ),
    key=("rollout_id", "source"),
    order=("task_id", "rollout_id", "source"),
    made_by="rubrics ingest DUMP...",
)  # fmt: skip

FACTS_TABLE = Table(
    "facts",
    {"rollout_id": TEXT, "task_id": TEXT, **_facts(FACTS)},
    key=("rollout_id",),
    order=("task_id", "rollout_id"),
    row_group=5_000,
    made_by="rubrics facts",
)

CONTRASTS_TABLE = Table(
    "contrasts",
    {"rollout_id": TEXT, "task_id": TEXT, "study_digest": TEXT, **_facts(CONTRASTS)},
    key=("rollout_id", "study_digest"),
    order=("task_id", "rollout_id"),
    made_by="rubrics synthesize",
)

STUDIES = Table(
    "studies",
    {"study_digest": TEXT, "rollout_id": TEXT, "task_id": TEXT, "passed": BOOL, **_facts(FACTS)},
    key=("study_digest", "rollout_id"),
    order=("task_id", "rollout_id"),
    row_group=5_000,
    made_by="rubrics synthesize",
)
"""The studied attempts as they were measured: today's dump is compared with last week's study."""

RUBRICS = Table(
    "rubrics",
    _columns(
        rubric_digest=TEXT, task_id=TEXT, kind=KIND, author=TEXT, studied=TEXTS, study_digest=TEXT, n_criteria=COUNT,
        content=TEXT, note=TEXT, prompt_digest=TEXT, code_version=TEXT,
    ),
    key=("rubric_digest",),
    order=("task_id", "kind"),
    made_by="rubrics synthesize",
)  # fmt: skip

GRADES = Table(
    "grades",
    _columns(
        rollout_id=TEXT, task_id=TEXT, kind=KIND, rubric_digest=TEXT, criterion_id=TEXT, weight=POSITIVE, gate=BOOL,
        judge=TEXT, repeat=COUNT, level=TEXT, value=SHARE, failure_class=TEXT, reason=TEXT, evidence=TEXT,
        judge_model=TEXT, prompt_digest=TEXT, code_version=TEXT,
    ),
    key=("rollout_id", "rubric_digest", "criterion_id", "judge", "repeat"),
    order=("task_id", "rollout_id", "kind", "criterion_id"),
    made_by="rubrics score",
)  # fmt: skip

SCORED = Table(
    "scored",
    _columns(task_id=TEXT, judge=TEXT, inputs=TEXT),
    key=("task_id", "judge"),
    order=("task_id", "judge"),
    made_by="rubrics score",
)
"""Tasks whose grades by a judge, or audits by auditors (`rules`, `rules+judge:<model>`), are complete, with a digest of
what they rest on: as long as that is the same, the task is not scored or audited again."""

CHOSEN = Table(
    "chosen",
    _columns(what=TEXT, value=TEXT),
    key=("what",),
    order=("what",),
    made_by="rubrics score",
)
"""What commands chose last and later ones go by: `judge`, the judge that scored last."""

JUDGEMENTS = Table(
    "judgements",
    _columns(
        rollout_id=TEXT, task_id=TEXT, judge=TEXT, repeat=COUNT, failure_class=TEXT, detail=TEXT, judge_model=TEXT,
        sampling=TEXT, prompt_digest=TEXT, parts=TEXTS, rung=TEXT, commands=TEXTS, calls=COUNT, prompt_tokens=COUNT,
        cached_tokens=COUNT, completion_tokens=COUNT, cost=POSITIVE, seconds=POSITIVE, from_cache=BOOL,
        code_version=TEXT,
    ),
    key=("rollout_id", "judge", "repeat"),
    order=("task_id", "rollout_id", "judge", "repeat"),
    made_by="rubrics score",
)  # fmt: skip
"""One row per rollout that a model was asked about, judge and repeat: what it cost, and why it came to nothing where it
did. `calls` 0: nothing was sent. Tokens leave out answers that could not be used (the cache's account has them); `cost`
(US dollars) null: the price is not known."""

AUDITS = Table(
    "audits",
    _columns(
        rollout_id=TEXT, task_id=TEXT, source=TEXT, kind=TEXT, verdict=HACK, evidence=TEXT, failure_class=TEXT,
        reason=TEXT, about=TEXTS, prompt_digest=TEXT, code_version=TEXT,
    ),
    key=("rollout_id", "source", "kind"),
    order=("task_id", "rollout_id", "source", "kind"),
    made_by="rubrics audit",
)  # fmt: skip
"""What an audit found: `verdict` is none, suspected or confirmed; a finding without evidence is ignored. `source` is
`rules`, `run:<k>` (a run of the tests), `judge:<model>` (an audit judge), `guard:<judge>` (the guard question of a
score's judge) or a ranking; `kind` the pattern. A rollout that was audited and is clean has a row of kind `none`. Of an
audit judge, verdict none rejects the suspicions that `about` names: md5 of their source, evidence and reason, joined by
line ends."""

RANKINGS = Table(
    "rankings",
    _columns(
        task_id=TEXT, group_id=TEXT, rollout_id=TEXT, round=COUNT, slice=COUNT, position=COUNT, label=TEXT,
        approach=LEVEL, precision=LEVEL, minimality=LEVEL, side_effects=LEVEL, craftsmanship=LEVEL,
        unrequested_rewrite=BOOL, test_workaround=BOOL, severe_process_issue=BOOL, unresolved_regression=BOOL,
        no_difference=BOOL, anchor_gap=COUNT, usable=BOOL, failure_class=TEXT, detail=TEXT, evidence=TEXT, judge=TEXT,
        judge_model=TEXT, prompt_digest=TEXT, rung=TEXT, code_version=TEXT,
    ),
    key=("rollout_id", "round"),
    order=("task_id", "group_id", "round", "rollout_id"),
    made_by="rubrics rank",
)  # fmt: skip
"""One row per ranked pass and round: five checks from 1 to 5 (null: not answered) and four flags, which are true only
where `evidence` (JSON: `reason`, `checks`, and each flag) holds something. `position` null: its marks come from several
showings; `anchor_gap`: points of W by which the round's slices disagree on their anchors, null where there is one."""

REWARDS = Table(
    "rewards",
    _columns(
        task_id=TEXT, group_id=TEXT, rollout_id=TEXT, source_group=TEXT, source_id=TEXT, run=TEXT, attempt=INT,
        policy=TEXT, policy_step=INT, status=STATUS, failure_class=TEXT, studied=BOOL, test=PASSED, solution=SHARE,
        behavior=SHARE, hack=HACK, route=ROUTE, reward_raw=FLOAT, length_penalty=FLOAT, length_floored=BOOL,
        reward=FLOAT, group_size=COUNT, group_valid=COUNT, group_mean=FLOAT, kept=BOOL, drop_reason=TEXT,
        advantage_base=FLOAT,
        ranking=RANKING, tier=COUNT, rank=COUNT, quality_factor=FLOAT, scale_uncapped=FLOAT, scale=FLOAT, capped=BOOL,
        mass_before=FLOAT, mass_after=FLOAT, within_noise=BOOL, advantage=FLOAT, reward_star=FLOAT,
        transcript_digest=TEXT, solution_rubric=TEXT, behavior_rubric=TEXT, judge=TEXT, rung=TEXT, config_digest=TEXT,
        engine_version=TEXT,
    ),
    key=("rollout_id",),
    order=("task_id", "group_id", "rollout_id"),
    made_by="rubrics reward",
)  # fmt: skip

REWARD_CONFIGS = Table(
    "reward_configs",
    _columns(config_digest=TEXT, engine_version=TEXT, content=TEXT),
    key=("config_digest",),
    order=("config_digest",),
    made_by="rubrics reward",
)
"""The resolved configuration, as JSON, that the `config_digest` of reward rows stands for."""

TOKEN_WEIGHTS = Table(
    "token_weights",
    _columns(
        task_id=TEXT, rollout_id=TEXT, turn=COUNT, kind=TEXT, multiplier=POSITIVE, tokens=COUNT, config_digest=TEXT,
        engine_version=TEXT,
    ),
    key=("rollout_id", "turn"),
    order=("task_id", "rollout_id", "turn"),
    made_by="rubrics reward",
)  # fmt: skip
"""Multipliers of the advantage: a row with a turn holds for that turn, one without for all other turns of the rollout;
what has no row has multiplier 1."""

TOKEN_BATCHES = Table(
    "token_batches",
    _columns(
        policy=TEXT, policy_step=INT, rollouts=COUNT, without_counts=COUNT, alpha=FLOAT, beta=FLOAT,
        alpha_clamped=BOOL, beta_clamped=BOOL, positive_unclean=BOOL, negative_unclean=BOOL, mass_positive=POSITIVE,
        mass_positive_after=POSITIVE, mass_negative=POSITIVE, mass_negative_after=POSITIVE, config_digest=TEXT,
        engine_version=TEXT,
    ),
    key=("policy", "policy_step"),
    order=("policy", "policy_step"),
    made_by="rubrics reward",
)  # fmt: skip
"""The coefficients of each batch, the mass (sum of tokens times |advantage|) of each sign before and after, and why the
two differ where they do."""

CENSUS = Table(
    "census",
    _columns(stage=TEXT, subject=TEXT, kind=TEXT, place=TEXT, detail=TEXT, count=COUNT),
    key=("stage", "subject", "kind", "place", "detail"),
    order=("stage", "subject", "kind", "place"),
    made_by="any stage",
)
"""What was left out, merged, overruled or doubted, and why: `subject` is file, row, rollout, task, outcome or run."""

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        TASKS, SEALED, ROLLOUTS, TRANSCRIPTS, ENVIRONMENTS, OUTCOMES, FACTS_TABLE, CONTRASTS_TABLE, STUDIES, RUBRICS,
        GRADES, SCORED, CHOSEN, JUDGEMENTS, AUDITS, RANKINGS, REWARDS, REWARD_CONFIGS, TOKEN_WEIGHTS, TOKEN_BATCHES,
        CENSUS,
    )
}  # fmt: skip
