"""A session may be opened in one thread and used in others.

A model's conversation does each piece of blocking work in a thread of its own. bubblewrap asks the kernel to end the
sandbox with its parent, and the kernel takes that for the thread that started it: the sandbox was killed as soon as the
thread that had opened it ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from environment_helpers import small_task

from rubrics.environments.session import Environment


def in_another_thread(work: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def test_a_session_outlives_the_thread_that_opened_it(environment: Environment, repository: Path) -> None:
    session = in_another_thread(lambda: environment.open(small_task(repository), None))
    try:
        for number in range(5):
            assert in_another_thread(lambda: session.run("cat calc.py", 60)).exit_code == 0, number
    finally:
        in_another_thread(session.close)
