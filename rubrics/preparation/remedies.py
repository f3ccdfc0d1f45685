"""What is to be done about a file that tells the answer: it goes, or some of its lines, or it is for a person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rubrics.preparation.encodings import is_text
from rubrics.preparation.findings import Finding, removal
from rubrics.preparation.place import Place

LARGEST = 256_000
"""Bytes of a file of settings from which lines are taken."""
_SETTINGS = re.compile(
    r"/etc/|/\.(?:bash|zsh|k?sh|tcsh|csh|fish)?(?:rc|_?profile|_login|_logout|env|_aliases|login|logout)$"
    r"|/\.(?:inputrc|vimrc|screenrc|tmux\.conf|pam_environment|xsessionrc|xprofile)$|/crontabs/|/profile\.d/"
)
"""Files of settings, from which lines are taken rather than the whole."""
_NEEDED = re.compile(
    r"/etc/(?:passwd|group|g?shadow|hosts|hostname|resolv\.conf|fstab|mtab|ld\.so\.(?:cache|conf)|nsswitch\.conf"
    r"|machine-id|shells|login\.defs)-?$"
)
"""Files without which nothing works, whether or not a package has them."""


def remedied(place: Place, probe: str, kind: str, path: str, detail: str) -> Iterator[Finding]:
    """What is to be done about a file: base's goes back to base, of settings the lines go, what belongs to the system
    is for a person, everything else goes."""
    shown = place.said(path)
    if place.at_base([path]):
        yield Finding(probe, "changed_file", place.top, f"{shown}: {detail}", "rebuild")
        return
    rest = without_answer(place, path) if _SETTINGS.search(path) else None
    needed = _NEEDED.search(path) is not None
    if rest is not None and (rest.strip() or needed):
        yield Finding(probe, kind, shown, detail, "rewrite", (path,), rest)
    elif needed or (place.in_system(path) and place.owned(path) is not False):
        yield Finding(probe, kind, shown, detail)
    else:
        yield removal(probe, kind, shown, detail, (path,))


def without_answer(place: Place, path: str) -> bytes | None:
    """A file of settings without the lines that tell the answer; null when that does not help."""
    data = place.shell.read(path)
    if data is None or len(data) > LARGEST or not is_text(data):
        return None
    kept = b"".join(line for line in data.splitlines(keepends=True) if not place.answers.touch(line))
    return kept if kept != data and not place.answers.told_by(kept) else None
