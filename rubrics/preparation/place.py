"""The environment that is being prepared: its shell, its repositories, what lies in it, what is known of its task."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from posixpath import dirname

from rubrics.environments.session import Session
from rubrics.errors import InfraError
from rubrics.preparation.answers import Answers, answers_of
from rubrics.preparation.config import PROTECTED, UNSEEN, Preparation
from rubrics.preparation.findings import PACKAGES, Finding, inside
from rubrics.preparation.inventory import Entry, inventory, matching
from rubrics.preparation.packages import Published, published
from rubrics.preparation.repository import Repository, commit_of, find_top, open_view, resolve, submodules
from rubrics.preparation.shell import Shell, quote, variable
from rubrics.records.tasks import SealedTask, Task

Copy = Callable[[Collection[str]], AbstractContextManager[Session]]
"""Opens a copy of an environment, without the values of the variables that are named."""
_OWNED = """
l={root}/var/lib/dpkg/info
if [ -d "$l" ]; then grep -q -x -F -e {path} -e {other} "$l"/*.list; exit $?; fi
if [ -f {root}/lib/apk/db/installed ]; then apk info -q -W {path} > /dev/null 2>&1; exit $?; fi
command -v rpm > /dev/null || exit 9
rpm --root {root}/ -qf {path} > /dev/null 2>&1
"""


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
    copy: Copy | None = None
    """Opens a copy of the environment as it is now, which is thrown away; null where the backend cannot."""
    unset: set[str] = field(default_factory=set)
    """Variables of the environment that the state which is kept will not have."""
    looked: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By path of a file that was looked at: its stamp then, and what it said of the answer, empty for nothing."""
    left: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By path of what was not looked at, or not to its end: why, and its size."""
    _told: dict[bytes, str] = field(default_factory=dict)
    _entries: dict[str, Entry] | None = None
    _base: dict[tuple[str, str], tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)

    @property
    def repositories(self) -> list[Repository]:
        return [*([self.repository] if self.repository else []), *self.modules, *self.kept]

    def stores(self) -> tuple[str, ...]:
        """Beginnings of the paths of objects of the repositories that stay, and of git folders that are to move."""
        found = [f"{item.folder}/objects/" for item in self.repositories]
        found += [
            f"{folder}/" for item in self.repositories if not item.rooted for folder in (item.git_dir, item.common)
        ]
        return tuple(found)

    def forget(self) -> None:
        """The environment has changed, or may have."""
        self.shell.forget()
        self._entries = None

    @property
    def entries(self) -> dict[str, Entry]:
        """Everything below the root by path, but for what the kernel shows and what the configuration keeps."""
        if self._entries is None:
            unseen = [*(self.config.below(name) for name in UNSEEN), self.shell.scratch]
            kept = matching(self.config.keep)
            listed = inventory(self.shell, self.config.root, unseen)
            self._entries = {entry.path: entry for entry in listed if not kept(entry.path)}
        return self._entries

    def found(self, *globs: str, kind: str = "", ignore_case: bool = False) -> list[str]:
        """Paths whose name satisfies one of the globs; the whole path where they begin with `*/`."""
        whole, alone = ([item for item in globs if item.startswith("*/") == side] for side in (True, False))
        paths, names = matching(whole, ignore_case), matching(alone, ignore_case)
        return [
            entry.path
            for entry in self.entries.values()
            if (not kind or entry.kind == kind) and (names(entry.name) or paths(entry.path))
        ]

    def kept_by_config(self, path: str) -> bool:
        return matching(self.config.keep)(path)

    def at_base(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths that stand at base, or hold something that does."""
        listed = [found for item in self.repositories if item.own and item.top for found in self.base_of(item)]
        return {path for path in paths if any(path in found for found in listed)}

    def base_of(self, repository: Repository) -> tuple[frozenset[str], frozenset[str]]:
        """Paths of the files that a repository has at base, and of the folders in which they lie."""
        key = (str(repository.top), repository.base)
        if key not in self._base:
            open_view(self.shell, repository.git_dir, repository.common)
            listed = self.shell.whole(f"export GIT_DIR=$S/view; g ls-tree -r -z --name-only {quote(repository.base)}")
            files = [name.decode("utf-8", "surrogateescape") for name in b"".join(listed).split(b"\0") if name]
            folders = set(map(dirname, files))
            while more := {dirname(folder) for folder in folders} - folders:
                folders |= more
            top = repository.top
            self._base[key] = (
                frozenset(f"{top}/{name}" for name in files),
                frozenset(f"{top}/{name}" for name in folders if name),
            )
        return self._base[key]

    def besides_base(self, paths: Iterable[str]) -> list[str]:
        """Those of the paths of which nothing stands at base, and that the configuration does not keep."""
        listed = [path for path in dict.fromkeys(paths) if not self.kept_by_config(path)]
        at_base = self.at_base(listed)
        return [path for path in listed if path not in at_base]

    def in_system(self, path: str) -> bool:
        """Whether a path lies in a folder of the system and belongs to no package that was added to it."""
        system = any(inside(path, self.config.below(name)) for name in PROTECTED)
        return system and not any(part in path for part in (*PACKAGES, "/share/doc/", "/local/"))

    def owned(self, path: str) -> bool | None:
        """Whether a file of the system belongs to a package of the system; null where no list of these can be read."""
        root = self.config.root.rstrip("/")
        below = path[len(root) :]
        other = below.removeprefix("/usr") if below.startswith("/usr/") else f"/usr{below}"
        script = _OWNED.format(root=quote(root), path=quote(below), other=quote(other))
        code = self.shell.run(script).exit_code
        return {0: True, 1: False}.get(code if code is not None else 9)

    def told_by(self, data: bytes) -> str:
        """What data say of the answer in any form; asked once for each."""
        if data not in self._told:
            self._told[data] = self.answers.told_by(data)
        return self._told[data]

    def said(self, text: str) -> str:
        """The text for a finding or a note, unless it tells the answer."""
        return "(a name that tells the answer)" if self.answers.told_by(text) else text


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
        answers = answers_of(sealed, task.spec, config)
        place.answers = answers.without_base(lambda lines: _at_base(place, answers.paths, lines))
        if sealed is not None and not place.answers and config.answer_lines:
            place.notes.append("no line of reference and test patch is the answer's alone: contents are not searched")
        yield place
    finally:
        shell.close()


def _at_base(place: Place, paths: tuple[str, ...], lines: bytes) -> list[str]:
    """What of the lines stands in files of base."""
    if place.repository is not None:
        open_view(place.shell, place.repository.git_dir, place.repository.common)
        script = f'GIT_DIR=$S/view g grep -h -o -a -F -e "$P" {quote(place.repository.base)} -- | sort -u'
    else:
        files = " ".join(quote(f"{place.top}/{path}") for path in paths)
        script = f'grep -h -o -a -F -e "$P" {files} /dev/null 2>/dev/null | sort -u'
    return place.shell.run(variable("P", lines) + script).output.splitlines()


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
