"""Answers in places without a telling name are found, removed and gone; what looks alike stays as it is.

23 of 70 such places were called clean once: text that was encoded, reversed or packed under another name, names, links,
attributes, messages of tags, bundles, variables. The decoders looked only where a model had pointed to.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from leak_places import ALIKE, LINE, PLACES, TEXT, Left, innocents
from leaks import HIDDEN, Box, FolderSession, build, copy
from test_preparation import assert_base_works

from rubrics.environments.session import CommandResult
from rubrics.preparation.config import Preparation
from rubrics.preparation.findings import inside
from rubrics.preparation.loop import Prepared, prepare, probe
from rubrics.records.tasks import SealedTask, Task

Made = tuple[Box, Task, SealedTask]
TOGETHER = [[name for name, item in PLACES.items() if item.kind == kind] for kind in dict.fromkeys(
    item.kind for item in PLACES.values())]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """An environment in which a full pass finds nothing, with a list of what packages of the system own."""
    box, task, sealed = build(tmp_path_factory.mktemp("environment"))
    box.put("etc/profile", "umask 022\n")
    box.put("var/lib/dpkg/info/base-files.list", "/.\n/etc\n/etc/profile\n")
    assert prepare(box.session(), task, sealed, Preparation(root=str(box.root))).clean
    return box, task, sealed


def prepared(box: Box, made: Made, **config: object) -> Prepared:
    return prepare(box.session(), made[1], made[2], Preparation.from_dict({"root": str(box.root), **config}))


def paths_of(box: Box) -> set[str]:
    """What can be told apart before and after: paths, what links point to, and attributes."""
    found = set()
    for path in box.root.rglob("*"):
        found.add(str(path))
        if not path.is_symlink():
            found |= {f"{path}\0{name}" for name in os.listxattr(path)}
    return found


@pytest.mark.parametrize("names", TOGETHER, ids=lambda names: PLACES[names[0]].kind)
def test_an_answer_is_found_wherever_it_lies_and_gone_after(names: list[str], made: Made, tmp_path: Path) -> None:
    box = copy(made[0], tmp_path)
    left: dict[str, Left] = {}
    for name in names:
        left[name] = PLACES[name].plant(box)
    assert [name for name, still in left.items() if not still()] == []
    done = prepared(box, made)
    assert [name for name, still in left.items() if still()] == []
    assert done.clean, (done.open, done.notes)
    assert_base_works(box, made[1])


@pytest.mark.parametrize("names", TOGETHER, ids=lambda names: PLACES[names[0]].kind)
def test_every_place_is_named_before_it_is_cleaned(names: list[str], made: Made, tmp_path: Path) -> None:
    box = copy(made[0], tmp_path)
    planted: dict[str, set[str]] = {}
    for name in names:
        before = paths_of(box)
        PLACES[name].plant(box)
        planted[name] = paths_of(box) - before
    found = probe(box.session(), made[1], made[2], Preparation(root=str(box.root)))
    told = [path for finding in found for path in (finding.place, *finding.paths)]
    for name, paths in planted.items():
        assert any(inside(path.partition("\0")[0], item) for path in paths for item in told) or not paths, name
    text = " ".join(str(finding.to_dict()) for finding in found)
    assert LINE not in text, "a finding quotes the answer"
    assert LINE.encode().hex() not in text


def test_the_corpus_holds_enough_of_every_kind() -> None:
    kinds = Counter(item.kind for item in PLACES.values())
    assert len(PLACES) >= 100
    assert len(kinds) >= 9
    assert min(kinds.values()) >= 6


def test_what_looks_like_a_leak_and_is_none_stays_as_it_is(made: Made, tmp_path: Path) -> None:
    box = copy(made[0], tmp_path)
    planted = innocents(box)
    assert len(planted) >= 300
    done = prepared(box, made)
    assert done.clean, done.open
    assert [name for name, stands in planted.items() if not stands()] == []
    assert [finding for finding in done.rounds[0] if finding.remedy != "rebuild"] == []
    assert len(box.git("tag").split()) == 10


def test_lines_of_the_answer_that_stand_at_base_are_no_leak(made: Made, tmp_path: Path) -> None:
    """A line counts only where neither base nor the task's own text has it."""
    box = copy(made[0], tmp_path)
    task = made[1]
    told = box.put("opt/tool/issue.txt", f"It should be {LINE}\n")
    spec = f"{task.spec} It should be {LINE} and {HIDDEN}"
    from dataclasses import replace

    done = prepare(box.session(), replace(task, spec=spec), made[2], Preparation(root=str(box.root)))
    assert done.clean
    assert told.exists()
    assert any("contents are not searched" in note for note in done.notes)


class _Told(FolderSession):
    """A session whose commands start with variables of an image."""

    def __init__(self, folder: Path, **variables: str) -> None:
        super().__init__(folder)
        self._variables = variables

    def run(self, command: str, timeout: float) -> CommandResult:
        exports = "".join(f"export {name}='{value}'\n" for name, value in self._variables.items())
        return super().run(exports + command, timeout)


def _variables() -> Iterator[dict[str, str]]:
    from forms import TEXTUAL

    for form in ("plain", "base64", "hex", "base64_of_gzip", "reversed", "rot13", "percent", "base64_twice"):
        yield {f"NOTES_{form}": TEXTUAL[form](TEXT).decode().replace("'", ""), "KEPT": "1"}


@pytest.mark.parametrize("variables", list(_variables()), ids=lambda found: next(iter(found)))
def test_a_variable_that_tells_the_answer_is_named_for_the_state_that_is_kept(
    variables: dict[str, str], made: Made, tmp_path: Path
) -> None:
    box = copy(made[0], tmp_path)
    session = _Told(box.repo, **variables)
    done = prepare(session, made[1], made[2], Preparation(root=str(box.root)))
    (finding,) = done.rounds[0]
    assert (finding.kind, finding.remedy) == ("environment_variable", "unset")
    assert done.unset == (next(iter(variables)),)
    assert done.clean


def test_what_is_too_large_or_of_an_unknown_form_is_said_to_be_unread(made: Made, tmp_path: Path) -> None:
    box = copy(made[0], tmp_path)
    box.put("opt/large.txt", "x" * 200_000)
    box.put("opt/large.bin", os.urandom(60_000))
    box.put("opt/x.7z", b"7z\xbc\xaf\x27\x1c" + os.urandom(100))
    done = prepared(box, made, text_bytes=100_000, archive_bytes=50_000)
    assert done.clean
    reasons = {why: count for why, (count, _) in done.left.items()}
    assert reasons["larger than 100,000 bytes"] == 1
    assert reasons["packed or no text, and larger than 50,000 bytes"] == 1
    assert reasons["packed, and of a form that is not opened"] == 1


def test_the_alike_texts_hold_no_whole_line_of_the_answer() -> None:
    assert not [name for name, text in ALIKE.items() if LINE in text or "keeps_microseconds" in text]
