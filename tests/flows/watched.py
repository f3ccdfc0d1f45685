"""The command `rubrics`, watched: its steps in a folder are counted, and it is killed just before one of them.

A step is what others can see: a file opened for writing, renamed or removed, a folder made or removed, a process
started, a connection made. What is put in place by a new name, and the number of steps, are written to a log. Variables
say the rest: WATCHED_FOLDER, WATCHED_LOG, WATCHED_STEP (0: it is not killed), WATCHED_GROUP (1: its whole process group
is killed).
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from itertools import count
from typing import Any

FOLDER, STEP, GROUP = os.environ["WATCHED_FOLDER"], int(os.environ["WATCHED_STEP"]), os.environ["WATCHED_GROUP"] == "1"
CHUNK = 40
"""Rollouts per chunk, so that a few hundred make several; the command has no option for it."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_ON_PATHS = frozenset(("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"))
_ELSEWHERE = frozenset(("subprocess.Popen", "socket.connect", "sqlite3.connect"))


def watch(dies: bool) -> None:
    """Watch this process. Only the first one counts steps: those that it starts end with it."""
    log = os.open(os.environ["WATCHED_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    steps = count(1)

    def hook(event: str, given: tuple[Any, ...]) -> None:
        if event not in _ELSEWHERE and not (event in _ON_PATHS and _changes(event, given)):
            return
        if dies and next(steps) == STEP:
            os.kill(0 if GROUP else os.getpid(), signal.SIGKILL)
        if event == "os.rename":
            os.write(log, f"renamed {os.fspath(given[1])}\n".encode())

    sys.addaudithook(hook)
    if dies:
        atexit.register(lambda: os.write(log, f"steps {next(steps)}\n".encode()))


def _changes(event: str, given: tuple[Any, ...]) -> bool:
    """Whether it changes something in the folder."""
    if not isinstance(given[0], str | os.PathLike) or not os.fspath(given[0]).startswith(FOLDER):
        return False
    return event != "open" or bool((given[2] or 0) & _WRITING)


def main() -> None:
    from rubrics.cli import local
    from rubrics.cli.main import main as command

    whole = local.run_local
    local.run_local = lambda flow, options: whole(flow, {**options, "chunk": CHUNK})
    command()


watch(dies=__name__ == "__main__")
if __name__ == "__main__":
    main()
