"""Where a command puts what it brings."""

from __future__ import annotations

import re
from itertools import pairwise

from rubrics.audit.steps import Step

_SHORT = re.compile(r"-[a-zA-Z]+o$")
_PLACES = ("-o", "-O", "--output", "-d", "--dest", "--target", "-t", "--output-document", "-P", "-C")


def destinations(step: Step) -> list[str]:
    """Files and folders into which a command brings what it reached."""
    words = step.words
    found = [step.target] if step.target else []
    if step.head not in ("git", "cat", "grep", "sort"):
        short = _SHORT if step.head == "curl" else None
        found += [value for option, value in pairwise(words) if option in _PLACES or (short and short.match(option))]
    plain = [word for word in words[1:] if word[:1] != "-"]
    if step.head == "git" and plain[:1] == ["clone"] and len(plain) > 1:
        last = plain[-1]
        url = ":" in last or len(plain) == 2
        found.append(last.rstrip("/").rpartition("/")[2].removesuffix(".git") if url else last)
    elif step.head == "git" and plain[:2] == ["worktree", "add"] and len(plain) > 2:
        found.append(plain[2])
    elif step.head in ("wget", "curl") and not found and (step.head == "wget" or {"-O", "-LO", "-OL"} & set(words)):
        found.append(plain[-1].rstrip("/").rpartition("/")[2])
    return [place for place in found if place not in ("", ".", "-", "/dev/null")]
