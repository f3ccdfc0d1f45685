"""The loop: probe, scrub, probe again, until a full pass finds nothing or the rounds are used up. Then the proof.

A full pass is one of all probes; late ones (a model) look only where those before them found nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from rubrics.environments.session import Session
from rubrics.errors import InfraError
from rubrics.preparation.config import Preparation
from rubrics.preparation.findings import Finding, Probe, is_late
from rubrics.preparation.guards import inside
from rubrics.preparation.place import Place, open_place
from rubrics.preparation.probes import PROBES
from rubrics.preparation.proof import prove
from rubrics.preparation.rebuild import rebuild
from rubrics.preparation.repository import Repository
from rubrics.records.tasks import SealedTask, Task


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
    copy: Callable[[], AbstractContextManager[Session]] | None = None,
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
        return Prepared(clean, tuple(rounds), proof, tuple(dict.fromkeys(place.notes)), dict(place.reports))


def _settled(place: Place, probes: Sequence[Probe]) -> list[tuple[Finding, ...]]:
    """A late probe has worked in the environment itself: the others look again, and what it left goes."""
    early = [item for item in probes if not is_late(item)]
    found = _pass(place, early)
    if not found:
        return []
    scrub(place, found)
    return [found, _pass(place, early)]


def _pass(place: Place, probes: Sequence[Probe]) -> tuple[Finding, ...]:
    place.shell.forget()
    found: dict[tuple[str, str, str], Finding] = {}
    for item in probes:
        if found and is_late(item):
            continue
        for finding in item.look(place):
            found.setdefault((finding.kind, finding.place, finding.detail), finding)
    return tuple(found.values())


def scrub(place: Place, findings: Sequence[Finding]) -> bool:
    """Carry out the remedies; returns whether there was anything to do."""
    doomed = [path for finding in findings if finding.remedy in ("remove", "rewrite") for path in finding.paths]
    refused = place.shell.remove(place.besides_base(doomed), [place.top, place.workdir, place.shell.scratch])
    place.notes += [f"{path}: may not be removed" for path in refused]
    for finding in findings:
        if finding.remedy == "rewrite":
            place.shell.write(finding.place, finding.content)
    folders = [finding.place for finding in findings if finding.remedy == "rebuild"]
    _rebuild(place, folders)
    return bool(doomed or folders)


def _rebuild(place: Place, folders: list[str]) -> None:
    """Rebuild the repositories named, submodules before the one that holds their objects."""

    def again(repository: Repository) -> Repository:
        wanted = any(inside(folder, repository.folder) or folder == repository.top for folder in folders)
        return rebuild(place, repository) if wanted or not repository.rooted else repository

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
