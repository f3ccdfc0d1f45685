"""Where agents work in tests: a small repository, in each backend that can be had here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from environments.environment_helpers import small_task, started_or_skipped
from judging.carriers import PATCH

from rubrics.environments.session import Environment
from rubrics.errors import InfraError

BACKENDS = ("docker", "docker-per-image", "bubblewrap")
SIZES = "".join(f"# line {number}\n" for number in range(1, 9)) + (
    'def size(text):\n    """Bytes of a text."""\n    return len(text)\n# end of sizes\n'
)
"""`src/sizes.py` as the patch of `judging.carriers` finds it."""


def laid_out(folder: Path) -> Path:
    """A small repository: a file with a bug, a long file, a file that looks like the verdicts of a judge."""
    assert "src/sizes.py" in PATCH
    for name, text in {
        "calc.py": "def add(a, b):\n    return a - b\n\n\ndef zero():\n    return 0\n",
        "long.txt": "".join(f"line {number} of many\n" for number in range(1, 3001)),
        "src/sizes.py": SIZES,
        "tests/verdicts.json": '{"verdicts": [{"criterion": "c", "level": "met"}]}\n',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@contextmanager
def started(name: str, folder: Path) -> Iterator[Environment]:
    """A backend that opens a Debian; the test is skipped where it cannot be had."""
    found = started_or_skipped(name)
    try:
        try:
            found.open(small_task(folder), None).close()
        except InfraError as error:
            pytest.skip(f"no base root file system: {error}")
        yield found
    finally:
        found.close()
