"""Probes of what is no content of a file: names, targets of links, extended attributes, variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from posixpath import dirname

from rubrics.preparation.answers import Answers
from rubrics.preparation.attributes import attributes
from rubrics.preparation.config import UNSEEN
from rubrics.preparation.decoding import TURNS
from rubrics.preparation.findings import Finding, removal
from rubrics.preparation.inventory import Entry
from rubrics.preparation.place import Place

_DIGITS = re.compile(rb"[A-Za-z0-9+_=-]{32}|(?:%[0-9A-F]{2}.*){2}", re.DOTALL)
"""What a name in another form looks like."""


class Names:
    """Names of files and folders, and targets of links, that tell the answer."""

    name = "names"

    def look(self, place: Place) -> Iterator[Finding]:
        if not place.answers:
            return
        stores = place.stores()
        listed = [entry for entry in place.entries.values() if not entry.path.startswith(stores)]
        for entry, what in dict(self._telling(place, listed)).items():
            if place.besides_base([entry.path]):
                yield from self._judged(place, entry, what)

    def _judged(self, place: Place, entry: Entry, what: str) -> Iterator[Finding]:
        where, detail = place.said(entry.path), f"{what} tells the answer"
        if where != entry.path:
            where, detail = place.said(dirname(entry.path)), f"{detail} (inode {entry.stamp.split()[0]})"
        if place.in_system(entry.path) and place.owned(entry.path) is not False:
            yield Finding(self.name, "answer_name", where, detail)
        else:
            yield removal(self.name, "answer_name", where, detail, (entry.path,))

    def _telling(self, place: Place, listed: list[Entry]) -> Iterator[tuple[Entry, str]]:
        """Lines as they are or turned round, looked for in all texts at once; other forms, in those that look so."""
        paths = {entry: _bytes(entry.path) for entry in listed}
        targets = {entry: _bytes(entry.target) for entry in listed if entry.target}
        for answers in (place.answers, place.answers.as_paths()):
            for turn in TURNS:
                yield from ((entry, "its name") for entry in _holding(answers, paths, turn))
                yield from ((entry, "what it points to") for entry in _holding(answers, targets, turn))
        for texts, what in ((paths, "its name"), (targets, "what it points to")):
            for entry, text in texts.items():
                said = text.rpartition(b"/")[2] if what == "its name" else text
                if _DIGITS.search(said) is not None and place.told_by(said):
                    yield entry, what


def _holding(answers: Answers, texts: dict[Entry, bytes], turn: Callable[[bytes], bytes]) -> Iterator[Entry]:
    """Entries whose texts hold a line, if together they hold enough of them; not those that lie in another."""
    if answers.seen_in(turn(b"\n".join(texts.values()))):
        for entry, text in texts.items():
            if answers.holds(turn(text)) and not answers.holds(turn(text.rpartition(b"/")[0])):
                yield entry


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class Attributes:
    """Extended attributes of files and folders, also of those of base: no commit holds them."""

    name = "attributes"

    def look(self, place: Place) -> Iterator[Finding]:
        unseen = [*(place.config.below(name) for name in UNSEEN), place.shell.scratch]
        found = attributes(place.shell, place.config.root, unseen) if place.answers else []
        if found is None:
            place.left["extended attributes"] = ("no Python or Perl to read them with", 0)
        for path, name, value in found or ():
            told = place.told_by(value) or place.told_by(_bytes(name))
            if told and not place.kept_by_config(path):
                detail = f"{told} in the attribute {place.said(name)}"
                yield Finding(self.name, "file_attribute", place.said(path), detail, "strip", (path,), names=(name,))


class Variables:
    """Variables that every command of the environment starts with: the state that is kept does not have them."""

    name = "variables"

    def look(self, place: Place) -> Iterator[Finding]:
        path = f"{place.shell.scratch}/variables"
        place.shell.session.run(f"cat /proc/self/environ > {path}", place.config.seconds)
        for item in (place.shell.read(path) or b"").split(b"\0"):
            name = item.partition(b"=")[0].decode("utf-8", "surrogateescape")
            if name in place.unset or not (told := place.told_by(item)):
                continue
            if place.told_by(_bytes(name)):  # it could be emptied, and would still be there
                yield Finding(self.name, "environment_variable", place.said(name), f"{told} in its name")
            else:
                yield Finding(self.name, "environment_variable", name, told, "unset", names=(name,))
