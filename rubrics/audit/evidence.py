"""Checks that what a finding points to is there, and that its quote stands there."""

from __future__ import annotations

from collections.abc import Iterator

from rubrics.audit.findings import Finding
from rubrics.audit.material import Material
from rubrics.facts import tools
from rubrics.records.rollouts import Turn


def is_proved(finding: Finding, material: Material) -> bool:
    """Whether every pointer exists and the quote stands at one of them. A finding without that is no finding."""
    places = [_text_at(pointer, material) for pointer in finding.evidence]
    if not places or any(text is None for text in places):
        return False
    quote = finding.quote
    return bool(quote) and any(quote in " ".join((text or "").split()) for text in places)


def _text_at(pointer: str, material: Material) -> str | None:
    kind, _, rest = pointer.partition(":")
    if kind == "transcript" and rest.isdigit() and int(rest) < len(material.turns):
        return "\n".join(_texts(material.turns[int(rest)]))
    if kind == "run":
        calls = (" ".join(text.split()) for turn in material.turns for text in _calls(turn))
        return next((text for text in calls if rest and text.startswith(rest)), None)
    if kind == "patch":
        path, _, number = rest.rpartition(":")
        return _line(material, path, number)
    return None


def _texts(turn: Turn) -> Iterator[str]:
    yield from (turn.text, turn.reasoning or "", turn.observation or "")
    yield from _calls(turn)


def _calls(turn: Turn) -> Iterator[str]:
    for call in turn.tool_calls:
        text = tools.shell_text(call)
        yield text.strip() if text is not None else f"{call.name} {call.raw}".strip()


def _line(material: Material, path: str, number: str) -> str | None:
    for file in material.patch.files if material.patch is not None else ():
        if file.path == path and not file.hunks:
            return path if number.isdigit() else None
        if file.path == path:
            lines = [line.text for hunk in file.hunks for line in hunk.lines if str(line.number) == number]
            return "\n".join((path, *lines)) if lines else None
    return None
