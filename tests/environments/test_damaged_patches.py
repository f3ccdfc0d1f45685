"""What dumps do to patches: what can be undone is, what cannot is `infra` where that is proved, and never else."""

from __future__ import annotations

import re
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from environment_helpers import rollout_of, small_task
from leaks import git

from rubrics.environments.patch_damage import lost_in
from rubrics.environments.patch_text import read_patch
from rubrics.environments.session import Environment
from rubrics.errors import InfraError, PatchRefused
from rubrics.records.tasks import Sealed, SealedTask
from rubrics.testing.run import run_tests, uncalibrated

FOUND = Path(__file__).resolve().parents[3] / "shared" / "found" / "patches"
FILES = {
    "app/core.py": b"def total(xs):\n    return sum(xs) + 1\n",
    "app/win.py": b"def w():\r\n    a = 1\r\n    return a\r\n",
    "app/latin.py": b'# -*- coding: latin-1 -*-\nS = "caf\xe9"\n',
    "app/noeol.py": b"N = 1",
    "app/old_name.py": b"V = 1\nW = 2\nX = 3\n",
    "app/spaced.py": b"def f():\n    return 1\n\n\n\n",
    "app/__init__.py": b"",
    "logo.bin": bytes(range(256)) * 4,
}
RIGHT = {"wrong": "failed", "conftest": "failed", "crlf-lost": "infra", "latin1": "infra"}
TEST_PATCH = (
    "diff --git a/tests/test_core.py b/tests/test_core.py\nnew file mode 100644\n--- /dev/null\n"
    "+++ b/tests/test_core.py\n@@ -0,0 +1,5 @@\n+from app.core import total\n+\n+\n+def test_total():\n"
    "+    assert total([1, 2, 3, 4]) == 10\n"
)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    return folder


def made(repo: Path, path: str, before: bytes, after: bytes, *options: str) -> bytes:
    """The diff that git makes of one change, as bytes."""
    content = (repo / path).read_bytes()
    assert before in content
    (repo / path).write_bytes(content.replace(before, after))
    done = subprocess.run(["git", "diff", *options], cwd=repo, capture_output=True, check=True)
    (repo / path).write_bytes(content)
    return done.stdout


@pytest.mark.parametrize("name", sorted(path.stem for path in FOUND.glob("*.diff")) or ["none"])
def test_the_patches_that_were_found_come_out_right(bubblewrap: Environment, repo: Path, name: str) -> None:
    """Of the twenty, all that fitted in no way were `infra`, also those that were wrong to begin with."""
    if not (FOUND / f"{name}.diff").is_file():
        pytest.skip("found/patches is not beside this checkout")
    command = "python3 -m pytest -rA tests/test_core.py"
    task = small_task(repo, test_command=command, fail_to_pass=("tests/test_core.py::test_total",))
    plan = uncalibrated(bubblewrap, task, SealedTask("t", Sealed(TEST_PATCH)))
    text = (FOUND / f"{name}.diff").read_bytes().decode("utf-8", "surrogateescape")
    done = run_tests(bubblewrap, task, plan, rollout_of(task, text), 60.0)
    assert done.outcome == RIGHT.get(name, "passed"), done.detail


WIN = ("app/win.py", b"a = 1", b"a = 2")
LATIN = ("app/latin.py", b'\xe9"', b'\xe9!"')
SPACED = ("app/spaced.py", b"return 1", b"return 2")


def undone(repo: Path) -> dict[str, tuple[str, str, bytes]]:
    """Damage that can be undone: the patch, its file, what the file must be."""
    win, spaced = made(repo, *WIN).decode(), made(repo, *SPACED).decode()
    core = made(repo, "app/core.py", b" + 1", b"").decode()
    binary = made(repo, "logo.bin", b"\x00\x01", b"\x01\x00").decode()
    assert "Binary files" in binary
    return {
        "no line end at its end": (core.rstrip("\n"), "app/core.py", FILES["app/core.py"].replace(b" + 1", b"")),
        "stripped": (spaced.strip(), "app/spaced.py", FILES["app/spaced.py"].replace(b"1", b"2")),
        "line ends of Windows": (
            core.replace("\n", "\r\n"), "app/core.py", FILES["app/core.py"].replace(b" + 1", b""),
        ),
        "line ends of Windows on top of a file's own": (
            win.replace("\n", "\r\n"), "app/win.py", FILES["app/win.py"].replace(b"1", b"2"),
        ),
        "line ends of an old Macintosh": (
            core.replace("\n", "\r"), "app/core.py", FILES["app/core.py"].replace(b" + 1", b""),
        ),
        "a binary file without its content": (
            binary + core, "app/core.py", FILES["app/core.py"].replace(b" + 1", b""),
        ),
        "nothing but a binary file": (binary, "logo.bin", FILES["logo.bin"]),
    }  # fmt: skip


