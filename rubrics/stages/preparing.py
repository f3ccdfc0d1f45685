"""The prepare stage from plain values: which backend, which configuration file."""

from __future__ import annotations

import logging
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

from rubrics.environments.choose import choose
from rubrics.environments.recipes import Places
from rubrics.environments.session import Environment, Limits, Session
from rubrics.errors import InfraError, UsageError
from rubrics.preparation.config import Preparation
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task
from rubrics.stages.options import Options
from rubrics.stages.prepare import Prepare
from rubrics.stages.stage import Submit, drive
from rubrics.store.store import Store

log = logging.getLogger("rubrics")


def run_prepare(values: dict[str, Any], submit: Submit) -> dict[str, int]:
    """Prepare the chosen tasks' environments, one container each; returns how many tasks that were."""
    options = Options.from_dict(values)
    config = preparation_config(options.config)
    store = Store.open(Path(options.store))
    places = Places(tuple(Path(folder) for folder in options.data))
    environment = _environment(options, places)
    with closing(environment):
        stage = Prepare(store, options, environment, config)
        return {stage.name: drive(stage, store, submit, options.workers)}


def _environment(options: Options, places: Places) -> Environment:
    try:
        found, said = choose(options.env, places, Limits(), trusted=options.trusted)
    except InfraError as error:
        log.warning("environment: none; no task can be prepared: %s", error)
        return _Missing(error)
    log.info("environment: %s", said)
    return found


class _Missing:
    """No backend: what keeps it from starting is the result of every task."""

    name = "docker"

    def __init__(self, error: InfraError) -> None:
        self._error = error

    def open(self, task: Task, rollout: Rollout | None) -> Session:
        raise InfraError(self._error.kind, str(self._error))

    def close(self) -> None:
        """Nothing was opened."""


def preparation_config(file: str | None) -> Preparation:
    """The table `preparation` of a TOML file; the defaults without one."""
    if file is None:
        return Preparation()
    try:
        values = tomllib.loads(Path(file).read_text("utf-8")).get("preparation", {})
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}; name a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: no TOML: {error}") from None
    return Preparation.from_dict(values)
