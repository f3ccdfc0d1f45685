"""The targets by name."""

from __future__ import annotations

from rubrics.errors import UsageError
from rubrics.exports import nemo, openrlhf, plain, preferences, prime_rl, reflection, skyrl, slime, trl, verl
from rubrics.exports.target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        trl.TARGET, verl.TARGET, skyrl.TARGET, preferences.TARGET, plain.TARGET, openrlhf.TARGET, nemo.TARGET,
        slime.TARGET, prime_rl.TARGET, reflection.TARGET,
    )
}  # fmt: skip


def target_named(name: str) -> Target:
    """Raises `UsageError` naming the targets there are."""
    try:
        return TARGETS[name]
    except KeyError:
        raise UsageError(f"--to {name}: no such target; wanted one of {', '.join(TARGETS)}") from None