@pytest.mark.parametrize("case", range(7))
def test_damage_that_can_be_undone_is_undone_and_the_patch_goes_on_exactly(
    bubblewrap: Environment, repo: Path, case: int
) -> None:
    """Such patches went on by fuzz, which may put a hunk elsewhere, or left an empty file for a binary one."""
    name, (patch, path, content) = list(undone(repo).items())[case]
    task = small_task(repo)
    with closing(bubblewrap.open(task, rollout_of(task, patch))) as session:
        assert session.rung == "repository+patch" + ("(in part)" if "binary" in name else "")
        assert session.read(path) == content


def test_a_new_binary_file_without_its_content_is_not_made_up(bubblewrap: Environment, repo: Path) -> None:
    patch = (
        "diff --git a/out/app.exe b/out/app.exe\nnew file mode 100644\nindex 0000000..0eee44a\n"
        "Binary files /dev/null and b/out/app.exe differ\n"
    ) + made(repo, "app/core.py", b" + 1", b"").decode()
    task = small_task(repo)
    with closing(bubblewrap.open(task, rollout_of(task, patch))) as session, pytest.raises(FileNotFoundError):
        session.read("out/app.exe")


def lossy(repo: Path) -> dict[str, str]:
    win, latin = made(repo, *WIN), made(repo, *LATIN)
    both = win + latin
    return {
        "carriage returns": win.replace(b"\r", b"").decode(),
        "carriage returns, whole names": made(repo, *WIN, "--full-index").replace(b"\r", b"").decode(),
        "bytes replaced": latin.decode("utf-8", "replace"),
        "bytes replaced by question marks": latin.decode("latin-1").encode("ascii", "replace").decode(),
        "bytes dropped": latin.decode("utf-8", "ignore"),
        "bytes taken for Latin-1": latin.decode("latin-1"),
        "both": both.replace(b"\r", b"").decode("utf-8", "replace"),
    }


@pytest.mark.parametrize("case", range(7))
def test_a_patch_that_lost_bytes_on_its_way_is_infra(bubblewrap: Environment, repo: Path, case: int) -> None:
    name, patch = list(lossy(repo).items())[case]
    task = small_task(repo)
    with pytest.raises(InfraError, match=r"its dump lost .* of app/(win|latin)\.py") as caught:
        bubblewrap.open(task, rollout_of(task, patch))
    assert caught.value.kind == "patch_damaged", name


def unproved(repo: Path) -> dict[str, str]:
    """What an attempt could write that wants to be called damaged."""
    lost = made(repo, *WIN).replace(b"\r", b"").decode()
    latin = made(repo, *LATIN).decode("utf-8", "replace")
    return {
        "another digest": re.sub("^index [0-9a-f]+", "index 1234567", lost, flags=re.M),
        "no digest": re.sub("^index .*\n", "", lost, flags=re.M),
        "other lines too": lost.replace("return a", "return b"),
        "another place": lost.replace("@@ -1,3 +1,3 @@", "@@ -2,3 +2,3 @@"),
        "a second file that fits nowhere": lost + "--- a/app/core.py\n+++ b/app/core.py\n@@ -1 +1 @@\n-no\n+yes\n",
        "a second file that is not there": lost + "--- a/app/none.py\n+++ b/app/none.py\n@@ -1 +1 @@\n-no\n+yes\n",
        "a sign for lost bytes where none were": latin.replace("coding", "cod\ufffding"),
        "a sign for lost bytes in a plain file": (
            made(repo, "app/core.py", b" + 1", b"").decode().replace("+ 1", "+\ufffd1")
        ),
    }


@pytest.mark.parametrize("case", range(8))
def test_what_an_attempt_could_have_made_up_is_its_own_failure(bubblewrap: Environment, repo: Path, case: int) -> None:
    name, patch = list(unproved(repo).items())[case]
    task = small_task(repo)
    with pytest.raises(PatchRefused) as caught:
        bubblewrap.open(task, rollout_of(task, patch))
    assert caught.value.kind == "misfit", name


def test_reading_a_patch_never_raises_and_takes_time_in_proportion_to_it() -> None:
    header = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n"
    stub = "Binary files a and b differ\n"
    for piece in ("--- ", "+++ a\t", "@@ -1 +1 @@\n", '"\\', "\\", "\r", stub, header, "\0", "\ufffd", "index ", " \t",
                  "@@ -" + "9" * 30, "diff --git ", 'diff --git "a" ', "rename from \n"):  # fmt: skip
        read = read_patch(piece * (200_000 // len(piece)))
        assert lost_in(read.sections, lambda path: b"x\n" * 1000) is None
