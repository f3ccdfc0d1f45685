"""What must stand in an environment before the hidden tests run, worked out once per task from its pristine base.

Nothing of the test patch is applied inside a rollout's environment: its result on base is computed beforehand and
written over whatever the rollout left there.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rubrics.environments.session import Session
from rubrics.errors import InfraError
from rubrics.records.tasks import Sealed, SealedTask, Task
from rubrics.testing.names import Names
from rubrics.testing.restore import Listing, listing
from rubrics.testing.results import Results
from rubrics.testing.steering import Steering
from rubrics.testing.task_report import check_pattern

_PATHS = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?(.+?)\t?$|^rename (?:from|to) (.+)$|^diff --git a/(.+) b/(.+)$", re.M)
_TEST_FILE = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|unittest_[^/]*|tests?)\.py$")
_INSTALLED = (
    "import sys, os; assert sys.version_info > (3, 5); print('\\n'.join(n.partition('.')[0] "
    "for p in sys.path[1:] if p.endswith('-packages') and os.path.isdir(p) for n in os.listdir(p) "
    "if n[:2] != '__' and (n.endswith(('.py', '.so')) or '.' not in n and '-' not in n)))"
)


@dataclass(frozen=True, slots=True)
class TestPlan:
    """How a task's tests are put in and run."""

    __test__ = False

    command: str
    files: dict[str, bytes | None]
    """Content of every file that tests consist of, null for a file that must not be there: what the test patch makes of
    base, and the other files of listed tests as they are at base."""
    restored: tuple[str, ...]
    """Paths that the test patch touches."""
    steering: Steering
    at_base: Listing = field(default_factory=Listing)
    """Files at base that steer a test runner."""
    python: bool = False
    """Whether the environment has a Python that the monitor runs on."""
    report: str | None = None
    """Where the command writes JUnit XML of its own."""
    fail_to_pass: tuple[str, ...] = ()
    """Listed tests that must be fixed, by the runner's own ids where these are known."""
    pass_to_pass: tuple[str, ...] = ()


def touched_paths(patch: str) -> tuple[str, ...]:
    """Every path that a patch names, old and new."""
    found = {path for match in _PATHS.finditer(patch) for path in match.groups() if path and path != "/dev/null"}
    return tuple(sorted(path for path in found if _inside(path)))


def make_plan(task: Task, sealed: SealedTask | None, base: Session, before: Session | None = None) -> TestPlan:
    """The plan of a task; `base` is a session of its start, `before` one of what that was before it was prepared.

    Preparation removes hidden tests that lie about: listed ones come back from there. Raises `InfraError` when the
    test patch does not fit, or the command needs a file that preparation removed.
    """
    patch = opened(sealed.test_patch if sealed else None)
    touched = touched_paths(patch)
    command = _command(task, touched)
    if before is not None:
        _check_command(command, base, before, task.task_id)
    at_base = {path: _content(before or base, path) for path in listed_files(task) if _inside(path)}
    at_base |= {path: _content(base, path) for path in touched}
    files = at_base | _patched({path: at_base[path] for path in touched}, patch, task.task_id)
    present = {path: content for path, content in files.items() if content is not None or path in touched}
    report = check_pattern(task.test_report) if task.test_report else None
    asked = base.run(f"python3 -c {shlex.quote(_INSTALLED)}", 60.0)
    free = set(touched_paths(opened(sealed.reference_patch if sealed else None))) - present.keys()
    steering = Steering(
        frozenset(path for path, content in present.items() if content is not None),
        command,
        installed=frozenset(asked.output.split()) if asked.exit_code == 0 else frozenset(),
        free=frozenset(path for path in free if not _TEST_FILE.search(path)),
    )
    found = listing(base, steering)
    steering = steering.with_roots(found.entries)
    return TestPlan(
        command, present, touched, steering, found, asked.exit_code == 0, report, task.fail_to_pass, task.pass_to_pass
    )


