"""Writing an export: checked first, built beside its place, put there in one step."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubrics import __version__
from rubrics.errors import UsageError
from rubrics.exports.arithmetic import ESTIMATORS, objections, read_settings
from rubrics.exports.samples import Extent, extent, groups
from rubrics.exports.target import Limits, Output, Target
from rubrics.store.files import named
from rubrics.store.store import Store

MANIFEST = "export.json"
WARNING = "WARNING.txt"


@dataclass(frozen=True, slots=True)
class Trainer:
    """What the user states of the trainer's configuration."""

    estimator: str | None = None
    """`mean`, `std` or `loo`; null: not stated, taken as mean."""
    clip: tuple[float, float] | None = None
    config: tuple[str, ...] = ()
    """`KEY=VALUE`, or .json and .toml files."""


ANY_TRAINER = Trainer()
DEFAULT_LIMITS = Limits()


def export(
    store: Store,
    target: Target,
    place: Path,
    trainer: Trainer = ANY_TRAINER,
    limits: Limits = DEFAULT_LIMITS,
    force: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write the folder `place`; returns the content of its `export.json`.

    Raises `UsageError` when the trainer as configured would not reproduce the stored advantages (unless forced), when
    nothing is there to export, and when `place` exists (unless overwritten, and then only an earlier export).
    """
    found = extent(store)
    if not found.rows:
        raise UsageError(f"{store.paths.root}: no kept group to export; run `rubrics reward` and see its census")
    reasons = _objections(target, trainer, found)
    if reasons and not force:
        raise UsageError(f"--to {target.name} refused: {'; '.join(reasons)}. --force exports all the same")
    _check_place(place, overwrite)
    notes = _notes(target, trainer, found, reasons)
    place.parent.mkdir(parents=True, exist_ok=True)
    building = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir()
    try:
        with named(place):
            manifest = _build(store, target, Output(building, _flat(notes), limits), notes)
        _put(building, place)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return manifest


def _objections(target: Target, trainer: Trainer, found: Extent) -> list[str]:
    if not target.computes_advantages:
        if trainer != ANY_TRAINER:
            raise UsageError(
                f"--to {target.name}: no advantage is computed from it; leave out --estimator, --clip, --trainer-config"
            )
        return []
    estimator = trainer.estimator or "mean"
    if estimator not in ESTIMATORS:
        raise UsageError(f"--estimator {estimator}; wanted one of {', '.join(ESTIMATORS)}")
    if trainer.clip is not None and not trainer.clip[0] < trainer.clip[1]:
        raise UsageError(f"--clip {trainer.clip[0]:g} {trainer.clip[1]:g}: the first bound is not below the second")
    settings = read_settings(trainer.config, [fact.name for fact in target.facts])
    return objections(target.facts, settings, estimator, trainer.clip, found, target.clips_advantage)


def _check_place(place: Path, overwrite: bool) -> None:
    if not place.exists() and not place.is_symlink():
        return
    if not overwrite:
        raise UsageError(f"--output {place}: exists; name another folder, or give --overwrite")
    if place.is_symlink() or not (place / MANIFEST).is_file():
        raise UsageError(f"--output {place}: is no export ({MANIFEST} is missing), so it is not overwritten")


def _notes(target: Target, trainer: Trainer, found: Extent, reasons: Iterable[str]) -> dict[str, Any]:
    notes: dict[str, Any] = {
        "target": target.name,
        "version": __version__,
        "groups": found.groups,
        "kept_rows": found.rows,
        "config_digests": list(found.config_digests),
    }
    if target.computes_advantages:
        notes["reward"] = "reward_star; less its group's mean it is the stored advantage"
        notes["estimator"] = trainer.estimator or "mean"
        notes["settings"] = dict(target.settings)
    warnings = list(reasons)
    return {**notes, "warning": "; ".join(warnings)} if warnings else notes


def _flat(notes: Mapping[str, Any]) -> dict[str, str]:
    return {key: value if isinstance(value, str) else json.dumps(value, sort_keys=True) for key, value in notes.items()}


def _build(store: Store, target: Target, output: Output, notes: Mapping[str, Any]) -> dict[str, Any]:
    target.write(groups(store), output)
    manifest = {**notes, **dict(sorted(output.counts.items()))}
    if "warning" in notes:
        output.text(WARNING, f"Forced: this export does not fit the stated trainer.\n{notes['warning']}\n")
    output.text(MANIFEST, json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    return manifest


def _put(building: Path, place: Path) -> None:
    """Take the place of what is there: an earlier export is moved aside first, and deleted last; it comes back where
    the new one cannot be put there."""
    if not place.exists():
        os.replace(building, place)
        return
    old = place.with_name(f".{place.name}.{os.getpid()}.old")
    os.replace(place, old)
    try:
        os.replace(building, place)
    except OSError:
        os.replace(old, place)
        raise
    shutil.rmtree(old)
