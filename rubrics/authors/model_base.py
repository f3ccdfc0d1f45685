"""What stands at base: asked of a session that nobody works in, and kept, so that it is asked once."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from posixpath import normpath

from rubrics.authors.lint_ground import collapsed
from rubrics.environments.session import Session

SECONDS = 60.0
"""Seconds that one look may take."""


class Base:
    """The repository at base, or nothing of it. Not for several threads."""

    def __init__(self, open_session: Callable[[], Session] | None, known: Mapping[str, bool] | None = None) -> None:
        """`known`: answers of an earlier look; with all of them there nothing is opened."""
        self._open = open_session
        self._stack = ExitStack()
        self._session: Session | None = None
        self.answers: dict[str, bool] = dict(known or {})
        """What was asked so far, and the answers."""

    def line(self, path: str, number: int, quote: str) -> bool:
        """Whether the file below the repository's folder has the line, and the quote's first line stands on it."""
        if path.startswith("/") or normpath(path).startswith(".."):
            return False
        return self._answer(f"line {number} of {path}: {quote}", lambda session: _line(session, path, number, quote))

    def name(self, name: str) -> bool:
        """Whether some file holds the name as a whole word, or bears it as its path.

        A search that takes too long says yes: it proves no accident.
        """
        return self._answer(f"name {name}", lambda session: _name(session, name))

    def open(self) -> Session | None:
        """Open the session now, unless it is; null where there is nothing to open. Raises `InfraError`."""
        if self._session is None and self._open is not None:
            self._session = self._stack.enter_context(closing(self._open()))
        return self._session

    def close(self) -> None:
        self._stack.close()

    def _answer(self, key: str, look: Callable[[Session], bool]) -> bool:
        if key not in self.answers:
            session = self.open()
            if session is None:
                return False
            self.answers[key] = look(session)
        return self.answers[key]


def _line(session: Session, path: str, number: int, quote: str) -> bool:
    name = shlex.quote(f"./{path}")
    done = session.run(f"[ -f {name} ] && sed -n '{number}{{p;q}}' < {name} | head -c 4000", SECONDS)
    found, wanted = collapsed(done.output), collapsed(quote.strip().partition("\n")[0])
    if done.exit_code != 0 or not done.output:
        return False
    return wanted in found


def _name(session: Session, name: str) -> bool:
    if "\n" in name or "\0" in name:
        return False
    path, word = shlex.quote(f"./{name}"), shlex.quote(name)
    command = f"[ -e {path} ] || grep -rIFwqs --exclude-dir=.git -e {word} -- ."
    return session.run(command, SECONDS).exit_code in (0, None)
