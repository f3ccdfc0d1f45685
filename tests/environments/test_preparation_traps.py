"""Preparation against hostile, broken and unusual repositories, and what it may never touch."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from leaks import ANSWER, FIXED, Box, build, copy, git, readable
from test_preparation import assert_base_works

from rubrics.errors import InfraError, UsageError
from rubrics.preparation.config import Preparation
from rubrics.preparation.findings import Finding, removal
from rubrics.preparation.loop import PROBES, Prepared, prepare, probe
from rubrics.preparation.packages import newer
from rubrics.preparation.place import Place
from rubrics.records.tasks import SealedTask, Task


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[Box, Task, SealedTask]:
    return build(tmp_path_factory.mktemp("environment"))


@pytest.fixture
def box(clean: tuple[Box, Task, SealedTask], tmp_path: Path) -> Box:
    return copy(clean[0], tmp_path / "copy")


def prepared(box: Box, clean: tuple[Box, Task, SealedTask], **config: object) -> Prepared:
    task, sealed = clean[1], clean[2]
    return prepare(box.session(), task, sealed, Preparation.from_dict({"root": str(box.root), **config}))


def test_no_code_of_a_hostile_repository_is_run(box: Box, clean: tuple[Box, Task, SealedTask], tmp_path: Path) -> None:
    ran, script = tmp_path / "ran", tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\necho $0 >> {ran}\ncat\n")
    script.chmod(0o755)
    (box.git_dir / "hooks").mkdir(exist_ok=True)
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
        shutil.copy(script, box.git_dir / "hooks" / hook)
    settings = {
        "core.fsmonitor": script, "core.pager": script, "core.editor": script, "filter.x.clean": script,
        "filter.x.smudge": script, "filter.x.required": "true", "diff.external": script, "diff.x.textconv": script,
        "core.sshCommand": script, "core.alternateRefsCommand": script, "gpg.program": script,
        "core.hooksPath": box.git_dir / "hooks", "alias.rev-list": f"!{script}", "merge.x.driver": script,
        "uploadpack.packObjectsHook": script, "credential.helper": f"!{script}",
    }  # fmt: skip
    for name, value in settings.items():
        git(box.repo, "config", name, str(value))
    (box.git_dir / "info").mkdir(exist_ok=True)
    (box.git_dir / "info/attributes").write_text("* filter=x diff=x merge=x\n")
    (box.repo / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    (box.repo / "quill/fields.py").write_text(FIXED)
    result = prepared(box, clean)
    assert not ran.exists()
    assert result.clean
    assert readable(box.root) == []
    assert set(settings) & set(git(box.repo, "config", "--local", "--name-only", "--list").split()) == set()


def test_a_filter_of_base_does_not_hide_a_changed_file(clean: tuple[Box, Task, SealedTask], tmp_path: Path) -> None:
    box = copy(clean[0], tmp_path / "copy")
    (box.repo / ".gitattributes").write_text("*.bin filter=lfs\n")
    (box.repo / "large.bin").write_text("version https://git-lfs.github.com/spec/v1\n")
    git(box.repo, "add", "-A")
    git(box.repo, "commit", "-q", "-m", "with a large file")
    task = replace(clean[1], base_commit=git(box.repo, "rev-parse", "HEAD"))
    (box.repo / "large.bin").write_text("what the pointer stands for\n")
    config = Preparation(root=str(box.root))
    assert prepare(box.session(), task, clean[2], config).clean
    assert (box.repo / "large.bin").read_text() == "what the pointer stands for\n"
    (box.repo / "large.bin").write_text(FIXED)
    result = prepare(box.session(), task, clean[2], config)
    assert not result.clean
    assert {finding.kind for finding in result.open} == {"changed_file"}


def test_a_configuration_that_git_cannot_read_is_replaced(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    (box.git_dir / "config").write_text("[core\n\trepositoryformatversion = 99\n")
    assert prepared(box, clean).clean
    assert_base_works(box, clean[1])


def test_names_with_newlines_quotes_and_bytes_that_are_no_text_are_removed_as_they_are(
    box: Box, clean: tuple[Box, Task, SealedTask]
) -> None:
    names = [b"a\nb.patch", b"; touch x.patch", b"$(id).rej", b"'quoted'.orig", b"\xff\xfe.diff", b"-rf.patch"]
    for name in names:
        (Path(str(box.repo)) / name.decode("utf-8", "surrogateescape")).write_text("x")
    assert prepared(box, clean).clean
    left = {path.name.encode("utf-8", "surrogateescape") for path in box.repo.iterdir()}
    assert left.isdisjoint(names)
    assert_base_works(box, clean[1])


def test_a_link_out_of_the_tree_is_removed_and_not_followed(
    box: Box, clean: tuple[Box, Task, SealedTask], tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep.patch").write_text(ANSWER)
    (box.repo / "link.patch").symlink_to(outside)
    (box.root / "tests").symlink_to(outside)
    (box.root / "root/.cache").mkdir()
    (box.root / "root/.cache/pip").symlink_to(outside)
    assert prepared(box, clean).clean
    assert (outside / "keep.patch").read_text() == ANSWER
    assert not (box.repo / "link.patch").is_symlink()
    assert not (box.root / "tests").is_symlink()


def test_another_projects_repository_stays_and_is_cut_at_its_head(
    box: Box, clean: tuple[Box, Task, SealedTask]
) -> None:
    other = box.root / "opt/tool/manager"
    other.mkdir()
    git(other, "init", "-q", "-b", "main")
    (other / "manager.py").write_text("print('a tool of another project')\n")
    git(other, "add", "-A")
    git(other, "commit", "-q", "-m", "one")
    git(other, "branch", "later")
    git(other, "commit", "-q", "--allow-empty", "-m", "two")
    git(other, "reset", "-q", "--hard", "HEAD~1")
    result = prepared(box, clean)
    assert result.clean
    assert len(result.proof["repositories"]) == 2
    assert (other / "manager.py").is_file()
    assert git(other, "status", "--porcelain") == ""
    assert len(git(other, "log", "--all", "--format=%H").split()) == 1
    assert probe(box.session(), clean[1], clean[2], Preparation(root=str(box.root))) == ()


def test_another_projects_repository_that_holds_the_answer_goes(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    other = box.root / "opt/tool/notes"
    other.mkdir()
    git(other, "init", "-q", "-b", "main")
    (other / "a.txt").write_text(FIXED)
    git(other, "add", "-A")
    git(other, "commit", "-q", "-m", "one")
    git(other, "rm", "-q", "a.txt")
    git(other, "commit", "-q", "-m", "two")
    assert prepared(box, clean).clean
    assert readable(box.root) == []


def test_a_submodule_stays_at_the_commit_that_base_names(clean: tuple[Box, Task, SealedTask], tmp_path: Path) -> None:
    box, library = copy(clean[0], tmp_path / "copy"), tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q", "-b", "main")
    (library / "lib.c").write_text("int one;\n")
    git(library, "add", "-A")
    git(library, "commit", "-q", "-m", "one")
    git(box.repo, "submodule", "add", "-q", str(library), "ext/library")
    git(box.repo, "commit", "-q", "-m", "with a library")
    base = git(box.repo, "rev-parse", "HEAD")
    (library / "lib.c").write_text(FIXED)
    git(library, "commit", "-q", "-am", "two")
    git(box.repo / "ext/library", "fetch", "-q", str(library), "main:later")
    task = replace(clean[1], base_commit=base)
    result = prepare(box.session(), task, clean[2], Preparation(root=str(box.root)))
    assert result.clean, (result.open, result.proof)
    assert readable(box.root) == []
    assert git(box.repo, "status", "--porcelain") == ""
    assert git(box.repo / "ext/library", "log", "--all", "--format=%s") == "one"
    assert (box.repo / "ext/library/lib.c").read_text() == "int one;\n"


def test_a_shallow_repository_stays_shallow_and_whole(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    shutil.rmtree(box.repo)
    git(box.root, "clone", "-q", "--depth=2", f"file://{box.upstream}", str(box.repo))
    git(box.repo, "fetch", "-q", "--depth=1", "origin", box.base)
    git(box.repo, "checkout", "-q", "--detach", box.base)
    assert prepared(box, clean).clean
    assert git(box.repo, "rev-parse", "HEAD") == box.base
    assert git(box.repo, "log", "--all", "--format=%H") == box.base
    assert git(box.repo, "status", "--porcelain") == ""
    assert readable(box.root) == []


def test_a_partial_clone_keeps_what_it_has_of_base(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    git(box.upstream, "config", "uploadpack.allowFilter", "true")
    git(box.upstream, "config", "uploadpack.allowAnySHA1InWant", "true")
    shutil.rmtree(box.repo)
    git(box.root, "clone", "-q", "--filter=blob:none", f"file://{box.upstream}", str(box.repo))
    git(box.repo, "checkout", "-q", "--detach", box.base)
    assert prepared(box, clean).clean
    assert git(box.repo, "rev-parse", "HEAD") == box.base
    assert git(box.repo, "status", "--porcelain") == ""
    assert readable(box.root) == []


def test_a_base_that_is_not_whole_is_infra_and_never_clean(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    blob = git(box.repo, "rev-parse", f"{box.base}:CHANGELOG.md")
    git(box.repo, "repack", "-adq")
    (pack,) = (box.git_dir / "objects/pack").glob("*.pack")
    aside = box.root.parent / pack.name
    shutil.move(pack, aside)
    pack.with_suffix(".idx").unlink()
    subprocess.run(["git", "unpack-objects", "-q"], cwd=box.repo, input=aside.read_bytes(), check=True)
    (box.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(InfraError, match="is not whole"):
        prepared(box, clean)


def test_an_environment_without_git_loses_its_history_and_keeps_doubtful_names(
    box: Box, clean: tuple[Box, Task, SealedTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rubrics.preparation import shell

    tools = box.root / "tools"
    tools.mkdir()
    for name in ("sh", "env", "find", "grep", "sed", "awk", "sort", "head", "tr", "rm", "mv", "cp", "mkdir", "mktemp",
                 "base64", "xargs", "cat", "cut", "wc", "cmp", "ln", "paste", "comm"):  # fmt: skip
        (tools / name).symlink_to(shutil.which(name) or "/bin/false")
    monkeypatch.setattr(shell, "_ENVIRON", f"env -i PATH={tools} LC_ALL=C")
    box.fetch("refs/heads/develop")
    box.put("testbed/answer.txt", FIXED)
    result = prepared(box, clean)
    assert result.clean, result.open
    assert not box.git_dir.exists()
    assert (box.repo / "vendor/zlib-1.2.patch").is_file()
    assert readable(box.root) == []
    assert any("zlib-1.2.patch" in note for note in result.notes)


def test_what_the_configuration_keeps_stays_and_is_not_reported(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    box.put("logs/agent/setup.txt", "needed")
    box.put("testbed/mine.patch", "needed")
    result = prepared(box, clean, keep=[f"{box.root}/logs*", "*/mine.patch"])
    assert result.clean
    assert (box.root / "logs/agent/setup.txt").is_file()
    assert (box.repo / "mine.patch").is_file()


def test_a_changed_tracked_file_may_be_kept(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    (box.repo / "pyproject.toml").write_text('[project]\nname = "quill"\nversion = "1.0.0"\n# pinned by the image\n')
    result = prepared(box, clean, work_tree="keep")
    assert result.clean
    assert "pinned" in (box.repo / "pyproject.toml").read_text()
    assert result.proof["repositories"][0]["tracked_files_changed"] == 1


class _Guess:
    """A probe as a model might fill it: it suggests more than it may."""

    name = "guess"

    def __init__(self, *paths: str) -> None:
        self._paths = paths
        self._told = False

    def look(self, place: Place) -> Iterator[Finding]:
        if not self._told:
            self._told = True
            for path in self._paths:
                yield removal(self.name, "guess", path, "looks like an answer")


def test_a_probe_may_not_remove_base_the_system_or_anything_outside(
    box: Box, clean: tuple[Box, Task, SealedTask], tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("x")
    hinted = box.put("opt/tool/hint.dat", "x")
    guess = _Guess(
        str(outside), f"{box.root}/../outside.txt", str(box.root), f"{box.root}/usr", str(box.repo),
        f"{box.repo}/quill/fields.py", f"{box.repo}/tests", str(box.root / "opt"), str(hinted), "relative.txt",
    )  # fmt: skip
    config = Preparation(root=str(box.root))
    result = prepare(box.session(), clean[1], clean[2], config, probes=(*PROBES, guess))
    assert result.clean
    assert not hinted.exists()
    assert outside.is_file()
    assert sum("may not be removed" in note for note in result.notes) >= 6
    assert_base_works(box, clean[1])


def test_a_route_that_nothing_may_close_is_never_clean(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    box.put("usr/lib/tool/data.txt", FIXED)
    result = prepared(box, clean)
    assert not result.clean
    assert [finding.kind for finding in result.open] == ["answer_text"]
    assert (box.root / "usr/lib/tool/data.txt").is_file()


class _Stubborn:
    name = "stubborn"

    def look(self, place: Place) -> Iterator[Finding]:
        yield removal(self.name, "stubborn", place.config.below("opt/none"), "always there")


def test_the_loop_ends_after_its_rounds(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    config = Preparation(root=str(box.root), rounds=2)
    result = prepare(box.session(), clean[1], clean[2], config, probes=(_Stubborn(),))
    assert not result.clean
    assert len(result.rounds) == 3


def test_probing_alone_changes_nothing(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    box.fetch("refs/heads/develop")
    box.put("testbed/fix.patch", ANSWER)

    def state() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in box.root.rglob("*") if path.is_file()}

    before = state()
    assert probe(box.session(), clean[1], clean[2], Preparation(root=str(box.root)))
    assert state() == before


def test_findings_and_proof_do_not_quote_the_answer(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    box.put("testbed/notes.txt", FIXED)
    box.put("opt/tool/x.log", FIXED)
    result = prepared(box, clean)
    text = json.dumps([[finding.to_dict() for finding in found] for found in result.rounds]) + json.dumps(result.proof)
    assert ANSWER.strip() not in text


def test_a_working_folder_outside_the_root_is_refused(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    with pytest.raises(InfraError, match="not below the root"):
        prepare(box.session(), clean[1], clean[2], Preparation(root=str(box.root / "opt")))


def test_a_base_that_holds_the_answer_is_never_clean(box: Box, clean: tuple[Box, Task, SealedTask]) -> None:
    git(box.repo, "pull", "-q", str(box.upstream), "main")
    task = replace(clean[1], base_commit="f" * 40)
    result = prepare(box.session(), task, clean[2], Preparation(root=str(box.root)))
    assert not result.clean
    assert [finding.kind for finding in result.open] == ["answer_at_base"]
    assert any("cut at its HEAD" in note for note in result.notes)


def test_an_unknown_key_of_the_configuration_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown key 'rouns'"):
        Preparation.from_dict({"rouns": 3})


@pytest.mark.parametrize(
    ("found", "own", "after"),
    [
        ("1.1", "1.0.9", True), ("1.0", "1.0.0", False), ("1.0rc1", "1.0", False), ("1.0", "1.0rc1", True),
        ("1.0.post1", "1.0", True), ("1.0.dev3", "1.0a1", False), ("v2", "1.9", True), ("1.0+local", "1.0", False),
        ("10.0", "9.9", True), ("1!0.1", "0.1", True), ("1.0b1", "1.0a2", True), ("1!0.5", "2.0", True),
        ("1.0rc2", "1.0rc1", True), ("1.0a1.dev2", "1.0a1", False), ("1.2.3-beta.2", "1.2.3-beta.1", True),
        ("2004d", "2003", True), ("snapshot", "1.0", False), ("1.2.3-foo.4", "1.2.3", False),
    ],
)  # fmt: skip
def test_versions_are_ordered_as_registries_order_them(found: str, own: str, after: bool) -> None:
    """A later pre-release, and a release of a later epoch, were taken for older ones and stayed in the image."""
    assert newer(found, own) == after
