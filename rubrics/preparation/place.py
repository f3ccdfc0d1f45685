"""The environment that is being prepared: its shell, its repositories, and what is known of the task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from rubrics.environments.session import Session
from rubrics.errors import InfraError
from rubrics.preparation.answers import Answers, answers_of
from rubrics.preparation.config import UNSEEN, Preparation
from rubrics.preparation.findings import Finding
from rubrics.preparation.guards import inside
from rubrics.preparation.packages import Published, published
from rubrics.preparation.repository import Repository, commit_of, find_top, open_view, resolve, submodules
from rubrics.preparation.shell import Shell, quote
from rubrics.records.tasks import SealedTask, Task


@dataclass(slots=True)
class Place:
    """What probes and scrubbing see. Made by `open_place`."""

    shell: Shell
    config: Preparation
    workdir: str
    """The task's working folder, links resolved."""
    top: str
    """The work tree it lies in; the working folder itself without a repository."""
    task: Task
    repository: Repository | None = None
    """The task's own repository; null when there is none, or no git to read it with."""
    modules: list[Repository] = field(default_factory=list)
    """Submodules of the task's repository."""
    kept: list[Repository] = field(default_factory=list)
    """Repositories of other projects, which stay, cut at their own HEAD."""
    answers: Answers = field(default_factory=Answers)
    published: Published = field(default_factory=Published)
    notes: list[str] = field(default_factory=list)
    """What a person should know and is no finding."""
    has_git: bool = True
    reports: dict[str, str] = field(default_factory=dict)
    """By name of a probe that may fail to finish: what became of its last look (`found_nothing`, `found`, or
    `unfinished_<class>`)."""
    proved: list[Callable[[], list[Finding]]] = field(default_factory=list)
    """What late probes have proved, as checks of whether it is still open: a later look may fail to mention it."""
    copy: Callable[[], AbstractContextManager[Session]] | None = None
    """Opens a copy of the environment as it is now, which is thrown away; null where the backend cannot."""
    in_system: list[str] | None = None
    """Files in folders of the system that hold answer lines; null: not yet searched."""

    @property
    def repositories(self) -> list[Repository]:
        return [*([self.repository] if self.repository else []), *self.modules, *self.kept]

    def kept_by_config(self, path: str) -> bool:
        return any(fnmatchcase(path, glob) for glob in self.config.keep)

    def at_base(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths that stand at base, or hold something that does."""
        listed, found = list(dict.fromkeys(paths)), set()
        for repository in [item for item in self.repositories if item.own]:
            top = repository.top
            mine = [path[len(top) + 1 :] for path in listed if inside(path, top) and path != top] if top else []
            if not mine:
                continue
            open_view(self.shell, repository.git_dir, repository.common)
            command = f"xargs -0 $G ls-tree -z {quote(repository.base)} --"
            for words in self.shell.names_with(mine, command, "export GIT_DIR=$S/view;"):
                found |= {f"{top}/{word.partition(chr(9))[2]}" for word in words}
        return found

    def besides_base(self, paths: Iterable[str]) -> list[str]:
        """Those of the paths of which nothing stands at base, and that the configuration does not keep."""
        listed = [path for path in dict.fromkeys(paths) if not self.kept_by_config(path)]
        at_base = self.at_base(listed)
        return [path for path in listed if path not in at_base]

    def search(self, tests: str, roots: list[str] | None = None) -> list[str]:
        """Paths below the root (or the folders given) that satisfy the tests of `find`, our own scratch left out."""
        unseen = [self.config.below(name) for name in UNSEEN] + [self.shell.scratch]
        pruned = " -o ".join(f"-path {quote(path)}" for path in unseen)
        start = " ".join(quote(path) for path in (roots or [self.config.root]))
        found = self.shell.names(f"find {start} \\( {pruned} \\) -prune -o \\( {tests} \\) -print0")
        return [path.replace("//", "/") for path in found if not self.kept_by_config(path)]


@contextmanager
def open_place(session: Session, task: Task, sealed: SealedTask | None, config: Preparation) -> Iterator[Place]:
    """Look at an environment, changing nothing but a scratch folder that goes at the end."""
    shell = Shell(session, config)
    try:
        workdir = _workdir(session, config)
        top = find_top(shell, workdir, config.root)
        place = Place(shell, config, workdir, top or workdir, task)
        place.has_git = shell.run("command -v git").exit_code == 0
        if top is not None and place.has_git:
            place.repository = _own(place)
        if place.repository is not None:
            place.modules = submodules(shell, place.repository)
        place.published = published(shell, place.top, config.packages)
        place.answers = answers_of(sealed, task.spec, config).without_base(place)
        yield place
    finally:
        shell.close()


def _workdir(session: Session, config: Preparation) -> str:
    """Where commands start: the session is already in the task's working folder."""
    said = session.run("pwd -P", config.seconds).output.strip()
    if not inside(said, config.root.rstrip("/") or "/"):
        raise InfraError("preparation", f"working folder {said!r} is not below the root {config.root}; set `root`")
    return said


def _own(place: Place) -> Repository | None:
    places = resolve(place.shell, place.top)
    if places is None:
        place.notes.append(f"{place.top}/.git: no repository; removed")
        return None
    open_view(place.shell, *places)
    base = commit_of(place.shell, place.task.base_commit) if place.task.base_commit else None
    if base is None:
        base = commit_of(place.shell, "HEAD")
        wanted = place.task.base_commit or "none"
        place.notes.append(f"base commit {wanted} is not in the repository: cut at its HEAD, {base}")
    if base is None:
        place.notes.append(f"{place.top}/.git: no commit; removed")
        return None
    return Repository(place.top, f"{place.top}/.git", *places, base=base, own=True)
