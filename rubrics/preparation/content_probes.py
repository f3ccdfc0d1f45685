"""Probes of contents: lines of reference and test patch in files and archives, other copies of the touched files."""

from __future__ import annotations

from collections.abc import Iterator

from rubrics.preparation.archives import NAMES, members
from rubrics.preparation.config import PROTECTED, UNSEEN
from rubrics.preparation.findings import PACKAGES, Finding, removal
from rubrics.preparation.guards import inside
from rubrics.preparation.place import Place
from rubrics.preparation.shell import quote

_MOST = 300
"""Files with answer lines that are looked at in one pass."""


class AnswerText:
    """Files anywhere that hold lines of the answer: hidden tests lying about, logs, patches, transcripts."""

    name = "answer_text"

    def look(self, place: Place) -> Iterator[Finding]:
        if place.answers.known_at_base():
            detail = f"{place.answers.at_base} lines of the answer stand at base; check base_commit"
            yield Finding(self.name, "answer_at_base", place.top, detail)
        if not place.answers:
            return
        found = [*_with_answers(place, self._roots(place), place.config.text_bytes), *self._in_system(place)]
        at_base = place.at_base(found)
        for path in [name for name in found if not place.kept_by_config(name)]:
            matched = place.shell.run(f"{_grep(place)} -o -h {quote(path)} | sort -u | head -n 200")
            count = place.answers.seen_in(matched.output)
            if count and path in at_base:
                yield Finding(self.name, "changed_file", place.top, f"{path}: {count} lines of the answer", "rebuild")
            elif count:
                yield judged(place, self.name, "answer_text", path, f"{count} lines of the answer")

    def _roots(self, place: Place) -> list[str]:
        """What lies directly below the root, folders of the system left out."""
        system = {place.config.below(name) for name in PROTECTED}
        below = place.shell.names(f"find {quote(place.config.root)} -mindepth 1 -maxdepth 1 -print0")
        return [path for path in (name.replace("//", "/") for name in below) if path not in system]

    def _in_system(self, place: Place) -> list[str]:
        """Searched once: scrubbing only takes away from folders of the system."""
        if place.in_system is None:
            roots = place.shell.existing(place.config.below(name) for name in PROTECTED if name not in UNSEEN)
            place.in_system = _with_answers(place, roots, place.config.system_bytes)
        return place.shell.existing(place.in_system)


def _grep(place: Place) -> str:
    return f"grep -a -F {place.answers.arguments()}"


def _with_answers(place: Place, roots: list[str], most: int) -> list[str]:
    """Files below the roots in which at least one answer line stands."""
    folders = [f"{item.folder}/objects" for item in place.repositories]
    unseen = [*(place.config.below(name) for name in UNSEEN), place.shell.scratch, *folders]
    pruned = " -o ".join(f"-path {quote(path)}" for path in unseen)
    if not roots:
        return []
    return place.shell.names(
        f"find {' '.join(quote(path) for path in roots)} \\( {pruned} \\) -prune -o"
        f" -type f -size +0 -size -{most // 512 + 1} -exec {_grep(place)} -l {{}} +"
        f" | sort -u | head -n {_MOST} | tr '\\n' '\\0'"
    )


class AnswerCopies:
    """Copies of the files that the reference touches, elsewhere and with other content than base's."""

    name = "answer_copies"

    def look(self, place: Place) -> Iterator[Finding]:
        for touched in [path for path in place.answers.paths if "/" in path]:
            tail = "/".join(touched.split("/")[-2:])
            ours = f"{place.top}/{touched}"
            found = place.search(f"-type f -path {quote('*/' + tail)}")
            for path in place.besides_base(path for path in found if not any(part in path for part in PACKAGES)):
                if path != ours and place.shell.run(f"cmp -s {quote(path)} {quote(ours)}").exit_code != 0:
                    yield judged(place, self.name, "source_copy", path, f"differs from {touched}")


class Archives:
    """Archives that hold the repository, its package, or lines of the answer."""

    name = "archives"

    def look(self, place: Place) -> Iterator[Finding]:
        tests = " -o ".join(f"-name {quote(name)}" for name in NAMES)
        limit = f"-size -{place.config.archive_bytes // 512 + 1}"
        system = [place.config.below(name) for name in PROTECTED]
        found = place.search(f"-type f {limit} \\( {tests} \\)")
        paths = place.besides_base(path for path in found if not any(inside(path, folder) for folder in system))
        if len(paths) > place.config.archives:
            place.notes.append(f"{len(paths)} archives, {place.config.archives} opened; raise `archives`")
        for path in paths[: place.config.archives]:
            detail = read_archive(place, place.shell.read(path) or b"")
            if detail:
                yield judged(place, self.name, "archive", path, detail)


def read_archive(place: Place, data: bytes) -> str:
    """Why an archive gives the answer away; empty when it does not, or is none."""
    tails = tuple("/" + path for path in place.answers.paths if "/" in path)
    modules = tuple(f"{name.replace('-', '_').lower()}/__init__.py" for name in place.published.python)
    try:
        for name, content in members(data):
            if "/.git/" in f"/{name}" or name.endswith(".git"):
                return "a repository inside"
            if f"/{name}".endswith(tails or ("\0",)) or name.lower().endswith(modules or ("\0",)):
                return "the repository's own files inside"
            if place.answers and place.answers.seen_in(content.decode("utf-8", "replace")):
                return "lines of the answer inside"
    except ValueError as error:
        if "more than" in str(error):
            place.notes.append(f"an archive {error}")
    return ""


def judged(place: Place, probe: str, kind: str, path: str, detail: str) -> Finding:
    """Files of the system are for a person to judge; everything else is to be removed."""
    system = any(inside(path, place.config.below(name)) for name in PROTECTED)
    added = any(part in path for part in (*PACKAGES, "/share/doc/", "/local/"))
    if system and not added:
        return Finding(probe, kind, path, detail)
    return removal(probe, kind, path, detail)
