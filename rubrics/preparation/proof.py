"""The proof: what can be read in every object store, counted, and that base works as base."""

from __future__ import annotations

from typing import Any

from rubrics.preparation.git_probes import allowed
from rubrics.preparation.place import Place
from rubrics.preparation.rebuild import changed, unfiltered
from rubrics.preparation.repository import Repository, measure
from rubrics.preparation.shell import quote


def prove(place: Place) -> dict[str, Any]:
    """Measured afresh, not taken from the probes. `holds`: no object beyond base, no file that could hide one."""
    place.forget()
    repositories = [_proof(place, item) for item in place.repositories]
    version = place.shell.lines("git --version") if place.has_git else []
    return {
        "holds": all(item["holds"] for item in repositories),
        "git": version[0] if version else None,
        "root": place.config.root,
        "work_tree": place.top,
        "answer_lines_searched": repr(place.answers),
        "repositories": repositories,
    }


def _proof(place: Place, repository: Repository) -> dict[str, Any]:
    counts = measure(place.shell, repository, place.config.keep_tags)
    found = place.shell.names(f"cd {quote(repository.folder)} && find . -mindepth 1 -print0")
    files = {name[2:] for name in found}
    strange = sorted(name for name in files if not allowed(name, files))
    differing = 0
    if repository.own and repository.top:
        differing = len(unfiltered(place.shell, repository, changed(place.shell, repository)))
    holds = (
        counts.beyond == 0
        and counts.commits_beyond == 0
        and counts.objects == counts.reachable
        and counts.ancestors >= 1
        and not strange
        and repository.rooted
        and (differing == 0 or place.config.work_tree == "keep")
    )
    return {
        "holds": holds,
        "folder": repository.folder,
        "base": repository.base,
        "ancestors": counts.ancestors,
        "objects_readable": counts.objects,
        "objects_of_base": counts.reachable,
        "objects_beyond": counts.beyond,
        "commits_readable": counts.commits,
        "commits_beyond": counts.commits_beyond,
        "tags_kept": counts.tags,
        "strange_files": strange[:20],
        "tracked_files_changed": differing,
    }
