"""The rebuilt state is the image plus the patch, or there is none, whatever either of them holds."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from environment_helpers import diff, rollout_of, small_task
from leaks import git

from rubrics.environments.applying import check_patch
from rubrics.environments.bubblewrap import Bubblewrap
from rubrics.environments.docker_rollouts import DockerEnvironment
from rubrics.environments.session import Environment
from rubrics.errors import InfraError, PatchRefused

CORE = "".join(f"line {number}\n" for number in range(1, 31))
NEAR = CORE.replace("line 14\n", "line fourteen\n")
"""What an attempt saw where the image differs: its hunk fits by fuzz alone."""
EXACT = diff("core.txt", CORE, CORE.replace("line 15\n", "line 15, patched\n"))
FUZZY = diff("core.txt", NEAR, NEAR.replace("line 15\n", "line 15, patched\n").replace("line 12\n", "line 12\n"))


@pytest.fixture
def lived_in(tmp_path: Path) -> Path:
    """A repository as image builders leave it: pinned, generated, staged, ignored things that no commit holds."""
    folder = tmp_path / "repo"
    (folder / "pkg").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for name, text in {"core.txt": CORE, "tox.ini": "old\n", "staged": "old\n", ".gitignore": "*.so\n"}.items():
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    (folder / "tox.ini").write_text("pinned\n")
    (folder / "staged").write_text("new\n")
    git(folder, "add", "staged")
    (folder / "pkg" / "_version.py").write_text("version = '1'\n")
    (folder / "built.so").write_text("built\n")
    return folder


STATUS = ["M  staged", " M tox.ini", "?? pkg/", "!! built.so"]


def state(environment: Environment, repo: Path, patch: str, look: str) -> tuple[str, list[str]]:
    """Rung and lines of output of one command, in the state of a rollout."""
    task = small_task(repo, recipe=RECIPE)
    with closing(environment.open(task, rollout_of(task, patch))) as session:
        done = session.run(look, 60)
        assert done.exit_code == 0, done.output
        return session.rung, done.output.splitlines()


RECIPE = '{"base": "debian:bullseye", "packages": ["git"]}'


@pytest.mark.parametrize(("patch", "way"), [(EXACT, ""), (FUZZY, "(fuzz)")], ids=["exact", "fuzzy"])
def test_what_the_image_holds_beside_its_commit_stays_whatever_way_the_patch_goes_on(
    environment: Environment, lived_in: Path, patch: str, way: str
) -> None:
    """After a 3-way merge that failed came `git reset --hard && git clean -fd`: the pin and `_version.py` were gone
    when the tests ran, and their failures were the rollout's."""
    look = "git -c status.short=true status --porcelain --ignored; cat tox.ini pkg/_version.py built.so staged"
    rung, lines = state(environment, lived_in, patch, look)
    assert rung == f"repository+patch{way}"
    assert sorted(lines[:5]) == sorted([*STATUS, " M core.txt"])
    assert lines[5:] == ["pinned", "version = '1'", "built", "new"]


def test_a_patch_that_half_fits_leaves_nothing_for_the_way_after_it(bubblewrap: Environment, tmp_path: Path) -> None:
    """Every way starts from the image: the first file went on by 3-way, the second by none."""
    (tmp_path / "repo").mkdir()
    for name in ("one", "two"):
        (tmp_path / "repo" / name).write_text(CORE)
    patch = diff("one", NEAR, NEAR.replace("line 15\n", "patched\n")) + diff("two", "a\nb\n", "a\nc\n")
    task = small_task(tmp_path / "repo")
    with pytest.raises(PatchRefused) as caught:
        bubblewrap.open(task, rollout_of(task, patch))
    assert caught.value.kind == "misfit"


