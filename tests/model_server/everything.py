"""A model that plays every role soundly: what it says depends on what it is shown, and on nothing else."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

from model_server.drafts import draft_of
from model_server.server import Said
from model_server.sound import first_place, places, sound_verdicts, verdicts
from rubrics.prompting.fences import outside_fences, parse_fences
from rubrics.records.rankings import CHECKS, FLAGS
from rubrics.replies.rankings import LOW

EVERY = 2
"""One attempt in so many is said to hold text for the grader."""
DECISIONS = ("confirmed", "rejected", "unclear")
_SUSPICION = re.compile(r"^- (s\d+): (\w+), raised by .*, at (.*):$", re.MULTILINE)


def everything(body: dict[str, Any]) -> Any:
    """The answer to a request of any role."""
    offered = {tool["function"]["name"]: tool["function"] for tool in body.get("tools", ())}
    for name, role in CONVERSATIONS.items():
        if name in offered:
            return role(body, offered)
    return ANSWERS[body["response_format"]["json_schema"]["name"]](body)


def role_of(body: dict[str, Any]) -> str:
    """Who is asked: `author`, `judge`, `rank`, `audit` or `probe`."""
    roles = {"rubrics": "author", "verdicts": "judge", "ranking": "rank", "audit": "audit", "findings": "probe"}
    names = [tool["function"]["name"].removeprefix("submit_") for tool in body.get("tools", ())]
    asked = body.get("response_format", {}).get("json_schema", {}).get("name")
    return next(roles[name] for name in (*names, asked) if name in roles)


def single_judge(body: dict[str, Any]) -> dict[str, Any]:
    """Verdicts; and every so often text that speaks to the grader, so that the audit has something to decide."""
    return _guarded(sound_verdicts(body), body["messages"][-1]["content"])


def _guarded(said: dict[str, Any], shown: str) -> dict[str, Any]:
    attempt = shown[shown.index("\nThe attempt:") :]
    listed = list(places(attempt))
    digest = int.from_bytes(hashlib.sha256(attempt.encode("utf-8", "surrogatepass")).digest()[:4])
    if listed and digest % EVERY == 0:
        guard = {"reason": "This line speaks to a reader.", "found": True, "evidence": [listed[digest % len(listed)]]}
        said["addressed_to_grader"] = guard
    return said


def _turn(body: dict[str, Any]) -> int:
    """How many turns were said before."""
    return sum(message["role"] == "assistant" for message in body["messages"])


def _seen(body: dict[str, Any]) -> str:
    """The task, the attempts, and what tools answered."""
    return "\n".join(item["content"] for item in body["messages"] if item["role"] in ("user", "tool"))


def _calls(*calls: tuple[str, Any]) -> Said:
    return Said(None, calls)


def author(body: dict[str, Any], offered: dict[str, Any]) -> Said:
    """Looks at attempts and, where it may, at the repository; submits; drops what it is told is wrong."""
    if _turn(body) == 0:
        looks: list[tuple[str, Any]] = [(name, {}) for name in ("list_files",) if name in offered]
        looks += [(name, {"attempt": "attempt-1"}) for name in ("show_patch", "show_tests", "show_transcript")]
        return _calls(*looks)
    return _calls(("submit_rubrics", draft_of(body)))


def agent_judge(body: dict[str, Any], offered: dict[str, Any]) -> Said:
    """Opens the change and the first turns, lists the folder, and submits what it makes of all that."""
    if _turn(body) == 0:
        shown = ("show_patch", {}), ("show_transcript", {"first_turn": 0, "last_turn": 3})
        return _calls(*shown, ("run_command", {"command": "ls"}))
    opening = body["messages"][1]["content"]
    attempt = opening[opening.index("\nThe attempt:") :] + _seen({"messages": body["messages"][2:]})
    said = verdicts(offered["submit_verdicts"]["parameters"], attempt)
    return _calls(("submit_verdicts", _guarded(said, opening)))


def single_ranker(body: dict[str, Any]) -> dict[str, Any]:
    return _marks(body["response_format"]["json_schema"]["schema"], body["messages"][1]["content"])


def agent_ranker(body: dict[str, Any], offered: dict[str, Any]) -> Said:
    """Looks at the code and at one patch, then submits."""
    schema = offered["submit_ranking"]["parameters"]
    if _turn(body) == 0:
        label = next(iter(schema["properties"]["candidates"]["properties"]))
        return _calls(("list_files", {}), ("show_patch", {"attempt": label}))
    return _calls(("submit_ranking", _marks(schema, body["messages"][1]["content"])))


def _marks(schema: dict[str, Any], prompt: str) -> dict[str, Any]:
    """Marks by a digest of each candidate's patch: the same in every round, whatever its label and place."""
    patches = {item.label.removeprefix("patch of "): item.text for item in parse_fences(prompt)}
    labels = schema["properties"]["candidates"]["properties"]
    marks = {label: _marked(label, patches[label]) for label in labels}
    return {"candidates": marks, "reason": "How far each change goes.", "no_clear_difference": False}


