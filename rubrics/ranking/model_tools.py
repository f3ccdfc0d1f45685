"""The workspace of a bout: the repository at base with every patch beside it, and each attempt's own environment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rubrics.agents.arguments import Arguments, tool
from rubrics.agents.loop import Handled, ToolRefusal
from rubrics.agents.tools import Looks, ShownAttempt, attempt_tools, environment_tools
from rubrics.environments.session import Environment, Session
from rubrics.errors import AttemptError, InfraError
from rubrics.ranking.bouts import Bout, Candidate
from rubrics.ranking.model_prompt import FOLDER
from rubrics.records.judgements import Ran

OPEN = 3
"""Attempts' environments that are kept open at once; the one not used for longest goes first."""
_NOT_OPENED = frozenset({"no_rung", "no_patch", "no_image", "patch_damaged"})
"""Kinds of `InfraError` that are about one attempt and not about the engine."""

RUN = tool(
    "run_in_attempt",
    "Run a shell command in an attempt's own environment: the repository with its change. There is no network. What a "
    f"command leaves behind stays until {OPEN} other attempts' environments were used. Numbered like run_command.",
    {"attempt": "Label of the attempt.", "command": "Shell command."},
)


class Workspace:
    """Opens the task's start at once and attempts when they are asked for; for one conversation.

    What an attempt's code does happens in its own environment, out of reach of the others. Raises `InfraError` where
    the task's start cannot be opened.
    """

    def __init__(self, environment: Environment, bout: Bout) -> None:
        self._environment = environment
        self._bout = bout
        self._known = {item.label: item for item in bout.everyone}
        self._open: dict[str, Session] = {}
        self.looks = Looks()
        self.base = environment.open(bout.task, None)
        try:
            for item in bout.everyone:
                if item.rollout.patch is not None:
                    text = item.rollout.patch.encode("utf-8", "surrogateescape")
                    self.base.write(f"{FOLDER}/{item.label}.diff", text)
        except BaseException:
            self.base.close()
            raise

    def tools(self, until: float = math.inf) -> tuple[Handled, ...]:
        """Everything that the model may use until that time of the monotonic clock."""
        shown = {
            item.label: ShownAttempt(item.rollout.patch, item.rollout.turns, item.tests) for item in self._bout.everyone
        }
        return (
            *environment_tools(self.base, self.looks, until),
            Handled(RUN, lambda values: self._run(values, until)),
            *attempt_tools(shown),
        )

    def _run(self, values: Mapping[str, Any], until: float) -> str:
        arguments = Arguments(RUN, values)
        item, command = self._named(arguments), arguments.text("command")
        try:
            session = self._session(item)
        except (InfraError, AttemptError) as error:
            if isinstance(error, InfraError) and error.kind not in _NOT_OPENED:
                raise
            return f"The environment of {item.label} cannot be rebuilt ({error.kind}); look at its patch."
        run = environment_tools(session, self.looks, until)[0]
        said = run.handle({"command": command})
        done = self.looks.ran[-1]
        self.looks.ran[-1] = Ran(f"in {item.label}: {done.command}", done.output)
        return said

    def _session(self, item: Candidate) -> Session:
        session = self._open.pop(item.label, None)
        if session is None:
            while len(self._open) >= OPEN:
                self._open.pop(next(iter(self._open))).close()
            session = self._environment.open(self._bout.task, item.rollout)
        self._open[item.label] = session
        return session

    def _named(self, arguments: Arguments) -> Candidate:
        label = arguments.text("attempt").strip()
        if label not in self._known:
            raise ToolRefusal(f"there is no attempt {label!r:.80}; there are {', '.join(self._known)}")
        return self._known[label]

    def close(self) -> None:
        """Close every environment. May be called twice."""
        while self._open:
            self._open.popitem()[1].close()
        self.base.close()