def test_a_three_way_merge_leaves_the_index_and_other_files_of_the_image_as_they_were(
    environment: Environment, lived_in: Path
) -> None:
    """It ran on the image's own index, which then was reset: staged files were staged no more."""
    git(lived_in, "stash", "-q")
    changed = CORE.replace("line 5\n", "line 5, later\n").replace("line 20\n", "line 20, later\n")
    base = lived_in / "core.txt"
    base.write_text(CORE.replace("line 15\n", "line 15, patched\n"))
    patch = git(lived_in, "diff", "--full-index") + "\n"
    git(lived_in, "checkout", "-q", "core.txt")
    base.write_text(changed.replace("line 14\n", "line 13 and a half\nline 14\n").replace("line 17\n", ""))
    git(lived_in, "commit", "-q", "-am", "later")
    git(lived_in, "stash", "pop", "-q", "--index")
    rung, lines = state(environment, lived_in, patch, "git status --porcelain --ignored; sed -n 16p core.txt")
    assert rung == "repository+patch(3way)"
    assert sorted(lines[:5]) == sorted([*STATUS, " M core.txt"])
    assert lines[5:] == ["line 15, patched"]


def test_a_submodule_and_a_sparse_checkout_are_left_alone(environment: Environment, lived_in: Path) -> None:
    inner = lived_in / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    (inner / "file").write_text("inner\n")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "inner")
    git(lived_in, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
    git(lived_in, "config", "core.sparseCheckout", "true")
    (inner / "file").write_text("inner, changed\n")
    patch = FUZZY + (
        "diff --git a/inner b/inner\nindex 1111111..2222222 160000\n--- a/inner\n+++ b/inner\n@@ -1 +1 @@\n"
        f"-Subproject commit {'1' * 40}\n+Subproject commit {'2' * 40}\n"
    )
    rung, lines = state(environment, lived_in, patch, "cat inner/file; ls inner/.git/HEAD; sed -n 15p core.txt")
    assert lines == ["inner, changed", "inner/.git/HEAD", "line 15, patched"]
    assert rung == "repository+patch(fuzz)(in part)"


def test_a_working_folder_below_the_repositorys_top_takes_patches_from_the_top(
    environment: Environment, tmp_path: Path
) -> None:
    """`git apply` left out what lies outside the folder it is run in, and called that success."""
    repo = tmp_path / "repo"
    (repo / "sub").mkdir(parents=True)
    (repo / "sub" / "core.txt").write_text(CORE)
    (repo / "beside").write_text("old\n")
    assert isinstance(environment, DockerEnvironment | Bubblewrap)
    with closing(environment.open(small_task(repo), None)) as session:
        try:
            kept = environment.save(session, "nobody")
        except InfraError as error:
            pytest.skip(str(error))
    task = small_task(repo, workdir="/testbed/sub")
    patch = EXACT.replace("core.txt", "sub/core.txt") + diff("beside", "old\n", "new\n")
    with closing(environment.open(task, rollout_of(task, patch), saved=kept)) as session:
        assert session.rung == "prepared+patch"
        assert session.run("sed -n 15p core.txt; cat ../beside", 20).output == "line 15, patched\nnew\n"


EVIL = "#!/bin/sh\necho ran > /tmp/ran\n"


def new_file(path: str, text: str = EVIL, mode: str = "100755") -> str:
    lines = text.splitlines(keepends=True)
    body = "".join(f"+{line}" for line in lines)
    git_header = f"diff --git a/{path} b/{path}\nnew file mode {mode}\n"
    return f"{git_header}--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}"


def link(path: str, target: str) -> str:
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 120000\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{target}\n"
        "\\ No newline at end of file\n"
    )


