"""Probes of contents: the answer, in any form, in every file; and other copies of the files that it touches.

The environment's own `grep` reads every file for traces of the answer in any common form. What it finds, what it cannot
read (whatever is packed or no text), and small files that belong to nobody are read here, with every form undone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import basename, dirname

from rubrics.preparation.answers import told
from rubrics.preparation.config import PROTECTED
from rubrics.preparation.containers import COMMITS, repository_inside
from rubrics.preparation.decoding import readings
from rubrics.preparation.encodings import is_text
from rubrics.preparation.findings import PACKAGES, Finding, inside
from rubrics.preparation.inventory import Entry, contents
from rubrics.preparation.place import Place
from rubrics.preparation.rebuild import changed
from rubrics.preparation.remedies import remedied
from rubrics.preparation.shell import quote, variable
from rubrics.preparation.traces import PACKED_TRACES

HEAD = 64
"""Bytes by which the form of a file is told."""
LOOSE, LOOSE_TOTAL = 256_000, 64_000_000
"""Bytes of a file that is read here whatever it is, if it belongs to nobody; and of all of them."""
BUNDLE = "commits in one file"
_LIBRARIES = (
    *PACKAGES, "/lib/python", "/pkg/mod/", "/registry/src/", "/.m2/", "/gems/", "/rustlib/", "/var/lib/dpkg/",
    "/var/lib/apt/", "/apt/archives/",
)  # fmt: skip
_DULL = re.compile(
    rb"\x7fELF|\x89PNG|\xff\xd8\xff|GIF8|RIFF|OggS|wOF[F2]|OTTO|ttcf|\x00\x01\x00\x00\x00|\x00\x00[\x01\x02]\x00|MZ|%PDF|TZif"
    rb"|[\xca\xfe\xcf][\xfe\xed\xfa][\xba\xed\xfa][\xbe\xfe\xce\xcf]|!<arch>\n(?!debian)|\xde\x12\x04\x95|\x95\x04\x12\xde"
    rb"|[\x1a\x1e][\x01\x02]|..\r\n[\x00-\x03]\x00\x00\x00|BC\xc0\xde|\x00asm",
    re.DOTALL,
)
"""Programs, pictures, fonts, catalogues of messages, compiled Python: `grep` reads what they say."""


_PACKAGE = re.compile(rb"!<arch>\ndebian-binary")


class Contents:
    """Files anywhere that hold the answer: hidden tests, logs, patches, transcripts, archives, databases."""

    name = "contents"

    def look(self, place: Place) -> Iterator[Finding]:
        if place.answers.known_at_base():
            detail = f"{place.answers.at_base} lines of the answer stand at base; check base_commit"
            yield Finding(self.name, "answer_at_base", place.top, detail)
        files = list(_files(place))
        known = {entry.path for entry in files}
        for book in (place.looked, place.left):
            for path in [path for path in book if path.startswith("/") and path not in known]:
                del book[path]
        fresh = [entry for entry in files if place.looked.get(entry.path, ("",))[0] != entry.stamp]
        for entry, said in _read(place, fresh):
            place.looked[entry.path] = (entry.stamp, said)
        for entry in files:
            said = place.looked[entry.path][1]
            if said:
                yield from remedied(place, self.name, kind_of(said), entry.path, said)


def _files(place: Place) -> Iterator[Entry]:
    """Files with something in them, but those of base that are as base has them, and the object stores that stay."""
    unchanged: set[str] = set()
    stores = place.stores()
    for item in place.repositories:
        if item.own and item.top:
            differing = {f"{item.top}/{name}" for name in changed(place.shell, item)}
            unchanged |= place.base_of(item)[0] - differing
    for entry in place.entries.values():
        stays = entry.path in unchanged or entry.path.startswith(stores)
        if entry.kind == "f" and entry.size and not stays:
            yield entry


def _read(place: Place, files: list[Entry]) -> Iterator[tuple[Entry, str]]:
    """What every file says of the answer; empty for nothing."""
    heads = dict(contents(place.shell, files, HEAD))
    of_system = {entry for entry in files if "/apt/archives/" in entry.path and _PACKAGE.match(heads[entry] or b"")}
    opaque = [entry for entry in files if _opaque(heads[entry] or b"") and entry not in of_system]
    plain = [entry for entry in files if not _opaque(heads[entry] or b"") and entry not in of_system]
    for entry in of_system:  # they are known by their names, see `OwnArchives`
        place.left[entry.path] = ("packages of the system, by their names", entry.size)
        yield entry, ""
    traces = place.answers.traces().split(b"\n") if place.answers else []
    traced = _grep(place, opaque, traces) | _grep(place, plain, [*PACKED_TRACES, *traces])
    chosen, loose, least = list(opaque), 0, min(LOOSE, place.config.archive_bytes, place.config.text_bytes)
    for entry in sorted(plain, key=lambda item: item.size):
        head = heads[entry]
        if head is None:
            place.left[entry.path] = ("cannot be read", entry.size)
        elif COMMITS.match(head) is not None:
            yield entry, BUNDLE
            continue
        elif entry.path in traced:
            chosen.append(entry)
            continue
        elif entry.size <= least and loose + entry.size <= LOOSE_TOTAL and not _belongs(place, entry.path):
            loose += entry.size
            chosen.append(entry)
            continue
        yield entry, ""
    yield from _opened(place, chosen, traced)


def _belongs(place: Place, path: str) -> bool:
    """Whether a file lies in a folder of the system or of installed packages."""
    system = any(inside(path, place.config.below(name)) for name in PROTECTED) and "/local/" not in path
    return system or _in_package(path)


def _opaque(head: bytes) -> bool:
    return _DULL.match(head) is None and not is_text(head)


def _grep(place: Place, files: list[Entry], patterns: Sequence[bytes]) -> set[str]:
    """Files in which `grep` finds one of the patterns, and those that it cannot name; what is too large is noted."""
    small = []
    for entry in files:
        system = place.in_system(entry.path)
        most = place.config.system_bytes if system else place.config.text_bytes
        if entry.size <= most:
            small.append(entry)
        else:
            where = " in a folder of the system" if system else ""
            place.left[entry.path] = (f"larger than {most:,} bytes{where}", entry.size)
    if not small or not patterns:
        return set()
    script = variable("P", b"\n".join(patterns)) + 'xargs -0 grep -a -l -F -e "$P" -- | tr "\\n" "\\0"'
    names = b"".join(place.shell.whole(script, [entry.path for entry in small])).split(b"\0")
    odd = {entry.path for entry in small if "\n" in entry.path}
    return odd | {name.decode("utf-8", "surrogateescape") for name in names}


def _opened(place: Place, chosen: list[Entry], traced: set[str]) -> Iterator[tuple[Entry, str]]:
    """What files say that are read here: those with a trace first, then small ones first, as far as there is room."""
    room = place.config.opened_bytes
    wanted = []
    for entry in sorted(chosen, key=lambda item: (item.path not in traced, item.size)):
        if entry.size > place.config.archive_bytes:
            place.left[entry.path] = (
                f"packed or no text, and larger than {place.config.archive_bytes:,} bytes",
                entry.size,
            )
            yield entry, _by_grep(place, entry.path) if entry.path in traced else ""
        elif entry.size > room:
            place.left[entry.path] = (
                f"packed or no text, beyond {place.config.opened_bytes:,} bytes in all",
                entry.size,
            )
            yield entry, ""
        else:
            room -= entry.size
            wanted.append(entry)
    for entry, data in contents(place.shell, wanted, place.config.archive_bytes):
        yield entry, "" if data is None else read(place, entry, data, entry.path in traced)


def read(place: Place, entry: Entry, data: bytes, traced: bool) -> str:
    """Why a file gives the answer away; empty when it does not. What of it could not be read is noted.

    Of a file of the system or of a package, in which no trace was found, only what is packed is looked at.
    """
    own = tuple("/" + path for path in place.answers.paths if "/" in path)
    own += tuple(f"/{name.replace('-', '_').lower()}/__init__.py" for name in place.published.python)
    unopened: set[str] = set()
    for reading in readings(data, unopened, packed=not traced and _belongs(place, entry.path)):
        if reading.how and repository_inside(reading.name, reading.data):
            return "a repository inside"
        if reading.name and own and f"/{reading.name}".lower().endswith(own):
            return "the repository's own files inside"
        if count := place.answers.seen_in(reading.data) or place.answers.seen_in(reading.name):
            return told(count, reading.how)
    if unopened:
        place.left[entry.path] = (f"packed, and {sorted(unopened)[0]}", entry.size)
    return ""


def _by_grep(place: Place, path: str) -> str:
    """The lines as they are, in a file that is too large to be read here."""
    script = f'{variable("P", place.answers.lines())}grep -a -F -o -h -e "$P" -- {quote(path)} | sort -u | head -n 200'
    count = place.answers.seen_in(place.shell.run(script).output)
    return told(count, "") if count else ""


def kind_of(said: str) -> str:
    """The kind of a finding by what was seen."""
    return "git_bundle" if said == BUNDLE else "archive" if said.endswith("inside") else "answer_text"


class AnswerCopies:
    """Copies of the files that the reference touches, elsewhere and with other content than base's."""

    name = "answer_copies"

    def look(self, place: Place) -> Iterator[Finding]:
        for touched in [path for path in place.answers.paths if "/" in path]:
            ours = f"{place.top}/{touched}"
            folder, _, name = touched.rpartition("/")
            stem, parent = name.removesuffix(".py"), basename(folder)
            compiled = [f"*/{parent}/__pycache__/{stem}.*.pyc", f"*/{parent}/{stem}.pyc"] if stem != name else []
            found = place.found(f"*/{parent}/{name}", *compiled, kind="f")
            elsewhere = place.besides_base(path for path in found if path != ours and not _in_package(path))
            for path in elsewhere:
                if _is_copy(place, path, ours):
                    yield from remedied(place, self.name, "source_copy", path, f"a copy of {touched}, not as at base")


def _in_package(path: str) -> bool:
    return any(part in path for part in _LIBRARIES)


def _is_copy(place: Place, path: str, ours: str) -> bool:
    """Whether a file has much in common with ours and is not the same; of a compiled one, whether its source has."""
    if path.endswith(".pyc"):
        folder = dirname(path).removesuffix("/__pycache__")
        source = f"{folder}/{basename(ours)}"
        return source not in place.entries or _is_copy(place, source, ours)
    theirs, own = place.shell.read(path), place.shell.read(ours)
    if theirs is None or own is None or theirs == own:
        return False
    return shared(theirs, own)


def shared(one: bytes, other: bytes) -> bool:
    """Whether two files share a third of the lines of the shorter that say something."""
    first, second = ({line.strip() for line in data.splitlines() if len(line.strip()) >= 12} for data in (one, other))
    return len(first & second) * 3 >= max(1, min(len(first), len(second)))
