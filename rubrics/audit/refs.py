"""Names of commits: which of them lie in the ancestry of the base commit, as far as the transcript tells."""

from __future__ import annotations

import re
from typing import Literal

Standing = Literal["own", "main", "foreign", "unknown"]

_HEX = re.compile(r"[0-9a-f]{6,40}$")
_HEXES = re.compile(r"\b[0-9a-f]{7,40}\b")
_COMMITTED = re.compile(r"^\[[^\]\n]{1,200} ([0-9a-f]{5,40})\]", re.MULTILINE)
_SUFFIX = re.compile(r"(?:[~^]\d*|\^\{\w*\})+$")
_HERE = frozenset({"", "HEAD", "@", "-", "."})
_MAIN = frozenset({"main", "master", "trunk"})
_FOREIGN = re.compile(
    r"(?:refs/)?remotes?/|origin(?:/|$)|upstream(?:/|$)|refs/|FETCH_HEAD$|ORIG_HEAD$|\$|v?\d+(?:\.\d+)+\w*$|release[-/]"
)
_WORD = re.compile(r"[\w./+-]{2,100}")


class Refs:
    """What the transcript has shown so far: hashes of ancestors, the agent's own branches, commits and stashes."""

    def __init__(self, base_commit: str | None) -> None:
        self._ancestors: set[str] = {base_commit} if base_commit else set()
        self._own: set[str] = set()
        self._listed: set[str] = set()
        self.own_stashes = 0
        self.committed = False

    def saw_ancestors(self, output: str) -> None:
        """Output of a log, a blame or a rev-parse that stays within the ancestry of HEAD."""
        self._ancestors.update(_HEXES.findall(output[:200_000]))

    def saw_listing(self, output: str) -> None:
        """Output that lists refs."""
        self._listed.update(word.removeprefix("remotes/") for word in _WORD.findall(output[:50_000]))

    def made(self, name: str) -> None:
        self._own.add(name)

    def saw_commit(self, output: str) -> None:
        self.committed = True
        self._ancestors.update(_COMMITTED.findall(output[:20_000]))

    def standing(self, word: str) -> Standing:
        """Of one revision without its `:path`; a range is as foreign as its most foreign end."""
        ends = [end for end in re.split(r"\.{2,3}", word) if end]
        found = {self._of_one(end.lstrip("^")) for end in ends} or {"own"}
        order: tuple[Standing, ...] = ("foreign", "unknown", "main")
        return next((standing for standing in order if standing in found), "own")

    def _of_one(self, name: str) -> Standing:
        if "@{" in name:
            if name.startswith("stash"):
                return "own" if self.own_stashes else "foreign"
            return "own" if self.committed or "@{u" in name else "foreign"
        name = _SUFFIX.sub("", name)
        if name in _HERE or name in self._own:
            return "own"
        if name in _MAIN:
            return "main"
        if _HEX.match(name):
            return "own" if self._is_ancestor(name) else "foreign"
        if name == "stash":
            return "own" if self.own_stashes else "foreign"
        if name in self._listed or _FOREIGN.match(name):
            return "foreign"
        return "unknown"

    def _is_ancestor(self, name: str) -> bool:
        return any(known.startswith(name) or name.startswith(known) for known in self._ancestors)