HOOK = "hooks/post-index-change"
INTO_GIT = {
    "a hook": new_file(f".git/{HOOK}"),
    "the configuration": new_file(".git/config", "[core]\n\tfsmonitor = /tmp/x\n", "100644"),
    "a change of the configuration": diff(".git/config", "[core]\n", "[core]\n\tfsmonitor = /tmp/x\n"),
    "another case": new_file(f".GiT/{HOOK}"),
    "a repository below": new_file("pkg/.git/config", "[core]\n", "100644"),
    "a dot on the way": new_file(f"./.git/{HOOK}"),
    "up and down": new_file(f"pkg/../.git/{HOOK}"),
    "quoted": new_file("X").replace("a/X", r'"a/\056git/config"').replace("b/X", r'"b/\056git/config"'),
    "a rename": (
        "diff --git a/core.txt b/.git/config\nsimilarity index 100%\nrename from core.txt\nrename to .git/config\n"
    ),
    "a copy": "diff --git a/core.txt b/.git/x\nsimilarity index 100%\ncopy from core.txt\ncopy to .git/x\n",
    "no header of git": f"--- /dev/null\n+++ b/.git/{HOOK}\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+echo ran > /tmp/ran\n",
    "an absolute path": f"--- /dev/null\n+++ /testbed/.git/{HOOK}\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+echo ran > /tmp/ran\n",
    "the line ends of Windows": new_file(f".git/{HOOK}").replace("\n", "\r\n"),
    "a mode": "diff --git a/.git/config b/.git/config\nold mode 100644\nnew mode 100755\n",
    "an empty file": "diff --git a/.git/x b/.git/x\nnew file mode 100644\nindex 0000000..e69de29\n",
    "a deletion": "diff --git a/.git/HEAD b/.git/HEAD\ndeleted file mode 100644\nindex e69de29..0000000\n",
    "a blank at its end": new_file(f".git /{HOOK}"),
}
BY_A_WAY = {
    "a link, then through it": link("way", ".git") + new_file(f"way/{HOOK}"),
    "a link into it": link("way", "pkg/../.git/hooks"),
    "a link into it, by fuzz": FUZZY + link("way", ".git/hooks"),
    "a hunk that counts too many lines": (
        EXACT + f"--- a/tox.ini\n+++ b/tox.ini\n@@ -1 +1,9 @@\n-pinned\n+bent\n--- /dev/null\n+++ b/.git/{HOOK}\n"
        "@@ -0,0 +1,2 @@\n+#!/bin/sh\n+echo ran > /tmp/ran\n"
    ),
    "a hunk that counts too few": (
        f"--- a/tox.ini\n+++ b/tox.ini\n@@ -1 +1 @@\n-pinned\n+bent\n--- b/.git/{HOOK}\n+++ b/.git/{HOOK}\n"
        "@@ -0,0 +1 @@\n+x\n"
    ),
    "a name on a line of its own": f"Index: .git/{HOOK}\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+echo ran > /tmp/ran\n",
    "an old form of diff": (
        f"*** /dev/null\n--- b/.git/{HOOK}\n***************\n*** 0 ****\n--- 1,2 ----\n+ #!/bin/sh\n+ x\n"
    ),
    "an editor's script": "--- a/core.txt\n+++ b/core.txt\n1!echo ran > /tmp/ran\n.\n",
    "an editor's script alone": "1d\nr !echo ran > /tmp/ran\nw\n",
    "above the folder": new_file("../outside"),
    "above the folder, deeper": new_file("pkg/../../tmp/ran"),
    "nothing in a name": new_file("X").replace("b/X", r'"b/x\000y"'),
}


@pytest.mark.parametrize("case", INTO_GIT)
def test_a_patch_that_names_git_folders_is_refused_before_anything_is_opened(case: str) -> None:
    with pytest.raises(PatchRefused) as caught:
        check_patch(INTO_GIT[case])
    assert caught.value.kind in ("git_folder", "outside")


@pytest.mark.parametrize("case", BY_A_WAY)
def test_no_patch_reaches_what_git_runs_by_a_way_and_none_is_infra(
    bubblewrap: Environment, lived_in: Path, case: str
) -> None:
    task = small_task(lived_in, recipe=RECIPE)
    with pytest.raises(PatchRefused):
        bubblewrap.open(task, rollout_of(task, BY_A_WAY[case])).close()


def test_a_hook_that_only_patch_would_write_is_not_written(environment: Environment, lived_in: Path) -> None:
    """`patch` wrote it where `git apply` had refused to, and the `git reset` after that ran it."""
    task = small_task(lived_in, recipe=RECIPE)
    for patch in (FUZZY + new_file(f".git/{HOOK}"), FUZZY + BY_A_WAY["a link, then through it"]):
        with pytest.raises(PatchRefused):
            environment.open(task, rollout_of(task, patch)).close()


def test_what_the_repository_itself_would_have_git_run_is_not_run(environment: Environment, lived_in: Path) -> None:
    """Its hooks, filters, file watcher, aliases and another working tree belong to it, and so to whoever wrote it."""
    hook = lived_in / ".git" / HOOK
    hook.write_text(EVIL)
    hook.chmod(0o755)
    (lived_in / "run").write_text(EVIL)
    (lived_in / "run").chmod(0o755)
    (lived_in / ".gitattributes").write_text("*.txt filter=evil\n")
    for name, value in {
        "filter.evil.clean": "/testbed/run", "filter.evil.smudge": "/testbed/run", "core.fsmonitor": "/testbed/run",
        "alias.apply": "!/testbed/run", "core.worktree": "/tmp", "diff.external": "/testbed/run",
        "core.hooksPath": ".git/hooks", "merge.evil.driver": "/testbed/run",
    }.items():  # fmt: skip
        git(lived_in, "config", name, value)
    for patch in (EXACT, FUZZY):
        _, lines = state(environment, lived_in, patch, "ls /tmp/ran 2>/dev/null; sed -n 15p core.txt")
        assert lines == ["line 15, patched"]


