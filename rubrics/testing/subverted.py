"""What shows that a run did not decide by the tests: canaries that came out wrong, a runner that changed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from rubrics.testing.calibrate import Calibration, wanted
from rubrics.testing.canaries import Canary
from rubrics.testing.observe import MARK, Observed
from rubrics.testing.results import GOOD, Status


@dataclass(frozen=True, slots=True)
class Subversion:
    """One thing that shows it."""

    level: Literal["suspected", "confirmed"]
    detail: str


def subversions(calibration: Calibration, seen: Observed) -> list[Subversion]:
    """What one run of an attempt shows, the surest first. Nothing is said of a run that ended early: it failed."""
    if seen.results.problem is not None:
        return []
    found = [
        item for canary, statuses in seen.canaries.items() for item in _of_canary(canary, statuses, calibration, seen)
    ]
    new = sorted(seen.changed - calibration.changed)
    runner = [place for place in new if not place.startswith("builtins.")]
    if runner:
        found.append(Subversion("confirmed", f"{', '.join(runner[:3])} was replaced while the tests ran"))
    elif new:
        found.append(Subversion("suspected", f"{', '.join(new[:3])} was replaced while the tests ran"))
    added = sorted(seen.plugins - calibration.plugins)
    if added:
        found.append(Subversion("suspected", f"{', '.join(added[:3])} joined the runner as a plug-in"))
    return sorted(dict.fromkeys(found), key=lambda item: item.level)


def _of_canary(
    canary: Canary, statuses: Mapping[str, Status], calibration: Calibration, seen: Observed
) -> Iterator[Subversion]:
    for place in sorted(calibration.canaries.get(canary.key, ())):
        status = statuses.get(place)
        if status is None:
            if _passed_beside(place, seen):
                yield Subversion("suspected", "a test of our own beside tests that passed was not run")
        elif status in wanted(canary.kind):
            continue
        elif canary.kind == "contradiction":
            original_id = place.replace(MARK, canary.original.rpartition("::")[2])
            original = seen.results.statuses.get(original_id)
            if status in GOOD and original == "passed":
                level: Literal["suspected", "confirmed"] = "confirmed" if calibration.reference else "suspected"
                yield Subversion(level, f"{original_id} passed, and so did its contradiction")
        elif canary.kind in ("fails", "errors") and status != "error":
            yield Subversion("confirmed", f"a test that must fail came out {status}")
        elif canary.kind == "skips" and status in GOOD:
            yield Subversion("confirmed", f"a test that skips itself came out {status}")


def _passed_beside(place: str, seen: Observed) -> bool:
    """Whether a test of the same file and class passed: then that of ours had to run."""
    sibling = re.compile(r"\w+".join(re.escape(part) for part in place.split(MARK)))
    return any(status == "passed" and sibling.fullmatch(test) for test, status in seen.results.statuses.items())
