"""What a model claims to have found, checked in code: only what the environment itself proves becomes a finding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import dirname, join, normpath

from rubrics.preparation.config import UNSEEN
from rubrics.preparation.findings import Finding, inside
from rubrics.preparation.packages import newer
from rubrics.preparation.place import Place
from rubrics.preparation.remedies import remedied
from rubrics.preparation.repository import measure
from rubrics.preparation.shell import quote
from rubrics.records.judgements import Ran
from rubrics.replies.probes import Route
from rubrics.visible import one_line

FILE_BYTES = 8_000_000
"""Larger files are not read: a claim of one stays a note."""
FILES = 100
"""Files of a claimed folder that are read."""
_OBJECT = re.compile(r"[0-9a-f]{7,64}")
_STARTED_WITH = re.compile(r"/proc/\d+/(environ|cmdline)$")
_VERSION = re.compile(r"^(?:Version:|__version__\s*=)\s*[\"']?([0-9][\w.+!-]*)", re.MULTILINE)
_NAME = re.compile(r"^Name:\s*(\S+)", re.MULTILINE)


def standing_there(place: Place, probe: str, claim: Route, since: int) -> list[Finding]:
    """What the claim proves to be of what stands in the environment now; nothing when it proves nothing.

    `since`: seconds of the environment's clock; what changed later is the probe's own doing. 0: it worked elsewhere.
    """
    found = list(_objects(place, probe, claim.place))
    path = None if found else _path(place, claim.place)
    if path is not None:
        found = list(_files(place, probe, path, since))
    return found or (list(_network(place, probe)) if claim.kind == "network" else [])


def printed_by(place: Place, probe: str, claim: Route, ran: Sequence[Ran]) -> list[Finding]:
    """The same of what the cited commands printed: lines of the answer that nobody had typed. How is for a person."""
    typed = "\n".join(item.command for item in ran)
    found = []
    for pointer in claim.evidence:
        count = place.answers.seen_in(ran[int(pointer.place.removeprefix("run:"))].output)
        if count and not place.answers.seen_in(typed):
            where = "" if place.answers.seen_in(claim.place) else f"; said to be in {one_line(claim.place)}"
            detail = f"a command printed {count} lines of the answer{where}"
            found.append(Finding(probe, "answer_printed", pointer.place, detail))
    return found


def _objects(place: Place, probe: str, name: str) -> Iterator[Finding]:
    """An object that base does not reach, in a repository that stays."""
    if not _OBJECT.fullmatch(name):
        return
    for repository in place.repositories:
        measure(place.shell, repository, place.config.keep_tags)
        if place.shell.run(f"grep -q '^{name}' $S/beyond").exit_code == 0:
            yield Finding(probe, "git_object", repository.folder, f"{name} is beyond base", "rebuild")


def _path(place: Place, name: str) -> str | None:
    """The path, if it is there and below the root; links are taken as they are."""
    if not name or "\0" in name or len(name) > 4_000:
        return None
    path = normpath(join(place.workdir, name))
    root = place.config.root.rstrip("/") or "/"
    below = inside(path, root) and path != root and not inside(path, place.shell.scratch)
    return path if below and place.shell.exists(path) else None


def _files(place: Place, probe: str, path: str, since: int) -> Iterator[Finding]:
    """Files at or below the path that hold lines of the answer or a later release, unchanged since the probe began."""
    size = f"-size -{FILE_BYTES // 512 + 1}"
    listed = place.shell.names(f"find -H {quote(path)} -type f {size} -print0 | head -c 200000")
    for file in [item for item in listed[:FILES] if _readable(place, item)]:
        changed = place.shell.run(f"stat -c %Z {quote(file)}").output.strip()
        if since and changed.isdigit() and int(changed) > since:
            continue
        content = place.shell.read(file)
        if content is None:
            continue
        if told := place.answers.told_by(content):
            yield from remedied(place, probe, "answer_text", file, told)
        elif released := _released(place, content.decode("utf-8", "replace")):
            yield from remedied(place, probe, "newer_release", dirname(file), released)


def _readable(place: Place, path: str) -> bool:
    """Of the kernel's own files only what a process was started with: reading others may wait for ever."""
    unseen = any(inside(path, place.config.below(name)) for name in UNSEEN)
    return not place.kept_by_config(path) and (not unseen or _STARTED_WITH.search(path) is not None)


def _released(place: Place, text: str) -> str:
    """What a file of metadata says of a later release of the repository's own package."""
    own, version, name = place.published.version, _VERSION.search(text), _NAME.search(text)
    names = {re.sub(r"[-_.]+", "-", item).lower() for item in place.published.names}
    if not (own and version and name) or re.sub(r"[-_.]+", "-", name[1]).lower() not in names:
        return ""
    return f"{version[1]} is after the repository's {own}" if newer(version[1], own) else ""


def _network(place: Place, probe: str) -> Iterator[Finding]:
    """A route out, other than to itself."""
    routes = place.shell.run("tail -n +2 /proc/net/route; grep -v ' lo$' /proc/net/ipv6_route").output.split("\n")
    if any(line.strip() for line in routes) and place.config.root == "/":
        yield Finding(probe, "network", "/proc/net/route", "a network can be reached")