ODD = (".gitignore2", ".github/x.yml", "pkg/x.git/config", "a b/c d", "tab\there", "it's", "$HOME", "-rf", "{names}",
       "{attributes}", "x'; echo ran > /tmp/ran; '", "`echo ran > ran`", "$(echo ran > ran)", "*",
       "caf\u00e9")  # fmt: skip


def test_names_of_any_signs_are_put_on_and_nothing_in_them_is_run(bubblewrap: Environment, lived_in: Path) -> None:
    quoted = {"tab\there": r'"{}/tab\there"', "caf\u00e9": r'"{}/caf\303\251"', "a b/c d": "{}/a b/c d\t"}
    patch = ""
    for path in ODD:
        old, new = (quoted[path].format(side) if path in quoted else f"{side}/{path}" for side in "ab")
        end = "\t" if " " in path and not new.endswith("\t") else ""
        patch += f"diff --git {old.rstrip()} {new.rstrip()}\nnew file mode 100644\n"
        patch += f"--- /dev/null\n+++ {new}{end}\n@@ -0,0 +1 @@\n+x\n"
    task = small_task(lived_in, recipe=RECIPE)
    for more, way in ((EXACT, ""), (FUZZY, "(fuzz)")):
        with closing(bubblewrap.open(task, rollout_of(task, more + patch))) as session:
            assert session.rung == f"repository+patch{way}"
            assert {path: session.read(path) for path in ODD} == dict.fromkeys(ODD, b"x\n")
            assert session.run("ls ran /tmp/ran", 20).exit_code != 0


def test_a_damaged_repository_is_no_way_to_infra(bubblewrap: Environment, lived_in: Path) -> None:
    """A patch decides nothing about the image: where git has nothing to merge from, it does not fit."""
    (lived_in / ".git" / "HEAD").write_text("nonsense\n")
    task = small_task(lived_in, recipe=RECIPE)
    with pytest.raises(PatchRefused):
        bubblewrap.open(task, rollout_of(task, diff("core.txt", "a\nb\n", "a\nc\n")))
    rung, lines = state(bubblewrap, lived_in, FUZZY, "sed -n 15p core.txt")
    assert (rung, lines) == ("repository+patch(fuzz)", ["line 15, patched"])


def test_an_image_that_is_missing_gives_a_bad_patch_no_way_out(bubblewrap: Environment, lived_in: Path) -> None:
    task = small_task(lived_in, recipe=RECIPE, image="nobody/has-this:1")
    with pytest.raises(PatchRefused):
        bubblewrap.open(task, rollout_of(task, diff("core.txt", "a\nb\n", "a\nc\n")))
    with pytest.raises(InfraError):
        bubblewrap.open(small_task(lived_in, recipe=None, repository=None, image="nobody/has-this:1"), None)


def test_a_repository_whose_files_are_read_only_can_be_worked_in(environment: Environment, tmp_path: Path) -> None:
    """Every rollout was `infra`: a sandbox's root cannot write what its owner may not."""
    repo = tmp_path / "frozen"
    (repo / "pkg").mkdir(parents=True)
    (repo / "core.txt").write_text(CORE)
    (repo / "pkg" / "run.sh").write_text("#!/bin/sh\n")
    for path, mode in ((repo / "core.txt", 0o444), (repo / "pkg" / "run.sh", 0o555), (repo / "pkg", 0o555)):
        path.chmod(mode)
    new = new_file("pkg/new", "x\n", "100644")
    look = "echo more >> core.txt && rm pkg/new && [ -x pkg/run.sh ] && git status --porcelain"
    rung, lines = state(environment, repo, EXACT + new, look)
    assert (rung, lines) == ("repository+patch", [" M core.txt"])
