"""The schema of every table, in one place: columns, keys, order and size of row groups."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from rubrics.contrasts.vocabulary import CONTRASTS
from rubrics.facts.vocabulary import FACTS
from rubrics.vocabulary import Fact

FORMAT_MAJOR = 1
"""Raised when a reader of the old format could misread the new one."""

TEXT = pa.string()
TEXTS = pa.list_(pa.string())
INT = pa.int64()
FLOAT = pa.float64()
BOOL = pa.bool_()

NARROW_ROW_GROUP = 20_000
WIDE_ROW_GROUP = 128


@dataclass(frozen=True, slots=True)
class Table:
    """One table. Rows are unique by `key`; parts are sorted by `order`."""

    name: str
    columns: pa.Schema
    key: tuple[str, ...]
    order: tuple[str, ...]
    row_group: int = NARROW_ROW_GROUP
    has_view: bool = True


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, kind) for name, kind in columns.items()])


def _fact_type(fact: Fact) -> pa.DataType:
    return {"int": INT, "float": FLOAT, "bool": BOOL, "text": TEXT, "list": TEXTS}[fact.type]


def _facts(facts: tuple[Fact, ...]) -> dict[str, pa.DataType]:
    return {fact.name: _fact_type(fact) for fact in facts}


TASKS = Table(
    "tasks",
    _schema(
        task_id=TEXT, repo=TEXT, base_commit=TEXT, spec=TEXT, repository=TEXT, image=TEXT, recipe=TEXT, workdir=TEXT,
        test_command=TEXT, test_report=TEXT, fail_to_pass=TEXTS, pass_to_pass=TEXTS, source=TEXT,
    ),
    key=("task_id",),
    order=("task_id",),
)  # fmt: skip

SEALED = Table(
    "sealed",
    _schema(task_id=TEXT, test_patch=TEXT, reference_patch=TEXT, hints=TEXT),
    key=("task_id",),
    order=("task_id",),
    has_view=False,
)

ROLLOUTS = Table(
    "rollouts",
    _schema(
        rollout_id=TEXT, content_digest=TEXT, transcript_digest=TEXT, task_id=TEXT, group_id=TEXT, policy=TEXT,
        policy_step=INT, run=TEXT, attempt=INT, harness=TEXT, patch=TEXT, exit_status=TEXT, n_turns=INT,
        input_tokens=INT, output_tokens=INT, snapshot=TEXT, duplicate_of=TEXT, source=TEXT, extra=TEXT,
    ),
    key=("rollout_id",),
    order=("task_id", "rollout_id"),
    row_group=5_000,
)  # fmt: skip

TRANSCRIPTS = Table(
    "transcripts",
    _schema(transcript_digest=TEXT, task_id=TEXT, n_turns=INT, turns=TEXT),
    key=("transcript_digest", "task_id"),
    order=("task_id", "transcript_digest"),
    row_group=WIDE_ROW_GROUP,
)

ENVIRONMENTS = Table(
    "environments",
    _schema(
        task_id=TEXT, image=TEXT, backend=TEXT, rung=TEXT, clean=BOOL, rounds=INT, findings=INT, open=INT, proof=TEXT,
        probes=TEXT, probe_model=TEXT, probe_result=TEXT, notes=TEXTS, failure_class=TEXT, detail=TEXT, config=TEXT,
        code_version=TEXT,
    ),
    key=("task_id",),
    order=("task_id",),
)  # fmt: skip
"""What preparing a task's environment found and proved. `clean` null: it could not be prepared (`failure_class`).
`probe_model` (null: none was asked) is the probe that a model drives, `probe_result` what became of its last look:
found_nothing, found or unfinished_<class>, null when the others never came to an end; `clean` speaks for it only with
found_nothing."""

OUTCOMES = Table(
    "outcomes",
    _schema(
        rollout_id=TEXT, task_id=TEXT, source=TEXT, outcome=TEXT, detail=TEXT, tests=TEXT, log_digest=TEXT, rung=TEXT
    ),
    key=("rollout_id", "source"),
    order=("task_id", "rollout_id", "source"),
)

FACTS_TABLE = Table(
    "facts",
    pa.schema([pa.field("rollout_id", TEXT), pa.field("task_id", TEXT), *_schema(**_facts(FACTS))]),
    key=("rollout_id",),
    order=("task_id", "rollout_id"),
    row_group=5_000,
)

CONTRASTS_TABLE = Table(
    "contrasts",
    pa.schema(
        [
            pa.field("rollout_id", TEXT),
            pa.field("task_id", TEXT),
            pa.field("study_digest", TEXT),
            *_schema(**_facts(CONTRASTS)),
        ]
    ),
    key=("rollout_id", "study_digest"),
    order=("task_id", "rollout_id"),
)

STUDIES = Table(
    "studies",
    pa.schema(
        [
            pa.field("study_digest", TEXT),
            pa.field("rollout_id", TEXT),
            pa.field("task_id", TEXT),
            pa.field("passed", BOOL),
            *_schema(**_facts(FACTS)),
        ]
    ),
    key=("study_digest", "rollout_id"),
    order=("task_id", "rollout_id"),
    row_group=5_000,
)
"""The studied attempts as they were measured: today's dump is compared with last week's study."""

RUBRICS = Table(
    "rubrics",
    _schema(
        rubric_digest=TEXT, task_id=TEXT, kind=TEXT, author=TEXT, studied=TEXTS, study_digest=TEXT, n_criteria=INT,
        content=TEXT, note=TEXT, prompt_digest=TEXT, code_version=TEXT,
    ),
    key=("rubric_digest",),
    order=("task_id", "kind"),
)  # fmt: skip

GRADES = Table(
    "grades",
    _schema(
        rollout_id=TEXT, task_id=TEXT, kind=TEXT, rubric_digest=TEXT, criterion_id=TEXT, weight=FLOAT, gate=BOOL,
        judge=TEXT, repeat=INT, level=TEXT, value=FLOAT, failure_class=TEXT, reason=TEXT, evidence=TEXT,
        judge_model=TEXT, prompt_digest=TEXT, code_version=TEXT,
    ),
    key=("rollout_id", "rubric_digest", "criterion_id", "judge", "repeat"),
    order=("task_id", "rollout_id", "kind", "criterion_id"),
)  # fmt: skip

JUDGEMENTS = Table(
    "judgements",
    _schema(
        rollout_id=TEXT, task_id=TEXT, judge=TEXT, repeat=INT, failure_class=TEXT, detail=TEXT, judge_model=TEXT,
        sampling=TEXT, prompt_digest=TEXT, parts=TEXTS, rung=TEXT, commands=TEXTS, calls=INT, prompt_tokens=INT,
        cached_tokens=INT, completion_tokens=INT, cost=FLOAT, seconds=FLOAT, from_cache=BOOL, code_version=TEXT,
    ),
    key=("rollout_id", "judge", "repeat"),
    order=("task_id", "rollout_id", "judge", "repeat"),
)  # fmt: skip
"""One row per rollout that a model was asked about, judge and repeat: what it cost, and why it came to nothing where it
did. `calls` 0: nothing was sent. Tokens leave out answers that could not be used (the cache's account has them); `cost`
(US dollars) null: the price is not known."""

AUDITS = Table(
    "audits",
    _schema(
        rollout_id=TEXT, task_id=TEXT, source=TEXT, kind=TEXT, verdict=TEXT, evidence=TEXT, failure_class=TEXT,
        reason=TEXT, about=TEXTS, prompt_digest=TEXT, code_version=TEXT,
    ),
    key=("rollout_id", "source", "kind"),
    order=("task_id", "rollout_id", "source", "kind"),
)  # fmt: skip
"""What an audit found: `verdict` is none, suspected or confirmed; a finding without evidence is ignored. `source` is
`rules`, `run:<k>` (a run of the tests), `judge:<model>` (an audit judge), `guard:<judge>` (the guard question of a
score's judge) or a ranking; `kind` the pattern. A rollout that was audited and is clean has a row of kind `none`. Of an
audit judge, verdict none rejects the suspicions that `about` names: md5 of their source, evidence and reason, joined by
line ends."""

RANKINGS = Table(
    "rankings",
    _schema(
        task_id=TEXT, group_id=TEXT, rollout_id=TEXT, round=INT, slice=INT, position=INT, label=TEXT, approach=INT,
        precision=INT, minimality=INT, side_effects=INT, craftsmanship=INT, unrequested_rewrite=BOOL,
        test_workaround=BOOL, severe_process_issue=BOOL, unresolved_regression=BOOL, no_difference=BOOL, anchor_gap=INT,
        usable=BOOL, failure_class=TEXT, detail=TEXT, evidence=TEXT, judge=TEXT, judge_model=TEXT, prompt_digest=TEXT,
        rung=TEXT, code_version=TEXT,
    ),
    key=("rollout_id", "round"),
    order=("task_id", "group_id", "round", "rollout_id"),
)  # fmt: skip
"""One row per ranked pass and round: five checks from 1 to 5 (null: not answered) and four flags, which are true only
where `evidence` (JSON: `reason`, `checks`, and each flag) holds something. `position` null: its marks come from several
showings; `anchor_gap`: points of W by which the round's slices disagree on their anchors, null where there is one."""

REWARDS = Table(
    "rewards",
    _schema(
        task_id=TEXT, group_id=TEXT, rollout_id=TEXT, run=TEXT, attempt=INT, policy=TEXT, policy_step=INT, status=TEXT,
        failure_class=TEXT, studied=BOOL, test=FLOAT, solution=FLOAT, behavior=FLOAT, hack=TEXT, route=TEXT,
        reward_raw=FLOAT, length_penalty=FLOAT, length_floored=BOOL, reward=FLOAT, group_size=INT, group_valid=INT,
        group_mean=FLOAT, kept=BOOL, drop_reason=TEXT, advantage_base=FLOAT, ranking=TEXT, tier=INT, rank=INT,
        quality_factor=FLOAT, scale_uncapped=FLOAT, scale=FLOAT, capped=BOOL, mass_before=FLOAT, mass_after=FLOAT,
        within_noise=BOOL, advantage=FLOAT, reward_star=FLOAT, transcript_digest=TEXT, solution_rubric=TEXT,
        behavior_rubric=TEXT, judge=TEXT, rung=TEXT, config_digest=TEXT, engine_version=TEXT,
    ),
    key=("rollout_id",),
    order=("task_id", "group_id", "rollout_id"),
)  # fmt: skip

REWARD_CONFIGS = Table(
    "reward_configs",
    _schema(config_digest=TEXT, engine_version=TEXT, content=TEXT),
    key=("config_digest",),
    order=("config_digest",),
)
"""The resolved configuration, as JSON, that the `config_digest` of reward rows stands for."""

TOKEN_WEIGHTS = Table(
    "token_weights",
    _schema(
        task_id=TEXT, rollout_id=TEXT, turn=INT, kind=TEXT, multiplier=FLOAT, tokens=INT, config_digest=TEXT,
        engine_version=TEXT,
    ),
    key=("rollout_id", "turn"),
    order=("task_id", "rollout_id", "turn"),
)  # fmt: skip
"""Multipliers of the advantage: a row with a turn holds for that turn, one without for all other turns of the rollout;
what has no row has multiplier 1."""

TOKEN_BATCHES = Table(
    "token_batches",
    _schema(
        policy=TEXT, policy_step=INT, rollouts=INT, without_counts=INT, alpha=FLOAT, beta=FLOAT, alpha_clamped=BOOL,
        beta_clamped=BOOL, positive_unclean=BOOL, negative_unclean=BOOL, mass_positive=FLOAT, mass_positive_after=FLOAT,
        mass_negative=FLOAT, mass_negative_after=FLOAT, config_digest=TEXT, engine_version=TEXT,
    ),
    key=("policy", "policy_step"),
    order=("policy", "policy_step"),
)  # fmt: skip
"""The coefficients of each batch, the mass (sum of tokens times |advantage|) of each sign before and after, and why the
two differ where they do."""

CENSUS = Table(
    "census",
    _schema(stage=TEXT, subject=TEXT, kind=TEXT, place=TEXT, detail=TEXT, count=INT),
    key=("stage", "subject", "kind", "place", "detail"),
    order=("stage", "subject", "kind", "place"),
)
"""What was left out, merged, overruled or doubted, and why: `subject` is file, row, rollout, task, outcome or run."""

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        TASKS, SEALED, ROLLOUTS, TRANSCRIPTS, ENVIRONMENTS, OUTCOMES, FACTS_TABLE, CONTRASTS_TABLE, STUDIES, RUBRICS,
        GRADES, JUDGEMENTS, AUDITS, RANKINGS, REWARDS, REWARD_CONFIGS, TOKEN_WEIGHTS, TOKEN_BATCHES, CENSUS,
    )
}  # fmt: skip
