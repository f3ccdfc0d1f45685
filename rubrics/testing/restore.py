"""Putting back what steers the tests: files of a rollout that a runner would read are made as they are at base."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rubrics.environments.session import Session
from rubrics.errors import InfraError
from rubrics.testing.steering import Steering, said_to_runners

SECONDS = 120.0
Fetch = Callable[[Iterable[str]], Mapping[str, bytes]]
"""Content of files at base."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What `Steering.find` printed of one state."""

    digests: Mapping[str, str] = field(default_factory=dict)
    """sha256 by path."""
    entries: frozenset[str] = frozenset()
    """Entries of the folders where imports start."""


def listing(session: Session, steering: Steering) -> Listing:
    """The files that may steer. Raises `InfraError` when they cannot be listed."""
    done = session.run(steering.find(), SECONDS)
    if done.limit is not None or done.exit_code != 0 or done.truncated:
        raise InfraError("steering", f"files that steer tests cannot be listed (exit code {done.exit_code})")
    digests, entries = {}, set()
    for line in done.output.splitlines():
        match = re.fullmatch(r"\\?([0-9a-f]{64}) [ *](.+)", line)
        if match:
            digests[posixpath.normpath(match[2])] = match[1]
        elif line.startswith("entry "):
            entries.add(posixpath.normpath(line.removeprefix("entry ")))
    return Listing(digests, frozenset(entries))


def put_back(session: Session, steering: Steering, base: Listing, keep: frozenset[str], fetch: Fetch) -> list[str]:
    """Make what steers as it is at base, but for `keep`; returns what was done, for the record."""
    now = listing(session, steering)
    changed = {path for path in now.digests if path not in keep and base.digests.get(path) != now.digests[path]}
    gone = {path for path in base.digests.keys() - now.digests.keys() if path not in keep}
    ours = {path for path in changed | gone if not (path in base.digests and steering.is_source(path))}
    known = fetch(sorted(path for path in ours if path in base.digests))
    done: list[str] = []
    removed = [path for path in sorted(now.entries - base.entries) if steering.shadows(path)]
    for path in sorted(ours):
        if steering.is_shared(path):
            content = _content(session, path) if path in changed else b""
            if content is not None and said_to_runners(path, content) == said_to_runners(path, known.get(path, b"")):
                continue
        if path in known:
            session.write(path, known[path])
            done.append(f"restored {path}")
        elif not steering.is_source(path):
            removed.append(path)
    if removed:
        session.run(f"rm -rf -- {' '.join(shlex.quote(path) for path in removed)}", SECONDS)
        done += [f"removed {path}" for path in removed]
    return done


def _content(session: Session, path: str) -> bytes | None:
    """Null where a rollout keeps its file from being read."""
    try:
        return session.read(path)
    except OSError:
        return None
