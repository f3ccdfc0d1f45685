"""Becomes a user who is not root, then opens, limits, keeps, closes sandboxes. Arguments: user id, place, repository.

A program of its own, for a test's process has threads and may not fork.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from environment_helpers import diff, rollout_of, small_task

from rubrics.environments.bubblewrap import Bubblewrap
from rubrics.environments.recipes import Places
from rubrics.environments.session import Limits, Session
from rubrics.environments.state import State

CALC = "def add(a, b):\n    return a - b\n\n\ndef zero():\n    return 0\n"
FIX = diff("calc.py", CALC, CALC.replace("a - b", "a + b"))


def main(user: int, place: Path, repository: Path) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    environment = Bubblewrap(Places(), Limits(disk=64 << 20), State(place / "state"))
    task = small_task(repository, recipe='{"base": "host"}')
    session = environment.open(task, rollout_of(task, FIX))
    assert session.rung == "repository+patch"
    assert b"a + b" in session.read("calc.py")
    assert session.run("exit 7", 20).exit_code == 7
    assert session.run("cat /proc/net/dev | tail -n +3 | grep -v lo:", 20).output == ""
    assert session.run(f"ls {place} || touch /usr/x", 20).exit_code != 0
    assert session.run("trap '' TERM; while :; do :; done", 1).limit == "time"
    assert session.run("python3 -c 'bytearray(3 << 30)'", 60).exit_code != 0
    session.run("mkdir -p in; echo x > in/report; chmod 000 in; truncate -s 3G big", 20)
    assert [fault(session, path) for path in ("in/report", "nothing", "tests", "big")] == [
        "PermissionError", "FileNotFoundError", "FileNotFoundError", "OSError"
    ]  # fmt: skip
    session.run("chmod 700 in; rm big", 20)
    assert session.run("unshare -U true", 20).exit_code != 0
    kept = environment.save(session, "somebody")
    session.close()
    assert environment.stands(kept, task)
    again = environment.open(task, None, saved=kept)
    assert (again.rung, b"a + b" in again.read("calc.py")) == ("prepared", True)
    again.close()
    filling = environment.open(task, None)
    assert filling.run("head -c 100000000 /dev/zero > big; sleep 1; :", 20).limit == "disk"
    filling.run("d=deep; for i in $(seq 300); do mkdir $d; cd $d; done; chmod 000 .", 60)
    filling.close()
    environment.close()
    assert list((place / "state" / "runs").iterdir()) == []


def fault(session: Session, path: str) -> str:
    """What reading says."""
    try:
        session.read(path, 1000)
    except OSError as error:
        return type(error).__name__
    return "none"


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
