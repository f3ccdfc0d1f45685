"""Which reported tests a listed name stands for. Pure.

Task rows name tests as the logs that they were made from show them: the id, the first line of a docstring, an id cut at
its first blank or inside its brackets, a parametrised id without its brackets, with characters that the runner escapes.
The first of these ways that finds something counts. Where the reference's own run is known, the names are looked up
there, and what they stand for is looked up by id in the run at hand.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property

from rubrics.testing.readers.unittest_output import aliases
from rubrics.testing.results import GOOD, Results

_BLANK = re.compile(r"[ \t\n]|\\[nrt]")
_JUNK = re.compile(r"[\W\d_]*|\[\s*\d+%\]?")
_OPTION = re.compile(r"\[(/(?!/)[^*]*/)([^/*]*)\]$")


def is_junk(name: str) -> bool:
    """Whether a listed id is a scrap of output (`[100%]`, `[`) rather than a test."""
    return _JUNK.fullmatch(name.strip()[:200]) is not None


def canonical(name: str) -> str:
    """The name with blanks at its ends dropped, escaped where pytest escapes, and one backslash for two."""
    text = name.strip().replace("\\\\", "\\")
    if text.isascii() and text.isprintable():
        return text
    parts = (sign if " " <= sign <= "~" else sign.encode("unicode_escape", "replace").decode("ascii") for sign in text)
    return "".join(parts)


class Names:
    """The tests of one run, under every name that task rows use for them."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def find(self, name: str) -> tuple[str, ...]:
        """Ids of the reported tests that a listed name stands for; none when the run has no such test."""
        wanted = canonical(name)
        for index in (self._exact, self._told, self._unittest):
            if wanted in index:
                return index[wanted]
        if "::" in wanted:
            return self._pytest(wanted)
        return self._exact.get(wanted.replace("#", "."), ()) if "#" in wanted else ()

    def is_broken(self, name: str) -> bool:
        """Whether the runner says that the file, module or class of a listed test could not be begun."""
        broken = self._results.broken
        if not broken:
            return False
        if "" in broken and not self.find(name):
            return True
        owners = {*_files(name.partition("::")[0] if "::" in name else "")}
        for alias in aliases(name.strip()):
            group = alias.rpartition("(")[2].rstrip(")")
            owners.update(_prefixes(group))
        return not broken.isdisjoint(owners)

    @cached_property
    def _exact(self) -> dict[str, tuple[str, ...]]:
        return _index((canonical(name), name) for name in self._results.statuses)

    @cached_property
    def _told(self) -> dict[str, tuple[str, ...]]:
        return _index((canonical(told), name) for told, names in self._results.described.items() for name in names)

    @cached_property
    def _unittest(self) -> dict[str, tuple[str, ...]]:
        named = ((alias, name) for name in self._results.statuses if " (" in name for alias in aliases(name))
        return _index((canonical(alias), name) for alias, name in named)

    @cached_property
    def _cut(self) -> dict[str, tuple[str, ...]]:
        """Ids by what stands before a blank or an escaped one, before the brackets, and with a path cut to its end."""
        pairs: list[tuple[str, str]] = []
        for name in self._results.statuses:
            text = canonical(name)
            if match := _BLANK.search(text):
                pairs += [(text[: match.start()], name), (text.split(" ", 1)[0], name)]
            if text.endswith("]") and "[" in text:
                pairs.append((text[: text.index("[")], name))
                if option := _OPTION.search(text[text.index("[") :]):
                    pairs.append((f"{text[: text.index('[')]}[/{option[2]}]", name))
        return _index(pairs)

    @cached_property
    def _sorted(self) -> list[tuple[str, str]]:
        return sorted((canonical(name), name) for name in self._results.statuses if "[" in name)

    def _pytest(self, wanted: str) -> tuple[str, ...]:
        """Tests whose ids were cut to this one, at a blank, before the brackets or inside them."""
        if wanted in self._cut:
            return self._cut[wanted]
        if "[" not in wanted or wanted.endswith("]"):
            return ()
        found, at = [], bisect_left(self._sorted, (wanted, ""))
        while at < len(self._sorted) and self._sorted[at][0].startswith(wanted):
            found.append(self._sorted[at][1])
            at += 1
        return tuple(found)


def resolve(name: str, run: Names, reference: Names | None, good: Results | None) -> tuple[str, ...]:
    """Ids that a listed name stands for in a run, worked out from the reference's run where it has the name.

    Of several tests of one name (two with one docstring) those count that passed for the reference.
    """
    if reference is None or good is None:
        return run.find(name)
    there = reference.find(name)
    if not there:
        return run.find(name)
    passed = tuple(test for test in there if good.statuses[test] in GOOD or good.statuses[test] == "skipped")
    return passed or there


def _files(path: str) -> Iterable[str]:
    """A file and the folders above it, as an error of a whole package names them."""
    parts = path.split("/")
    return ("/".join(parts[:size]) for size in range(1, len(parts) + 1)) if path else ()


def _prefixes(dotted: str) -> Iterable[str]:
    parts = dotted.split(".")
    return (".".join(parts[:size]) for size in range(1, min(len(parts), 50) + 1))


def _index(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for key, name in pairs:
        found.setdefault(key, {})[name] = None
    return {key: tuple(names) for key, names in found.items()}
