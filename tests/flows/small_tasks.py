"""A task set as a dump: tiny repositories with a wrong sum, hidden tests in three lines of shell, scripted attempts."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from environments.environment_helpers import tiny_root

BASE = '"""Sums of shop {number}."""\n\n\ndef add(a, b):\n    return a - b\n\n\ndef zero():\n    return 0\n'
CHECK = """echo 1..2
case "$(cat sums.py)" in *'return a + b'*) echo "ok 1 - adds";; *) echo "not ok 1 - adds";; esac
case "$(cat sums.py)" in *'return 0'*) echo "ok 2 - zero";; *) echo "not ok 2 - zero";; esac
"""
SPEC = """The sum of two prices is wrong in shop {number}.

Adding 2 and 3 has to give 5, and zero stays what it is today.
"""
PROGRAMS = ("git", "xargs", "readlink", "rmdir", "tail", "tr", "wc", "grep", "sort", "stat", "mktemp", "base64")
"""What a patch takes to be applied, and an environment to be prepared for an author."""
CHANGES = (
    "    return a + b\n",
    "    # Prices are added.\n    return a + b\n",
    "    return a * b\n",
    '    print("DEBUG", a, b)\n    return a + b\n',
    "    return b - a\n",
    "    if a is None:\n        raise ValueError('no price')\n    return a + b\n",
)
"""What attempts make of the wrong line; four of the six are right."""


def write_tasks(folder: Path, tasks: int, attempts: int) -> Path:
    """A dump of native rows, `rows.jsonl`, beside the repositories and the root file system that it names."""
    tiny_root(folder / "root", PROGRAMS)
    with (folder / "rows.jsonl").open("w", encoding="utf-8") as file:
        for number in range(tasks):
            for row in _rows(folder, number, attempts):
                file.write(json.dumps(row) + "\n")
    return folder / "rows.jsonl"


def _rows(folder: Path, number: int, attempts: int) -> Iterator[dict[str, Any]]:
    repository, task_id, base = folder / f"shop-{number:02}", f"shop__sums-{number:02}", BASE.format(number=number)
    repository.mkdir()
    (repository / "sums.py").write_text(base)
    yield {
        "kind": "task", "task_id": task_id, "repo": "shop/sums", "base_commit": "0" * 40, "repository": repository.name,
        "recipe": {"base": str(folder / "root")},
        "spec": SPEC.format(number=number), "test_command": "sh check.sh", "fail_to_pass": ["adds"],
        "pass_to_pass": ["zero"], "test_patch": _diff("check.sh", "", CHECK),
        "reference_patch": _diff("sums.py", base, _changed(base, CHANGES[0])),
    }  # fmt: skip
    for attempt in range(attempts):
        patch = _diff("sums.py", base, _changed(base, CHANGES[attempt % len(CHANGES)]))
        yield {
            "kind": "rollout", "task_id": task_id, "run": "night", "attempt": attempt, "policy": "policy-a",
            "patch": patch, "turns": list(_turns(number, attempt)), "exit_status": "Submitted",
        }  # fmt: skip


def _changed(base: str, change: str) -> str:
    return base.replace("    return a - b\n", change)


def _turns(number: int, attempt: int) -> Iterator[dict[str, Any]]:
    yield {"role": "system", "text": "You can work with a shell."}
    yield {"role": "user", "text": SPEC.format(number=number)}
    for command in ("cat sums.py", "python -c 'import sums; print(sums.add(2, 3))'", "sed -i s/old/new/ sums.py"):
        yield {
            "role": "assistant", "text": f"This is attempt {attempt}, which looks at the sums next.",
            "tool_calls": [{"name": "bash", "arguments": {"command": command}}], "observation": "5", "exit_code": 0,
            "input_tokens": 400 + attempt, "output_tokens": 20,
        }  # fmt: skip


def _diff(path: str, before: str, after: str) -> str:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = f"diff --git a/{path} b/{path}\n" + ("" if before else "new file mode 100644\n")
    return head + "".join(difflib.unified_diff(old, new, f"a/{path}" if before else "/dev/null", f"b/{path}"))
