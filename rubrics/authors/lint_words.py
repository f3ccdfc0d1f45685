"""Lint of a criterion's words: one demand, checkable, and silent about the verdict. Pure."""

from __future__ import annotations

import re

from rubrics.authors.lint_records import Ground, Wrong
from rubrics.records.rubrics import Criterion, Kind

LONGEST = {"id": 60, "text": 300, "guidance": 1_500, "anchor": 600, "rule": 2_000, "fault": 120}
"""Characters of each field: a requirement that needs more is more than one. What is longer is not looked at further."""
SHORTEST_GUIDANCE = 5
"""Words that a guidance needs to make a vague word checkable."""

_CODE = re.compile(r"`[^`]*`|\"[^\"]*\"")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|cf|vs)\.", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?;](?:\s+|$)")
_JOINT = re.compile(r"(?:,\s*)?\b(?:and(?:\s+also)?|as well as|plus|while also|but also|but)\s+")
_LEADING = re.compile(
    r"(?:(?:then|also|it|they|always|never|only|still|correctly|the (?:agent|attempt|patch|change|code|function|method)"
    r"|must|should|shall|does not|do not|doesn't|don't|is|are|has|have)\s+)*"
)
_DEMANDS = (
    r"accept|add|adjust|allow|apply|assert|avoid|catch|clean|close|compare|compute|convert|cover|create|cut|"
    r"decide|define|delete|derive|disable|emit|enable|ensure|escape|execute|expose|extend|fail|find|fix|"
    r"follow|give|guard|hold|ignore|implement|include|inherit|insert|inspect|install|introduce|invoke|isolate|"
    r"keep|leave|load|lower|make|merge|modify|normalize|normalise|open|override|parse|pass|preserve|prevent|"
    r"produce|propagate|protect|provide|put|raise|reach|receive|refuse|reject|remove|rename|replace|reproduce|"
    r"reset|resolve|respect|restore|restrict|reuse|rewrite|run|send|shorten|skip|split|start|stop|store|strip|"
    r"submit|support|take|throw|treat|trim|turn|use|validate|verify|warn|wrap|write|yield"
)
_NOUNS_TOO = (
    r"build|call|change|check|copy|document|drop|edit|format|handle|import|limit|list|log|look|map|mark|match|"
    r"move|name|order|place|print|process|read|record|release|repeat|report|return|review|save|search|select|"
    r"set|show|sort|stay|test|touch|try|update"
)
"""Demands that are as often nouns: they count where an object follows."""
_DEMAND = re.compile(
    rf"(?:(?:{_DEMANDS})(?:e?s)?|applies|modifies|verifies)\b"
    rf"|(?:(?:{_NOUNS_TOO})(?:e?s)?|copies|tries)\s+"
    r"(?:the|an?|no|any|all|each|every|it|its|code|that|whether|both|only|nothing|what|them|this|to|at|for)\b"
    rf"|(?:{_NOUNS_TOO})s\s+(?!(?:of|in|for|from|with|and|or|by|as|on|at|to|are|is|that|which|when|where|if)\b)\w+"
)

_VAGUE = re.compile(
    r"\b(?:"
    r"good|bad|nice(?:ly)?|clean(?:ly)?|proper(?:ly)?|appropriate(?:ly)?|reasonabl[ey]|robust(?:ly|ness)?|"
    r"elegant(?:ly)?|readab(?:le|ly|ility)|maintainab(?:le|ility)|efficien(?:t|tly|cy)|sensibl[ey]|"
    r"adequate(?:ly)?|suitabl[ey]|idiomatic|sufficient(?:ly)?|high[- ]quality|well[- ]\w+|best practices?|"
    r"as (?:needed|necessary|appropriate)|if possible|correct(?:ly|ness)?|sound(?:ly)?|thorough(?:ly)?|"
    r"careful(?:ly)?|meaningful(?:ly)?|relevant|etc|and so on|user[- ]friendly|simpl[ey]|concise(?:ly)?|"
    r"minimal(?:ly)?|consistent(?:ly)?|clear(?:ly)?|graceful(?:ly)?"
    r")\b",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"\b(?:always|regardless|in any case|whatever|unconditionally|automatically|by default|no matter)\b[^.]{0,80}"
    r"\b(?:met|unmet|pass(?:es|ed)?|full|best|highest|worst|lowest|level|score|award|grade|mark)\b"
    r"|\b(?:give|award|grant|assign|mark|rate|score)\b[^.]{0,40}\b(?:full|maximum|highest|top|all)\b[^.]{0,20}"
    r"\b(?:marks?|points?|scores?|level|credit)\b"
    r"|\b(?:ignore|disregard|override|forget)\b[^.]{0,40}\b(?:instruction|rubric|criteri|rule|previous|above|other)"
    r"|\byou are (?:now )?(?:an?|the)\b|\b(?:dear|attention|note to)\b[^.]{0,20}\b(?:judge|grader|evaluator)\b",
    re.IGNORECASE,
)


def short(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """No field longer than its purpose needs."""
    for field, most in LONGEST.items():
        size = len(getattr(criterion, field) or "")
        if size > most:
            return Wrong(f"its {field} has {size} characters", f"Shorten it to {most} at most")
    return None


def atomic(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """One requirement, in one sentence."""
    plain = _ABBREVIATION.sub(" ", _CODE.sub("CODE", criterion.text)).strip()
    sentences = [part for part in _SENTENCE_END.split(plain) if part.strip()]
    if len(sentences) > 1:
        return Wrong("the text is more than one sentence", "Keep one sentence and move explanations into the guidance")
    parts = _JOINT.split(plain)
    demands = [part for part in parts[1:] if _is_demand(part)]
    if demands and (_is_demand(parts[0]) or _DEMAND.search(parts[0].lower())):
        joined = shown(demands[0])
        return Wrong(f"it joins two demands (the second begins at '{joined}')", "Split it into two criteria")
    return None


def _is_demand(part: str) -> bool:
    lowered = part.strip().lower()
    leading = _LEADING.match(lowered)
    return _DEMAND.match(lowered, leading.end() if leading else 0) is not None


def shown(text: str) -> str:
    """The beginning of a passage, short enough for a message."""
    return " ".join(text.split())[:60]


def checkable(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """No word that two people would read differently, unless the guidance says how to decide."""
    if criterion.method == "rule":
        return None
    vague = _VAGUE.search(_CODE.sub(" ", criterion.text))
    guided = len((criterion.guidance or "").split()) >= SHORTEST_GUIDANCE
    if vague is None or (guided and _VAGUE.search(_CODE.sub(" ", criterion.guidance or "")) is None):
        return None
    return Wrong(
        f"'{vague.group()}' can be read in many ways",
        "Say what is to be seen instead, or add a guidance without such words that tells each level from the next",
    )


def neutral(kind: Kind, criterion: Criterion, ground: Ground) -> Wrong | None:
    """Text and guidance describe; they do not hand out verdicts or speak to whoever grades."""
    found = _VERDICT.search(f"{criterion.text}\n{criterion.guidance or ''}")
    if found is None:
        return None
    return Wrong(
        f"'{shown(found.group())}' tells the judge its verdict",
        "Describe what is to be seen and let the judge decide; what an attempt says about grading is no requirement",
    )
