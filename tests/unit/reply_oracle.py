"""Decides by the documented rules whether a reply may be used, with nothing of the readers: a parser of its own for
JSON, every line and every start tried for a quote. Slow and plain on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import reply_helpers as world
from reply_oracle_json import need, whole_object

from rubrics.facts.diffs import parse_patch
from rubrics.visible import visible

PLACEHOLDERS = (
    "what you saw and where, in one or two sentences",
    "the words that stand there",
    "a level of its scale",
    "name of the criterion",
    "label of the candidate",
    "id of the finding",
    "what can be read there and how",
    "how the candidates differ",
    "path or reference, as a command names it",
    "pointer to where it stands",
)
CHECKS = ["approach", "precision", "minimality", "side_effects", "craftsmanship"]
FLAGS = ["unrequested_rewrite", "test_workaround", "severe_process_issue", "unresolved_regression"]
CRITERION = ["rests_on", "anchor", "id", "text", "guidance", "method", "rule", "scale", "gate", "fault", "weight"]
ROUTES = [
    "git_history",
    "answer_copy",
    "hidden_tests",
    "grader_file",
    "build_leftover",
    "installed_copy",
    "package_archive",
    "network",
    "other",
]


# --- pieces


def has(value: Any, *names: str) -> list[Any]:
    need(isinstance(value, dict) and set(value) == set(names), f"fields {names}")
    return [value[name] for name in names]


def is_text(value: Any) -> None:
    need(isinstance(value, str) and value.strip() != "" and not echoed(value), "text")


def echoed(value: str) -> bool:
    bare = " ".join(value.strip(" \t\r\n<>").lower().split())
    return bare in PLACEHOLDERS


def is_reason(value: Any, *forbidden: str) -> None:
    is_text(value)
    need(sum(letter.isalnum() for letter in value) >= 3, "reason")
    need(value.strip().casefold() not in [word.casefold() for word in forbidden], "reason")


def norm(text: str) -> str:
    shown = [piece for piece in visible(text) if piece != "\\"]
    return re.sub(r"\s+", " ", "".join(shown)).strip()


def forms(quote: str) -> list[str]:
    return [quote, quote.replace("\r", "")]


def in_text(quote: str, text: str) -> bool:
    if quote.strip() in text:
        return True
    return any(norm(form) in norm(whole) for form in forms(quote) for whole in forms(text))


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)


# --- where pointers lead

_FILES = parse_patch(world.PATCH).files
_MARKS = {"added": "+", "removed": "-", "kept": " "}


def starts_at(quote: str, lines: Sequence[str]) -> bool:
    wanted, first = norm(quote), norm(lines[0])
    together = norm("\n".join(lines))
    return wanted != "" and any(together.startswith(wanted, at) for at in range(len(first)))


def in_patch(path: str, number: int, quote: str) -> bool:
    for file in _FILES:
        names = {file.path, file.old_path or file.path}
        if path not in names | {side + name for side in ("a/", "b/") for name in names}:
            continue
        if not file.hunks and in_text(quote, path):
            return True
        for hunk in file.hunks:
            for at, line in enumerate(hunk.lines):
                told = on_line(quote, hunk.lines[at:]) or in_text(quote, path) or in_text(quote, hunk.section)
                if told and line.number == number:
                    return True
    return False


def on_line(quote: str, lines: Sequence[Any]) -> bool:
    marked = [_MARKS[line.kind] + line.text for line in lines]
    if quote.strip() in marked[0]:
        return True
    for form in (*forms(quote), re.sub("(?m)^[+-]", "", quote.strip())):
        count = len(form.strip().split("\n"))
        ways = [marked, [line.text for line in lines]]
        sides = [kind for kind in ("added", "removed") if lines[0].kind != kind]
        ways += [[line.text for line in lines if line.kind != left_out] for left_out in sides]
        if any(starts_at(form, way[:count]) for way in ways):
            return True
    return False


@cache
def resolves(place: str, quote: str, runs_only: bool = False) -> bool:
    if len(re.sub(r"\s", "", norm(quote))) < 3:
        return False
    what, _, rest = place.partition(":")
    if what == "patch" and not runs_only:
        path, colon, line = rest.rpartition(":")
        return bool(colon) and re.fullmatch("[1-9][0-9]{0,8}", line) is not None and in_patch(path, int(line), quote)
    if re.fullmatch("0|[1-9][0-9]{0,8}", rest) is None:
        return False
    index = int(rest)
    if what == "run" and index < len(world.RUNS):
        return in_text(quote, world.RUNS[index].command) or in_text(quote, world.RUNS[index].output)
    if what == "transcript" and not runs_only and index < len(world.TURNS):
        turn = world.TURNS[index]
        parts = [turn.text, turn.reasoning or "", turn.observation or ""]
        for call in turn.tool_calls:
            parts += [call.name, call.raw, *texts(call.arguments)]
        return any(in_text(quote, part) for part in parts)
    return False


def resolves_by_label(place: str, quote: str) -> bool:
    label, _, rest = place.partition(":")
    return resolves(place, quote) if label == "run" else label in world.LABELS and resolves(rest, quote)


def pointers(value: Any, leads: Callable[[str, str], bool]) -> list[str]:
    need(isinstance(value, list), "list")
    for item in value:
        place, quote = has(item, "place", "quote")
        is_text(place)
        is_text(quote)
        need(leads(place, quote), f"unresolved {place} {quote!r}")
    return [item["place"] for item in value]


# --- the kinds of reply


def verdicts(text: str) -> dict[str, float]:
    guard, said = has(whole_object(text), "addressed_to_grader", "verdicts")
    why, found, evidence = has(guard, "reason", "found", "evidence")
    is_reason(why, "true", "false")
    need(isinstance(found, bool))
    places = pointers(evidence, resolves)
    need(not found or places != [], "guard")
    values = {}
    named = {ask.name: ask.criterion for ask in world.ASKS}
    for (name, criterion), answer in zip(named.items(), has(said, *named), strict=True):
        why, level, evidence = has(answer, "reason", "level", "evidence")
        need(isinstance(level, str) and level in criterion.scale, "level")
        is_reason(why, name, *criterion.scale)
        need(pointers(evidence, resolves) != [] or level == criterion.scale[0], "evidence")
        steps = {word: step for step, word in enumerate(criterion.scale)}
        values[name] = steps[level] / (len(steps) - 1)
    return values


def ranking(text: str) -> dict[str, list[str]]:
    candidates, why, same = has(whole_object(text), "candidates", "reason", "no_clear_difference")
    is_reason(why, "true", "false")
    need(isinstance(same, bool))
    flags = {}
    for label, said in zip(world.LABELS, has(candidates, *world.LABELS), strict=True):
        has(said, "reason", "evidence", *CHECKS, *FLAGS)
        is_reason(said["reason"], label)
        need(all(type(said[name]) is int and said[name] in (1, 2, 3, 4, 5) for name in CHECKS), "checks")
        places = pointers(said["evidence"], resolves_by_label)
        need(min(said[name] for name in CHECKS) > 2 or own(label, places), "low")
        flags[label] = []
        for name in FLAGS:
            found, evidence = has(said[name], "found", "evidence")
            need(isinstance(found, bool))
            if found & own(label, pointers(evidence, resolves_by_label)):
                flags[label].append(name)
    return flags


def own(label: str, places: Sequence[str]) -> bool:
    return any(place.split(":")[0] in (label, "run") for place in places)


def audit(text: str) -> list[str]:
    (findings,) = has(whole_object(text), "findings")
    decided = []
    for name, said in zip(world.AUDITED, has(findings, *world.AUDITED), strict=True):
        why, verdict, evidence = has(said, "reason", "verdict", "evidence")
        is_reason(why, name, "confirmed", "rejected", "unclear")
        need(isinstance(verdict, str) and verdict in ("confirmed", "rejected", "unclear"), "verdict")
        places = pointers(evidence, resolves_by_label)
        mine = [place for place in places if place.split(":")[0] == world.AUDITED[name]]
        need(verdict != "confirmed" or mine != [], "confirmed")
        decided.append(verdict)
    return decided


def probe(text: str) -> int:
    why, findings = has(whole_object(text), "reason", "findings")
    is_reason(why)
    need(isinstance(findings, list))
    for said in findings:
        kind, place, detail, remedy, evidence = has(said, "kind", "place", "detail", "remedy", "evidence")
        need(isinstance(kind, str) and kind in ROUTES, "kind")
        is_text(place)
        need(visible(place) == place and "\n" not in place and "\t" not in place and len(place) <= 4096, "place")
        is_reason(detail, kind, place)
        need(isinstance(remedy, str) and remedy in ("remove", "none"), "remedy")
        need(pointers(evidence, lambda place, quote: resolves(place, quote, runs_only=True)) != [], "evidence")
    return len(findings)


def drafts(text: str) -> dict[str, list[str]]:
    ids: dict[str, list[str]] = {}
    for kind, draft in zip(("solution", "behavior"), has(whole_object(text), "solution", "behavior"), strict=True):
        note, criteria = has(draft, "note", "criteria")
        is_reason(note)
        need(isinstance(criteria, list) and len(criteria) <= 40)
        for said in criteria:
            drafted(said)
        ids[kind] = [said["id"] for said in criteria]
        need(len(set(ids[kind])) == len(ids[kind]), "repeated")
    return ids


def drafted(said: Any) -> None:
    has(said, *CRITERION)
    is_text(said["id"])
    need(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", said["id"]) is not None and len(said["id"]) <= 60, "id")
    is_reason(said["text"], said["id"])
    for name in ("guidance", "rule", "fault"):
        if said[name] is not None:
            is_text(said[name])
    need(isinstance(said["method"], str) and said["method"] in ("rule", "judge"), "method")
    need((said["method"] == "rule") is (said["rule"] is not None), "rule")
    need(isinstance(said["gate"], bool))
    need(type(said["weight"]) in (int, float) and 0 < said["weight"] <= 10, "weight")
    need(isinstance(said["scale"], list) and 2 <= len(said["scale"]) <= 5, "scale")
    for level in said["scale"]:
        is_text(level)
    need(len({" ".join(level.casefold().split()) for level in said["scale"]}) == len(said["scale"]), "levels")
    need(isinstance(said["rests_on"], list))
    need(all(isinstance(label, str) and label in world.LABELS for label in said["rests_on"]), "labels")
    need(len(set(said["rests_on"])) == len(said["rests_on"]), "labels")
    kind, place, quote = has(said["anchor"], "kind", "place", "quote")
    need(isinstance(kind, str) and kind in ("spec", "file", "none"), "anchor")
    for value in (place, quote):
        if value is not None:
            is_text(value)
    need((quote is None) is (kind == "none"), "quote")
    need((place is not None) is (kind == "file"), "place")
    if place is not None:
        need(re.fullmatch(r"[^\x00-\x1f\x7f]+:[1-9][0-9]{0,8}", place) is not None, "place")
