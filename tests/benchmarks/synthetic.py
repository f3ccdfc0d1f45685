"""Makes rollouts of about 20 KB that look like real ones: patches of Python, transcripts of reads, edits and tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

_WORDS = (
    "schema", "field", "value", "parser", "config", "token", "index", "result", "cache", "node", "buffer", "handler",
    "model", "query", "stream", "option", "path", "state", "record", "entry", "filter", "scope", "header", "cursor",
    "column", "format", "region", "target", "source", "member",
)  # fmt: skip
_OUTCOMES = ("passed", "passed", "failed", "failed", "truncated")


def write_rollouts(path: Path, tasks: int, attempts: int, seed: int = 0) -> None:
    """Native rows: a task, its attempts and their outcomes, task by task."""
    random = Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for number in range(tasks):
            for row in _task(random, f"owner__project-{number:04d}", attempts):
                file.write(json.dumps(row) + "\n")


def _task(random: Random, task_id: str, attempts: int) -> Iterator[dict[str, Any]]:
    files = [f"src/{random.choice(_WORDS)}/{random.choice(_WORDS)}_{n}.py" for n in range(6)]
    pool = [_line(random) for _ in range(60)]
    spec = " ".join(random.choice(_WORDS) for _ in range(120))
    yield {"kind": "task", "task_id": task_id, "repo": "owner/project", "base_commit": "0" * 40, "spec": spec}
    for attempt in range(attempts):
        own = {"task_id": task_id, "run": "night", "attempt": attempt, "policy": "policy-a"}
        changed = random.sample(files, random.choice((1, 1, 2)))
        patch = "".join(_file(random, name, pool) for name in changed)
        turns = list(_turns(random, files, changed, pool))
        yield {"kind": "rollout", "patch": patch, "turns": turns, "exit_status": "Submitted", **own}
        yield {"kind": "outcome", "outcome": random.choice(_OUTCOMES), **own}


def _line(random: Random) -> str:
    a, b, c = random.sample(_WORDS, 3)
    return random.choice((
        f"{a} = self.{b}.{c}(name, {random.randint(0, 99)})",
        f"if {a} is None and {b}_{c} > {random.randint(0, 9)}:",
        f"return [{a} for {a} in {b} if {a}.{c}]",
        f'raise ValueError(f"no {a} of {{{b}}} in {{{c}!r}}")',
        f"for {a}, {b} in sorted({c}.items()):",
    ))  # fmt: skip


def _file(random: Random, path: str, pool: list[str]) -> str:
    out = [f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}"]
    for hunk in range(random.randint(1, 3)):
        kept, removed, added = (random.sample(pool, count) for count in (4, random.randint(0, 3), random.randint(2, 9)))
        start = 40 * (hunk + 1)
        out.append(f"@@ -{start},{4 + len(removed)} +{start},{4 + len(added)} @@ def {random.choice(_WORDS)}(self):")
        out += [f"         {line}" for line in kept[:2]]
        out += [f"-        {line}" for line in removed] + [f"+        {line}" for line in added]
        out += [f"         {line}" for line in kept[2:]]
    return "\n".join(out) + "\n"


def _turns(random: Random, files: list[str], changed: list[str], pool: list[str]) -> Iterator[dict[str, Any]]:
    yield {"role": "system", "text": "You are a helpful assistant that can work with a shell. " * 4}
    yield {"role": "user", "text": " ".join(random.choice(_WORDS) for _ in range(150))}
    steps = [f"grep -rn {random.choice(_WORDS)} src | head -20", "ls -la src", f"cat {random.choice(files)}"]
    steps += [f"sed -n '1,80p' {name}" for name in random.sample(files, random.randint(1, 4))]
    steps.append("cat > reproduce.py <<'EOF'\nimport project\nprint(project.run())\nEOF\npython reproduce.py")
    for name in changed:
        old, new = random.sample(pool, 2)
        steps += [f"sed -i 's/{old[:20]}/{new[:20]}/' {name}", f"git diff {name}"]
    steps += ["python -m pytest tests -q", "rm reproduce.py", "git diff", "python -m pytest tests/test_model.py -x"]
    for step in steps:
        answer = "\n".join(f"{n}: {random.choice(pool)}" for n in range(random.randint(5, 40)))
        yield {
            "role": "assistant", "text": "Let me look at " + " ".join(random.choice(_WORDS) for _ in range(25)) + ".",
            "tool_calls": [{"name": "bash", "arguments": {"command": step}}], "observation": answer, "exit_code": 0,
            "input_tokens": 4000, "output_tokens": 80,
        }  # fmt: skip
