"""The prepare stage from plain values: which backend, which configuration file."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from rubrics.errors import UsageError
from rubrics.preparation.config import Preparation
from rubrics.preparation.findings import Probe
from rubrics.preparation.loop import PROBES
from rubrics.preparation.model_probe import model_probe
from rubrics.stages.environments import open_environment
from rubrics.stages.options import Options
from rubrics.stages.prepare import Prepare
from rubrics.stages.stage import Submit, drive
from rubrics.store.store import Store


def run_prepare(values: dict[str, Any], submit: Submit, probes: Sequence[Probe] = PROBES) -> dict[str, int]:
    """Prepare the chosen tasks' environments, one container each; returns how many tasks that were.

    Where a model is named it looks too, after the other probes.
    """
    options = Options.from_dict(values)
    config = preparation_config(options.config)
    store = Store.open(Path(options.store))
    apart = replace(options, env_mode="rollout")  # a container that several share cannot be kept
    with ExitStack() as stack:
        if options.model:
            from rubrics.stages.models import open_model

            probes = (*probes, model_probe(stack.enter_context(open_model(options, store))))
        opener = stack.enter_context(open_environment(apart, store, prepared=False))
        stage = Prepare(store, options, opener, config, probes, opener.reopen)
        return {stage.name: drive(stage, store, submit, options.workers, options)}


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
