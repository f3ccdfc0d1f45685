"""What a person asked for, checked once, in one frozen record that every stage reads."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from rubrics.errors import UsageError
from rubrics.records.rubrics import KINDS

GROUPINGS = ("task", "task,policy")
JUDGES = ("builtin", "single", "agent")
AUTHORS = ("builtin", "model")
_SECRET = re.compile(r"(?i)api.?key|secret|password|authorization|bearer|credential|access.?token")
ANSWER = 8_000
"""Tokens left free for an answer whose length is not bounded."""
RANK_MODES = ("single", "agent")


def _odd(path: Path) -> str:
    """What stands there in the place of a file or a folder; empty: nothing does. Reading from it might never end."""
    if path.is_fifo():
        return "a pipe"
    if path.is_socket():
        return "a socket"
    return "a device" if path.is_block_device() or path.is_char_device() else ""


@dataclass(frozen=True, slots=True)
class Options:
    """Plain values only, so that a flow run can record them."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {"use_attribute_docstrings": True, "extra": "forbid"}
    """How Prefect reads parameters of this type: what is said of a field is its description, unknown names are
    refused."""
    store: str
    dumps: tuple[str, ...] = ()
    study_from: tuple[str, ...] = ()
    """Dumps that are studied and not scored; empty: the attempts in the store are studied."""
    group_by: str = "task"
    trust_recorded: bool = False
    """What a row of a dump says was measured of its own attempt (`resolved`, `target`, `reward`) counts as an
    outcome."""
    tasks: str = "*"
    """Glob over task ids: what it does not match is left alone."""
    limit: int | None = None
    """At most so many tasks, in the order of their ids."""
    study: int = 4
    """Attempts to study per task."""
    seed: int = 0
    factors: tuple[str, ...] | None = None
    """Scores that the reward multiplies; null: those of the configuration."""
    config: str | None = None
    """TOML file of the reward configuration; null: the defaults."""
    drop_duplicates: bool = False
    resynthesize: bool = False
    """Write rubrics anew where the store has some."""
    env: str = "auto"
    """Backend of environments: auto, docker, bubblewrap or bare."""
    env_mode: str = "rollout"
    """Docker: a container per rollout, or per image."""
    trusted: bool = False
    """The rollouts may do what this user may do; a bare process needs it."""
    data: tuple[str, ...] = ()
    """Folders that relative paths of tasks (repository, image archives) start from."""
    timeout: float = 1800.0
    """Seconds that one run of a task's tests may take."""
    repeat: int = 1
    """Runs of the tests per rollout."""
    with_tests: bool = False
    """Before anything is scored, run the tests of every rollout that no run has tested."""
    from_logs: tuple[str, ...] = ()
    """Dumps whose stored logs are read instead of running anything."""
    model: str | None = None
    """Model that writes, judges, ranks, audits or probes; null: none is asked."""
    base_url: str | None = None
    """Address of an OpenAI-compatible endpoint; null: the provider that the model's name says."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key."""
    author: str = "builtin"
    judge: str | None = None
    """Who judges: builtin, single or agent; null: builtin, or single when a model is named. For `reward`, a name as the
    table `grades` has it; null: the one that scored last."""
    repeats: int = 1
    """Verdicts per rollout and criterion; their median counts."""
    passes_only: bool = False
    """Judge only rollouts whose tests passed: the others' reward is 0 whatever a judge says."""
    rank_mode: str = "agent"
    rounds: int = 3
    """Rankings per group, each in an order of its own."""
    temperature: float | None = 0.0
    """Null: not sent, for models that refuse it."""
    top_p: float | None = None
    sampling_seed: int | None = None
    max_tokens: int | None = None
    """Tokens of one answer; null: what the endpoint allows."""
    context: int = 128_000
    """Tokens that fit into the model, prompt and answer together."""
    answers_as: tuple[str, ...] = ()
    """Further names under which the model may answer."""
    extra: tuple[str, ...] = ()
    """Further fields of every request, each as NAME=JSON."""
    stream: bool = False
    concurrency: int = 32
    """Requests in flight at once."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    request_timeout: float = 600.0
    """Seconds that one request may take."""
    max_cost: float | None = None
    """US dollars that this store's model calls may cost in all, earlier runs included."""
    price: tuple[float, ...] = ()
    """Dollars per million tokens: input, output, and cached input where it differs; empty: from the price list."""
    workers: int = 2
    chunk: int = 200
    """Rollouts per chunk of work."""

    def __post_init__(self) -> None:
        if self.group_by not in GROUPINGS:
            raise UsageError(f"--group-by {self.group_by!r}; wanted one of {', '.join(GROUPINGS)}")
        for name, value in (
            ("--study", self.study),
            ("--workers", self.workers),
            ("--limit", self.limit),
            ("--repeat", self.repeat),
            ("--repeats", self.repeats),
            ("--rounds", self.rounds),
            ("--concurrency", self.concurrency),
        ):
            if value is not None and value < 1:
                raise UsageError(f"{name} {value}; wanted a whole number of at least 1")
        for field in self.extra:
            if _SECRET.search(field.partition("=")[0]):
                raise UsageError("--extra names a key or secret, which would be stored; use --api-key-env VAR")
        if self.author == "model" and not self.model:
            raise UsageError("--author model asks a model; give --model NAME")
        if self.room < 1:
            raise UsageError(
                f"--context {self.context}: the answer alone may take {self.context - self.room}; raise it"
            )
        factors = self.factors or ()
        if set(factors) - set(KINDS) or len(set(factors)) != len(factors):
            raise UsageError(f"--factors {','.join(factors)!r}; wanted some of {', '.join(KINDS)}, each once")
        if self.config is not None and not Path(self.config).is_file():
            found = _odd(Path(self.config)) or ("a folder" if Path(self.config).is_dir() else "no such file")
            raise UsageError(f"--config {self.config}: {found}; name a TOML file of the reward configuration")
        if self.env == "bare" and not self.trusted:
            raise UsageError("--env bare isolates nothing: add --trusted when every rollout may do what you may do")
        if not self.timeout > 0:
            raise UsageError(f"--timeout {self.timeout:g}; wanted seconds above 0")
        for dump in (*self.dumps, *self.study_from, *self.from_logs):
            if odd := _odd(Path(dump)):
                raise UsageError(
                    f"{dump}: {odd}; name a file or a folder: write what comes from there into a file first"
                )
            if not Path(dump).exists():
                raise UsageError(f"{dump}: no such file or folder; name a dump of rollouts")

    @property
    def room(self) -> int:
        """Tokens that a prompt may take: what the answer may take is left free."""
        return self.context - (self.max_tokens or ANSWER)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Options:
        """The options that a dictionary names; lists become tuples, unknown names are left out."""
        names = {item.name for item in fields(cls)}
        known: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items() if name in names
        }
        return cls(**known)


def judge_kind(options: Options) -> str:
    """Who judges: as asked for, else `single` when a model is named, else `builtin`. Raises `UsageError`."""
    kind = options.judge or ("single" if options.model else "builtin")
    if kind not in JUDGES:
        raise UsageError(f"--judge {kind!r}; wanted one of {', '.join(JUDGES)}")
    if kind != "builtin" and not options.model:
        raise UsageError(f"--judge {kind} asks a model; give --model NAME")
    return kind


def asking_judge(options: Options) -> str:
    """The same, where it has to be one that asks a model. Raises `UsageError`."""
    kind = judge_kind(options)
    if kind == "builtin":
        raise UsageError("the builtin judge asks nobody and costs nothing; give --model NAME")
    return kind
