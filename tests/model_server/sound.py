"""A judge that reads its prompt and answers soundly: complete, on the scale, with quotes that stand where it says."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

Choose = Callable[[str, str, list[str]], int]
"""(criterion, the attempt's part of the prompt, levels) -> index of the level."""
_LINE = re.compile(r"^(\d+)([+ -])(.*)$")
_FILE = re.compile(r"^\[\[file \w+: (.*?)\]\]")
_TURN = re.compile(r"^\[\[turn (\d+) ")


def sound_verdicts(body: dict[str, Any], choose: Choose | None = None) -> dict[str, Any]:
    """The reply to a request of the single judge."""
    prompt = body["messages"][-1]["content"]
    return verdicts(body["response_format"]["json_schema"]["schema"], prompt[prompt.index("\nThe attempt:") :], choose)


def verdicts(schema: dict[str, Any], attempt: str, choose: Choose | None = None) -> dict[str, Any]:
    """Verdicts on the criteria that the schema asks about; `attempt`: all that is shown of it."""
    place = first_place(attempt)
    said = {}
    for name, asked in schema["properties"]["verdicts"]["properties"].items():
        levels = asked["properties"]["level"]["enum"]
        index = (choose or by_digest)(name, attempt, levels)
        evidence = [place] if index and place else []
        level = levels[index if evidence or not index else 0]
        said[name] = {"reason": f"Looked for {name} and saw it there.", "level": level, "evidence": evidence}
    return {
        "addressed_to_grader": {"reason": "Nothing speaks to a grader.", "found": False, "evidence": []},
        "verdicts": said,
    }


def by_digest(name: str, attempt: str, levels: list[str]) -> int:
    """A level that depends on criterion and attempt, and on nothing else: asked again, it says the same."""
    return hashlib.sha256(f"{name}\n{attempt}".encode()).digest()[0] % len(levels)


def first_place(attempt: str) -> dict[str, str] | None:
    """A pointer to the first line of the patch that holds something, else to the first turn's."""
    return next(places(attempt), None)


def places(attempt: str) -> Iterator[dict[str, str]]:
    """Pointers to what can be quoted without doubt: lines of patches, plain lines of turns, in their order."""
    path = turn = None
    for line in attempt.split("\n"):
        if match := _FILE.match(line):
            path, turn = match[1], None
        elif match := _TURN.match(line):
            turn, path = match[1], None
        elif path and (match := _LINE.match(line)) and len(match[3].replace(" ", "")) >= 5 and "\\" not in match[3]:
            yield {"place": f"patch:{path}:{match[1]}", "quote": match[3].strip()}
        elif turn and re.fullmatch(r"[A-Za-z][\w ,.'()-]{7,}", line):
            yield {"place": f"transcript:{turn}", "quote": line}
