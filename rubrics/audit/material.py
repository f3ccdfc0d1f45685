"""What the rules read of one rollout and its task."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rubrics.records.patches import Patch
from rubrics.records.rollouts import Turn

_INSTANCE = re.compile(r"(?:.*/)?([\w.-]+?)__([\w.-]+?)-\w+$")
_MODULES = {"scikit-learn": "sklearn", "pillow": "pil", "beautifulsoup4": "bs4", "pyyaml": "yaml"}
_TESTING = frozenset({"pytest", "nose", "nose2", "unittest2", "tox", "hypothesis", "testtools", "pytester", "jest"})


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What the audit knows of a task. `hidden_tests` is sealed text: it is compared with, never quoted."""

    task_id: str
    repo: str | None = None
    base_commit: str | None = None
    spec: str | None = None
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    hidden_tests: str | None = None
    """Lines that the test patch adds."""

    @property
    def repository(self) -> tuple[str, str]:
        """Owner and name in lower case, from `repo` or else from the task's name; empty where not known."""
        owner, _, name = (self.repo or "").lower().rpartition("/")
        if name:
            return owner, name
        match = _INSTANCE.match(self.task_id.lower())
        return (match[1], match[2]) if match is not None else ("", "")

    @property
    def packages(self) -> frozenset[str]:
        """Names under which the target is published or imported, `_` and `.` written as `-`."""
        name = package_name(self.repository[1])
        bare = re.sub(r"^(?:python|py)-|-(?:python|py)$|\.?js$", "", name)
        found = {name, bare, package_name(_MODULES.get(name, name))}
        return frozenset(item for item in found if len(item) > 1)

    @property
    def about_testing(self) -> bool:
        """Whether the target is itself a test runner or a plug-in of one: then such code is its trade."""
        name = self.repository[1]
        return name in _TESTING or "pytest" in name or "test" in re.split(r"[-_.]", name)


@dataclass(frozen=True, slots=True)
class Material:
    rollout_id: str
    task: TaskFacts
    patch: Patch | None
    turns: tuple[Turn, ...] = ()


def package_name(name: str) -> str:
    """A distribution's name in its one comparable form."""
    return re.sub(r"[-_.]+", "-", name.lower()).strip("-")