class AtBase:
    """Content of files of a task's start, read when first asked for and kept. For one thread at a time."""

    def __init__(self, open_base: Callable[[], Session]) -> None:
        self._open = open_base
        self._known: dict[str, bytes] = {}

    def __call__(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Those of the files that are there. Raises `InfraError`."""
        missing = [path for path in paths if path not in self._known]
        if missing:
            session = self._open()
            try:
                for path in missing:
                    content = _content(session, path)
                    if content is not None:
                        self._known[path] = content
            finally:
                session.close()
        return {path: self._known[path] for path in paths if path in self._known}


def with_files_of(plan: TestPlan, task: Task, reference: Results, at_base: AtBase) -> TestPlan:
    """The plan with the files of base that listed tests stand in by the reference's own run: ids of docstrings name
    none, and a dotted name may start in any folder. The plan itself when nothing is found."""
    names = Names(reference)
    wanted, kept = (
        tuple(test for name in listed for test in names.find(name)) for listed in (task.fail_to_pass, task.pass_to_pass)
    )
    ends = tuple(f"/{path}" for path in files_of((*wanted, *kept)))
    paths = [path for path in plan.at_base.digests if f"/{path}".endswith(ends) and path not in plan.files]
    files = at_base(paths)
    if not files:
        return plan
    steering = replace(plan.steering, listed=plan.steering.listed | files.keys())
    more = {**plan.files, **files}
    return replace(plan, files=more, steering=steering, fail_to_pass=wanted, pass_to_pass=kept)


def opened(text: Sealed | None) -> str:
    return text.open_for("tests") if text is not None else ""


def listed_files(task: Task) -> tuple[str, ...]:
    """Files that listed tests may stand in, by their ids."""
    return files_of((*task.fail_to_pass, *task.pass_to_pass))


def files_of(names: Iterable[str]) -> tuple[str, ...]:
    """Files that tests may stand in, by their ids: `path::name`, or `name (package.module.Class)`."""
    paths: set[str] = set()
    for name in names:
        head, mark, _ = name.partition("::")
        if mark and head.endswith(".py"):
            paths.add(head)
            continue
        match = re.search(r"\(([\w.]+)\)|^([\w.]+)$", name)
        parts = (match[1] or match[2]).split(".") if match else []
        paths.update("/".join(parts[:size]) + ".py" for size in range(1, min(len(parts), 8)))
    return tuple(sorted(paths))


def _command(task: Task, touched: tuple[str, ...]) -> str:
    if task.test_command:
        return task.test_command
    tests = [path for path in touched if _TEST_FILE.search(path)]
    if not tests:
        message = f"task {task.task_id} names no test_command, and its test patch touches no Python tests"
        raise InfraError("no_command", f"{message}; add `test_command` to the task row")
    return "python -m pytest -rA " + " ".join(f"'{path}'" for path in tests)


def _check_command(command: str, base: Session, before: Session, task_id: str) -> None:
    words = dict.fromkeys(re.findall(r"[\w./+@-]+", command))
    look = f'for f in {" ".join(shlex.quote(word) for word in words)}; do [ -e "$f" ] && echo "$f"; done; true'
    there, then = (set(session.run(look, 60.0).output.split()) for session in (base, before))
    gone = sorted(then - there)
    if gone:
        message = f"task {task_id}: its test command needs {', '.join(gone)}, which preparation removed"
        raise InfraError("test_files", f"{message}; name them under `keep` in the table `preparation`, prepare again")


def _inside(path: str) -> bool:
    return not path.startswith("/") and ".." not in path.split("/") and "\n" not in path and "'" not in path


def _content(base: Session, path: str) -> bytes | None:
    try:
        return base.read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InfraError("read", f"{path}: {error}") from None


def _patched(at_base: dict[str, bytes | None], patch: str, task_id: str) -> dict[str, bytes | None]:
    """What the patch makes of these files, by git in a folder that holds nothing else."""
    if not patch.strip():
        return {}
    with tempfile.TemporaryDirectory(prefix="rubrics-") as name:
        folder = Path(name)
        for path, content in at_base.items():
            if content is not None:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
        env = {"PATH": os.environ.get("PATH", os.defpath), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
               "GIT_CEILING_DIRECTORIES": str(folder.parent)}  # fmt: skip
        text = patch if patch.endswith("\n") else f"{patch}\n"
        command = ["git", "apply", "--whitespace=nowarn", "-"]
        done = subprocess.run(command, cwd=folder, env=env, input=text.encode("utf-8", "surrogateescape"),
                              capture_output=True)  # fmt: skip
        if done.returncode != 0:
            raise InfraError(
                "test_patch", f"task {task_id}: its test patch does not fit its base; correct the task row"
            )
        return {path: _plain(folder / path) for path in at_base}


def _plain(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None
