"""What an exception becomes at the command line: one line, an exit code, and for a fault a file with the details.

| what was raised | exit code |
|---|---|
| a `RubricsError`, a wrong word on the command line, a file or disk that does not serve | 2 |
| anything else: a fault of this program or of a library it uses | 3 |
| Ctrl-C, SIGTERM | 130 |
| the reader of our output has gone away | 141, and no line |
"""

from __future__ import annotations

import errno
import os
import platform
import shlex
import sys
import tempfile
import traceback
from typing import NamedTuple

import click

from rubrics import __version__
from rubrics.errors import RubricsError
from rubrics.models.exceptions import secrets_of
from rubrics.models.failures import scrub
from rubrics.visible import one_line, shortened

STOPPED = "stopped; the store holds what the stages before had finished, and the same command goes on from there"
LONGEST = 2_000
"""Characters of a library's own words that are shown."""
_SENTENCES = {
    errno.ENOSPC: "no space is left on this disk; free some, or name a place on another one",
    errno.EDQUOT: "your quota on this disk is used up; free some of it, or name a place on another one",
    errno.EROFS: "this file system is read-only; name a place that can be written to",
    errno.EACCES: "you have no permission for this; change its mode or owner, or name another place",
    errno.EPERM: "this is not permitted here; change its mode or owner, or name another place",
    errno.ENOENT: "no such file or folder; name one that is there",
    errno.EISDIR: "this is a folder where a file is wanted; name a file",
    errno.ENOTDIR: "a file stands where a folder is wanted; name another place",
    errno.EEXIST: "something of this name is there already; move it away, or name another place",
    errno.ENOTEMPTY: "this folder is not empty; empty it, or name another one",
    errno.ENAMETOOLONG: "this name is too long for the file system; take a shorter one",
    errno.ELOOP: "these links lead back to themselves; mend them, or name the file itself",
    errno.ENXIO: "this is a device or socket that nothing serves; name a regular file",
    errno.EMFILE: "too many files are open at once; raise the limit (ulimit -n), or lower --workers",
    errno.ENFILE: "too many files are open on this machine; close other programs, and try again",
    errno.EFBIG: "this file may not grow any further; raise the limit (ulimit -f), or name another file system",
    errno.EIO: "the device reports a fault of input or output; look at its health, and restore from a copy",
    errno.EBUSY: "something else is using this; try again when it is free",
    errno.ENOMEM: "the machine has not enough free memory; lower --workers, or take a larger machine",
    errno.ETXTBSY: "this program is running; end it first",
}  # fmt: skip


class Told(NamedTuple):
    line: str
    """Empty: nothing is said."""
    code: int


def told(error: BaseException, words: list[str]) -> Told:
    """The line and the exit code of an exception that ended the command `words`. Writes a file for a fault."""
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return Told(STOPPED, 130)
    if isinstance(error, BrokenPipeError):
        return Told("", 141)
    if isinstance(error, click.ClickException):
        return Told(_usage(error), 2)
    if isinstance(error, RubricsError):
        return Told(_noted(str(error), error), 2)
    if isinstance(error, OSError) and error.errno is not None:
        return Told(_noted(os_sentence(error), error), 2)
    if isinstance(error, MemoryError):
        return Told(_noted(_SENTENCES[errno.ENOMEM], error), 2)
    return Told(_noted(_fault(error, words), error), 3)


def _noted(line: str, error: BaseException) -> str:
    """The line, and what was noted on the way: which chunk of which stage it was, what is kept."""
    notes = getattr(error, "__notes__", ())
    return "; ".join([line, *(shortened(one_line(scrub(note, secrets_of(None, os.environ))), 400) for note in notes)])


def os_sentence(error: OSError) -> str:
    """What the operating system said of a file, with the file's name and what to do."""
    said = _SENTENCES.get(error.errno or 0)
    if said is None:
        said = f"{error.strerror or error}; name another place, or mend this one"
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    return f"{' -> '.join(map(one_line, names)) or 'a file of this command'}: {said}"


def _usage(error: click.ClickException) -> str:
    """What is wrong, and where the right way stands."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    place = f" `{context.command_path} --help` says what may stand there" if context else ""
    return " ".join(error.format_message().split()) + place


def _fault(error: BaseException, words: list[str]) -> str:
    """One line; the whole trace goes into a file that only this user reads."""
    said = shortened(one_line(f"{type(error).__name__}: {error}"), 200)
    about = f"rubrics {__version__}, Python {platform.python_version()}, {sys.platform}\n{shlex.join(words)}\n\n"
    secrets = secrets_of(None, os.environ)
    said, details = (scrub(text, secrets) for text in (said, about + "".join(traceback.format_exception(error))))
    try:
        with tempfile.NamedTemporaryFile("w", prefix="rubrics-fault-", suffix=".txt", delete=False) as file:
            file.write(details)
        where = f"the details are in {file.name}"
    except OSError as full:
        where = f"the details could not be written ({os_sentence(full)})"
    return f"a fault of this program or of a library it uses: {said}; {where}; please report it with that file"
