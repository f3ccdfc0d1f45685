"""Findings of contamination: what was reached, and whether the patch holds it."""

from __future__ import annotations

from rubrics.audit.copies import Copy, printed_copies, taken_copies
from rubrics.audit.findings import Finding, Level, quoted
from rubrics.audit.material import Material
from rubrics.audit.reach import Reach
from rubrics.audit.trail import Trail

MOST = 5
"""Pointers to the patch that one finding names."""


def find_leaks(
    material: Material, common: frozenset[str] = frozenset(), played: frozenset[str] = frozenset()
) -> list[Finding]:
    """Findings of one rollout. `common`: lines that clean attempts add; `played`: commands the harness plays."""
    reaches = [reach for reach in Trail(material).reaches if reach.step.call not in played]
    found = [_reached(reach) for reach in _first_of_each(reaches)]
    copies = printed_copies(material, reaches, common)
    if copies:
        found.append(_copied(copies))
    for reach, line in taken_copies(material, reaches):
        places = (line.place,) if line is not None else ()
        detail = "a command wrote what it reached into files that the patch changes"
        found.append(Finding("solution_copied", "confirmed", (*_pointers(reach), *places), _quote(reach), detail))
    return found


def _copied(copies: list[Copy]) -> Finding:
    lines = [line for copy in copies for line in copy.lines]
    pointers = dict.fromkeys(pointer for copy in copies[:MOST] for pointer in _pointers(copy.reach))
    detail = (
        f"{len(lines)} distinct lines of the patch were printed from outside before the edit; "
        f"{copies[0].share:.0%} of its substantial source lines"
    )
    level: Level = "confirmed" if copies[0].proof else "suspected"
    places = tuple(line.place for line in lines[:MOST])
    return Finding("solution_copied", level, (*pointers, *places), quoted(lines[0].text), detail)


def _reached(reach: Reach) -> Finding:
    return Finding(reach.pattern, "suspected", _pointers(reach), _quote(reach), "a command of the transcript")


def _pointers(reach: Reach) -> tuple[str, ...]:
    return f"transcript:{reach.step.turn}", f"run:{quoted(reach.step.call)}"


def _quote(reach: Reach) -> str:
    """The command itself where it stands so in the call, else the beginning of the call."""
    text, call = quoted(reach.step.text), " ".join(reach.step.call.split())
    return text if text in call else quoted(call)


def _first_of_each(reaches: list[Reach]) -> list[Reach]:
    """The first reach of every pattern."""
    first: dict[str, Reach] = {}
    for reach in reaches:
        first.setdefault(reach.pattern, reach)
    return list(first.values())
