"""The loop: probe, scrub, probe again, until a full pass finds nothing or the rounds are used up. Then the proof.

A full pass is one of all probes; late ones (a model) look only where those before them found nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rubrics.environments.session import Session
from rubrics.errors import InfraError
from rubrics.preparation.attributes import strip
from rubrics.preparation.config import Preparation
from rubrics.preparation.contents import AnswerCopies, Contents
from rubrics.preparation.findings import Finding, Probe, inside, is_late
from rubrics.preparation.git_probes import GitFiles, History, Index, Objects, References, WorkTree
from rubrics.preparation.leftovers import HarnessFolders, HomeLeftovers, TreeLeftovers
from rubrics.preparation.marks import Attributes, Names, Variables
from rubrics.preparation.other_git import OtherGit
from rubrics.preparation.package_probes import InstalledCopies, Links, OwnArchives
from rubrics.preparation.place import Copy, Place, open_place
from rubrics.preparation.proof import prove
from rubrics.preparation.rebuild import rebuild
from rubrics.preparation.repository import Repository
from rubrics.records.tasks import SealedTask, Task

PROBES: tuple[Probe, ...] = (
    OtherGit(), References(), GitFiles(), Objects(), History(), Index(), WorkTree(), TreeLeftovers(), HomeLeftovers(),
    HarnessFolders(), InstalledCopies(), Links(), OwnArchives(), Names(), Attributes(), Variables(), AnswerCopies(),
    Contents(),
)  # fmt: skip
"""The deterministic probes, in the order in which they look."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What became of one environment."""

    clean: bool
    """The last full pass found nothing, and the proof holds."""
    rounds: tuple[tuple[Finding, ...], ...]
    """What each pass found, before it was scrubbed."""
    proof: dict[str, Any]
    notes: tuple[str, ...]
    reports: Mapping[str, str] = field(default_factory=dict)
    """What became of the last look of each late probe, see `Place.reports`. `clean` does not speak for one that did
    not finish."""
    unset: tuple[str, ...] = ()
    """Variables of the environment that the state to be kept must not have."""
    left: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """What was not looked at, or not to its end: files and bytes by the reason."""

    @property
    def open(self) -> tuple[Finding, ...]:
        """What the last pass found."""
        return self.rounds[-1]


def probe(
    session: Session, task: Task, sealed: SealedTask | None, config: Preparation, probes: Sequence[Probe] = PROBES
) -> tuple[Finding, ...]:
    """One full pass; changes nothing."""
    with open_place(session, task, sealed, config) as place:
        return _pass(place, probes)


def prepare(
    session: Session, task: Task, sealed: SealedTask | None, config: Preparation, probes: Sequence[Probe] = PROBES,
    copy: Copy | None = None,
) -> Prepared:  # fmt: skip
    """Scrub an environment until a full pass finds nothing, and prove it. Raises `InfraError` when it breaks.

    `copy` opens the session's state as it is then, for late probes to work in.
    """
    with open_place(session, task, sealed, config) as place:
        place.copy = copy
        rounds = [_pass(place, probes)]
        while rounds[-1] and len(rounds) <= config.rounds:
            if not scrub(place, rounds[-1]):
                break
            rounds.append(_pass(place, probes))
        if place.reports and copy is None:
            rounds += _settled(place, probes)
        proof = prove(place)
        clean = not rounds[-1] and bool(proof["holds"])
        notes = tuple(dict.fromkeys(place.notes))
        unset = tuple(sorted(place.unset))
        return Prepared(clean, tuple(rounds), proof, notes, dict(place.reports), unset, _left(place))


def _left(place: Place) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for why, size in place.left.values():
        count, total = found.get(why, (0, 0))
        found[why] = (count + 1, total + size)
    return found


def _settled(place: Place, probes: Sequence[Probe]) -> list[tuple[Finding, ...]]:
    """A late probe has worked in the environment itself: the others look again, and what it left goes."""
    early = [item for item in probes if not is_late(item)]
    found = _pass(place, early)
    if not found:
        return []
    scrub(place, found)
    return [found, _pass(place, early)]


def _pass(place: Place, probes: Sequence[Probe]) -> tuple[Finding, ...]:
    place.forget()
    found: dict[tuple[str, str, str], Finding] = {}
    for item in probes:
        if found and is_late(item):
            continue
        for finding in item.look(place):
            found.setdefault((finding.kind, finding.place, finding.detail), finding)
    return tuple(found.values())


def scrub(place: Place, findings: Sequence[Finding]) -> bool:
    """Carry out the remedies; returns whether there was anything to do."""
    _rebuild(place, [finding for finding in findings if finding.remedy == "rebuild"])  # it may need what goes then
    doomed = [path for finding in findings if finding.remedy == "remove" for path in finding.paths]
    doomed += [path for finding in findings if finding.remedy == "rewrite" for path in finding.paths[1:]]
    refused = place.shell.remove(place.besides_base(doomed), [place.top, place.workdir, place.shell.scratch])
    place.notes += [f"{place.said(path)}: may not be removed" for path in refused]
    for finding in findings:
        if finding.remedy == "rewrite":
            place.shell.overwrite(finding.paths[0], finding.content)
        elif finding.remedy == "strip":
            strip(place.shell, finding.paths[0], finding.names)
        elif finding.remedy == "unset":
            place.unset |= set(finding.names)
    return any(finding.remedy != "none" for finding in findings)


def _rebuild(place: Place, findings: list[Finding]) -> None:
    """Rebuild the repositories named, submodules before the one that holds their objects."""

    def again(repository: Repository) -> Repository:
        mine = [item for item in findings if inside(item.place, repository.folder) or item.place == repository.top]
        if not mine and repository.rooted:
            return repository
        dropped = (*repository.without, *(name for item in mine for name in item.names))
        return rebuild(place, replace(repository, without=dropped))

    place.modules = [again(item) for item in reversed(place.modules)][::-1]
    if place.repository is not None:
        place.repository = again(place.repository)
    kept = []
    for item in place.kept:
        try:
            kept.append(again(item))
        except InfraError as error:
            place.notes.append(f"{error}; removed")
            place.shell.remove([item.folder], [place.top, place.workdir])
    place.kept = kept
