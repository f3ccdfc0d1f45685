"""What tests of the agent judge share: scripted graders that work with tools, and the judge over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.agent_helpers import calls
from environments.environment_helpers import small_task
from judging.attacks import Attack
from judging.carriers import innocent
from judging.graders import RUBRICS, TASK, Grader, sound
from model_server.server import ModelServer, Said, Script, serving

from rubrics.agents.loop import Bounds
from rubrics.environments.session import Session
from rubrics.judges.model_agent import AgentJudge
from rubrics.models.client import Client, open_client
from rubrics.models.settings import ModelSettings
from rubrics.records.judgements import Case, Judgement
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task

LOOKS = (
    ("show_transcript", {"first_turn": 0, "last_turn": 99}),
    ("show_patch", {}),
    ("run_command", {"command": "sed -n 9,12p src/sizes.py"}),
)


def seen(body: dict[str, Any]) -> str:
    """All that the model was shown of the case, with the answers of its tools."""
    return "\n".join(m["content"] for m in body["messages"] if m["role"] in ("user", "tool"))


def turns_of(body: dict[str, Any]) -> int:
    """Turns that the model has made so far."""
    return sum(message["role"] == "assistant" for message in body["messages"])


def working(grader: Grader, attack: Callable[[str], Attack | None] = lambda opening: None) -> Script:
    """Looks at everything in one turn, then submits what the grader says of all that it saw."""

    def script(body: dict[str, Any]) -> Said:
        if turns_of(body) == 0:
            return calls(*LOOKS)
        said = grader(seen(body), attack(body["messages"][1]["content"]))
        return calls(("submit_verdicts", said))

    return script


def verdicts(body: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What a sound grader submits, with some criteria said otherwise."""
    said = sound(seen(body), None)
    for name, change in more.items():
        said["verdicts"][name.replace("_", "-")].update(change)
    return said


def case_at(repository: Path, repeat: int = 0, **more: Any) -> Case:
    """The innocent rollout, in an environment made from the repository; `more` are fields of the rollout."""
    task = small_task(repository)
    named = replace(TASK, repository=task.repository, recipe=task.recipe)
    return Case(named, replace(innocent(named), **more), RUBRICS, "PASSED tests/test_sizes.py::test_size", repeat)


@dataclass
class Judging:
    server: ModelServer
    client: Client
    opener: Callable[[Task, Rollout], Session]
    opened: int = 0

    def judge(self, *cases: Case, bounds: Bounds | None = None) -> list[Judgement]:
        judge = AgentJudge(self.client, self._open, bounds)
        return self.client.run_all([lambda case=case: judge.judge(case) for case in cases])  # type: ignore[misc]

    def _open(self, task: Task, rollout: Rollout) -> Session:
        self.opened += 1
        return self.opener(task, rollout)

    def answers(self) -> list[str]:
        """What the tools answered, as the last request holds it."""
        return [m["content"] for m in self.server.requests[-1]["messages"] if m["role"] == "tool"]


@contextmanager
def judging(script: Script, opener: Callable[[Task, Rollout], Session], cache: Path | None = None) -> Iterator[Judging]:
    """The agent judge over HTTP through the real client, without streaming."""
    with ExitStack() as stack:
        server = stack.enter_context(serving(script))
        settings = ModelSettings("scripted", base_url=server.url, asks=1, attempts=1)
        yield Judging(server, stack.enter_context(open_client(settings, cache)), opener)
