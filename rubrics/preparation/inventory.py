"""What lies in an environment: every path with its kind, size and target; and contents of files, many at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from posixpath import basename

from rubrics.errors import InfraError
from rubrics.preparation.shell import Shell, quote

BATCH = 24 << 20
"""Bytes of contents that are read out of the environment at once."""
_KINDS = {0o100000: "f", 0o040000: "d", 0o120000: "l"}


@dataclass(frozen=True, slots=True)
class Entry:
    path: str
    kind: str
    """As `find` says: `f` a file, `d` a folder, `l` a link, others."""
    size: int
    stamp: str
    """Inode and time of change: equal as long as nothing was done to it."""
    target: str = ""
    """Of a link: what it points to."""

    @property
    def name(self) -> str:
        return basename(self.path)


def inventory(shell: Shell, root: str, pruned: Iterable[str]) -> list[Entry]:
    """Everything below the root but what lies in pruned folders, by path. Raises `InfraError` when it is not listed."""
    skipped = " -o ".join(f"-path {quote(path)}" for path in pruned)
    start = f"find {quote(root)} -mindepth 1 \\( {skipped} \\) -prune -o"
    if shell.run("find / -maxdepth 0 -printf ''").exit_code == 0:
        words = _words(shell.whole(f"{start} -printf '%y\\0%s\\0%i %C@\\0%p\\0%l\\0'"))
        rows: Iterable[tuple[str, ...]] = zip(*[iter(words)] * 5, strict=False)
    else:  # a small `find`, as that of busybox
        names = _words(shell.whole(f"{start} -print0"))
        rows = _facts(shell, root, names)
    entries = [
        Entry(path.replace("//", "/"), kind, int(size), stamp, target) for kind, size, stamp, path, target in rows
    ]
    return sorted(entries, key=lambda entry: entry.path)


def _facts(shell: Shell, root: str, names: list[str]) -> Iterator[tuple[str, ...]]:
    rows = [row.split(" ", 3) for row in _words(shell.whole("xargs -0 stat -c '%f %s %i %Z' | tr '\\n' '\\0'", names))]
    if len(names) != len(rows):
        raise InfraError("preparation", f"{root}: {len(names)} paths, but facts of {len(rows)}; try again")
    kinds = [_KINDS.get(int(row[0], 16) & 0o170000, "?") for row in rows]
    links = [name for name, kind in zip(names, kinds, strict=True) if kind == "l"]
    read = 'xargs -0 sh -c \'for f; do readlink "$f"; printf "\\0"; done\' x'
    targets = dict(zip(links, _words(shell.whole(read, links)) if links else [], strict=False))
    for name, kind, row in zip(names, kinds, rows, strict=True):
        yield kind, row[1], " ".join(row[2:]), name, targets.get(name, "").removesuffix("\n")


def _words(data: Iterable[bytes]) -> list[str]:
    return [word.decode("utf-8", "surrogateescape") for word in b"".join(data).split(b"\0")[:-1]]


def contents(shell: Shell, entries: Sequence[Entry], most: int) -> Iterator[tuple[Entry, bytes | None]]:
    """The first `most` bytes of every file, in batches; null for a file that cannot be read."""
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += min(entry.size, most) + len(entry.path)
        if size > BATCH:
            yield from _batch(shell, batch, most)
            batch, size = [], 0
    if batch:
        yield from _batch(shell, batch, most)


def _batch(shell: Shell, batch: list[Entry], most: int) -> Iterator[tuple[Entry, bytes | None]]:
    """`head` puts a header with the name before each file that it could open, and none before the others."""
    data = b"".join(shell.whole(f"xargs -0 head -v -c {most} --", [entry.path for entry in batch]))
    place = 0
    for entry in batch:
        header = b"==> " + entry.path.encode("utf-8", "surrogateescape") + b" <==\n"
        begin = next((at + len(header) for at in (place, place + 1) if data.startswith(header, at)), None)
        if begin is None:
            yield entry, None
            continue
        place = begin + min(entry.size, most)
        yield entry, data[begin:place]


def matching(globs: Iterable[str], ignore_case: bool = False) -> Callable[[str], bool]:
    """Whether a text satisfies one of the globs, in which `*` stands for any characters."""
    pattern = "|".join(translate(glob) for glob in globs)
    found = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    return lambda text: bool(pattern) and found.match(text) is not None