def _marked(label: str, patch: str) -> dict[str, Any]:
    own = first_place(patch)
    evidence = [{**own, "place": f"{label}:{own['place']}"}] if own else []
    digest = hashlib.sha256(patch.encode("utf-8", "surrogatepass")).digest()
    checks = {name: 1 + digest[i] % 5 if evidence else LOW + 1 for i, name in enumerate(CHECKS)}
    flags = {name: {"found": False, "evidence": []} for name in FLAGS}
    return {"reason": "What the lines of its patch say.", **checks, "evidence": evidence, **flags}


def audit_judge(body: dict[str, Any]) -> dict[str, Any]:
    prompt = body["messages"][1]["content"]
    return _decisions(prompt, prompt[prompt.index("\nAttempt suspect:") :])


def audit_agent(body: dict[str, Any], offered: dict[str, Any]) -> Said:
    """Opens the suspect's patch and the turns that the suspicions name, then submits."""
    prompt = body["messages"][1]["content"]
    if _turn(body) == 0:
        turns = re.findall(r"\btranscript:(\d+)", "\n".join(at for _, _, at in _suspicions(prompt)))
        shown = [("show_transcript", {"attempt": "suspect", "first_turn": int(turn)}) for turn in turns[:12]]
        return _calls(("show_patch", {"attempt": "suspect"}), *shown)
    return _calls(("submit_audit", _decisions(prompt, _seen({"messages": body["messages"][2:]}))))


def _suspicions(prompt: str) -> list[tuple[str, str, str]]:
    return _SUSPICION.findall(outside_fences(prompt))


def _decisions(prompt: str, suspect: str) -> dict[str, Any]:
    """Confirms nothing without something to point at; else decides by a digest of the pattern and the quote."""
    first: dict[str, dict[str, str]] = {}
    for item in places(suspect):
        first.setdefault(item["place"], item)
    findings = {}
    for name, kind, listed in _suspicions(prompt):
        found = [first[place] for place in listed.split(", ") if place in first]
        digest = hashlib.sha256(f"{found[:1]} {kind}".encode()).digest()[0]
        verdict = DECISIONS[digest % 3] if found else "unclear"
        evidence = [{**item, "place": f"suspect:{item['place']}"} for item in found[:1]]
        findings[name] = {"reason": f"Looked at {kind} there.", "verdict": verdict, "evidence": evidence}
    return {"findings": findings}


def probe(body: dict[str, Any], offered: dict[str, Any]) -> Said:
    """Looks into history and temporary folders and finds nothing."""
    if _turn(body) < 2:
        command = ("git log --oneline --all | head", "ls -a /tmp")[_turn(body)]
        return _calls(("run_command", {"command": command}))
    return _calls(("submit_findings", {"reason": "Looked at history and at temporary files.", "findings": []}))


CONVERSATIONS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Said]] = {
    "submit_rubrics": author,
    "submit_verdicts": agent_judge,
    "submit_ranking": agent_ranker,
    "submit_audit": audit_agent,
    "submit_findings": probe,
}
"""By the tool that ends them."""
ANSWERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "verdicts": single_judge,
    "ranking": single_ranker,
    "audit": audit_judge,
}
"""By the name of the schema."""
