"""A corpus of planted leaks: one small environment, and one function per way in which an answer stays in it.

The environment is a folder that stands for a container's root: the repository in `testbed`, home folders, folders
for temporary files, installed packages. Each leak is planted alone.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rubrics.environments.session import CommandResult
from rubrics.records.tasks import Sealed, SealedTask, Task

ANSWER = "    return value.total_seconds() // quantum_of(precision, rounding_mode)"
FIELDS = '''"""Fields."""


def serialize(value, precision):
    """Whole units of a duration."""
    return value.seconds
'''
FIXED = FIELDS.replace("    return value.seconds", ANSWER)
TEST = """import unittest


class Fields(unittest.TestCase):
    def test_import(self):
        import quill

        self.assertEqual(quill.__version__, "1.0.0")
"""
HIDDEN = (
    TEST
    + """
    def test_rounds_over_days_and_keeps_microseconds(self):
        self.assertEqual(serialize(timedelta(days=1, microseconds=7)), 86400)
        self.assertNotEqual(serialize(timedelta(milliseconds=345)), serialize_legacy(345))
"""
)
SECRETS = (ANSWER.strip(), "test_rounds_over_days_and_keeps_microseconds")
"""Texts that nobody may find after scrubbing."""
_GIT = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z", "GIT_ALLOW_PROTOCOL": "file",
}  # fmt: skip


class FolderSession:
    """A session in a plain folder: no isolation, for tests and trusted data."""

    rung = "folder"
    image_digest: str | None = None

    def __init__(self, folder: Path, limit: int = 10_000_000) -> None:
        self._folder = folder
        self._limit = limit

    def run(self, command: str, timeout: float) -> CommandResult:
        started = time.monotonic()
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", command], cwd=self._folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=timeout,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return CommandResult(None, "", False, time.monotonic() - started, timed_out=True)
        output = done.stdout[: self._limit].decode("utf-8", "replace")
        return CommandResult(done.returncode, output, len(done.stdout) > self._limit, time.monotonic() - started)

    def read(self, path: str) -> bytes:
        return (self._folder / path).read_bytes()

    def write(self, path: str, content: bytes) -> None:
        (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self._folder / path).write_bytes(content)

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Box:
    """One environment on disk."""

    root: Path
    base: str
    fix: str

    @property
    def repo(self) -> Path:
        return self.root / "testbed"

    @property
    def git_dir(self) -> Path:
        return self.repo / ".git"

    @property
    def upstream(self) -> Path:
        """A repository with the fix, beside the environment and no part of it."""
        return self.root.parent / "upstream"

    @property
    def packages(self) -> Path:
        return self.root / "usr/local/lib/python3/site-packages"

    def session(self) -> FolderSession:
        return FolderSession(self.repo)

    def git(self, *arguments: str, at: Path | None = None, stdin: str | None = None, **more: str) -> str:
        return git(at or self.repo, *arguments, stdin=stdin, **more)

    def fetch(self, reference: str = "refs/heads/x") -> None:
        """Bring the fix's objects in, under a reference."""
        self.git("fetch", "-q", str(self.upstream), f"main:{reference}")

    def smuggle(self) -> None:
        """Bring the fix's objects in, without a trace."""
        self.fetch("refs/smuggled")
        self.git("update-ref", "-d", "refs/smuggled")
        (self.git_dir / "FETCH_HEAD").unlink(missing_ok=True)

    def put(self, path: str, content: str | bytes) -> Path:
        """Write a file below the root."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file


def git(at: Path, *arguments: str, stdin: str | None = None, **more: str) -> str:
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments], cwd=at, env=_GIT | more, input=stdin,
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.strip()


def build(folder: Path) -> tuple[Box, Task, SealedTask]:
    """The clean environment and its task. Leaks are planted in copies of it."""
    upstream, root = folder / "upstream", folder / "root"
    files = {
        "quill/__init__.py": '__version__ = "1.0.0"\n', "quill/fields.py": FIELDS, "tests/__init__.py": "",
        "tests/test_fields.py": TEST, "pyproject.toml": '[project]\nname = "quill"\nversion = "1.0.0"\n',
        "CHANGELOG.md": "1.0.0\n\nDurations are serialized.\n", "vendor/zlib-1.2.patch": "--- a/x\n+++ b/x\n",
        "tests/data/sample.log": "a log that a test reads\n", "tests/data/backup.orig": "old\n",
        "tests/data/page.zip": "no archive\n", ".gitignore": "*.log\n!tests/data/*.log\n",
    }  # fmt: skip
    for name, text in files.items():
        file = upstream / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(upstream, "init", "-q", "-b", "main")
    git(upstream, "add", "-A", "-f")
    git(upstream, "commit", "-q", "-m", "first")
    git(upstream, "tag", "v0.9")
    (upstream / "CHANGELOG.md").write_text("1.0.0\n\nDurations are serialized as whole units.\n")
    git(upstream, "commit", "-q", "-am", "second")
    git(upstream, "tag", "-a", "-m", "release", "v1.0")
    base = git(upstream, "rev-parse", "HEAD")
    root.mkdir()
    git(folder, "clone", "-q", str(upstream), str(root / "testbed"))
    repo = root / "testbed"
    git(repo, "checkout", "-q", "--detach", base)
    (upstream / "quill/fields.py").write_text(FIXED)
    git(upstream, "commit", "-q", "-am", "fix", GIT_COMMITTER_DATE="2019-01-01T00:00:00Z")
    reference = git(upstream, "diff", base, "HEAD") + "\n"
    (upstream / "tests/test_fields.py").write_text(HIDDEN)
    hidden = git(upstream, "diff") + "\n"
    git(upstream, "commit", "-q", "-am", "tests of the fix")
    _prepare_once(repo, base)
    for name in ("root", "home/dev", "tmp", "var/tmp", "usr/local/lib/python3/site-packages/other", "opt/tool"):
        (root / name).mkdir(parents=True)
    (root / "usr/local/lib/python3/site-packages/other/__init__.py").write_text("")
    (root / "root/.profile").write_text("umask 022\n")
    box = Box(root, base, git(upstream, "rev-parse", "HEAD"))
    command = f"{sys.executable} -B -m unittest -q"
    task = Task("quill-7", "example/quill", base, "Durations over a day lose their days.", test_command=command)
    return box, task, SealedTask("quill-7", test_patch=Sealed(hidden), reference_patch=Sealed(reference))


def _prepare_once(repo: Path, base: str) -> None:
    """What a careful image builder leaves: base alone, detached, with its tags."""
    git(repo, "remote", "remove", "origin")
    git(repo, "branch", "-q", "-D", "main")
    shutil.rmtree(repo / ".git/hooks", ignore_errors=True)
    shutil.rmtree(repo / ".git/logs")


def copy(box: Box, folder: Path) -> Box:
    """The same environment elsewhere."""
    shutil.copytree(box.root.parent, folder, symlinks=True, dirs_exist_ok=True)
    return Box(folder / "root", box.base, box.fix)


@dataclass(frozen=True)
class Leak:
    name: str
    plant: Callable[[Box], object]
    text: bool
    """Whether it holds a text of the answer; else it is a route to one, or a trap."""


LEAKS: dict[str, Leak] = {}


def leak(plant: Callable[[Box], object]) -> Callable[[Box], object]:
    LEAKS[plant.__name__] = Leak(plant.__name__, plant, text=True)
    return plant


def route(plant: Callable[[Box], object]) -> Callable[[Box], object]:
    LEAKS[plant.__name__] = Leak(plant.__name__, plant, text=False)
    return plant


# Git ------------------------------------------------------------------------------------------------------------


@leak
def git_branch(box: Box) -> None:
    box.fetch("refs/heads/develop")


@leak
def git_remote_ref(box: Box) -> None:
    box.fetch("refs/remotes/origin/main")


@leak
def git_tag_after_base(box: Box) -> None:
    box.fetch("refs/tags/v1.1")


@leak
def git_annotated_tag(box: Box) -> None:
    box.smuggle()
    box.git("tag", "-a", "-m", "the fix", "v1.2", box.fix)


@leak
def git_tag_dated_before_base(box: Box) -> None:
    box.smuggle()
    box.git("tag", "backport", f"{box.fix}~1")


@leak
def git_tag_of_a_file(box: Box) -> None:
    box.smuggle()
    box.git("tag", "file", f"{box.fix}:quill/fields.py")


@leak
def git_pull_ref(box: Box) -> None:
    box.fetch("refs/pull/7/head")


@leak
def git_hidden_ref(box: Box) -> None:
    box.fetch("refs/hidden/keep")


@leak
def git_notes(box: Box) -> None:
    box.git("notes", "add", "-m", ANSWER, box.base)


@leak
def git_replace(box: Box) -> None:
    box.smuggle()
    box.git("replace", box.base, box.fix)


@leak
def git_stash(box: Box) -> None:
    (box.repo / "quill/fields.py").write_text(FIXED)
    box.git("stash")


@leak
def git_reflog(box: Box) -> None:
    box.git("checkout", "-q", "-b", "work")
    box.git("pull", "-q", str(box.upstream), "main")
    box.git("checkout", "-q", "--detach", box.base)
    box.git("branch", "-q", "-D", "work")
    (box.git_dir / "FETCH_HEAD").unlink()


@leak
def git_fetch_head(box: Box) -> None:
    box.git("fetch", "-q", str(box.upstream), "main")


@leak
def git_orig_head(box: Box) -> None:
    box.smuggle()
    (box.git_dir / "ORIG_HEAD").write_text(box.fix + "\n")


@leak
def git_merge_head(box: Box) -> None:
    box.smuggle()
    (box.git_dir / "MERGE_HEAD").write_text(box.fix + "\n")


@leak
def git_unreachable_pack(box: Box) -> None:
    box.smuggle()
    box.git("repack", "-adfkq")


@leak
def git_loose_object(box: Box) -> None:
    box.git("hash-object", "-w", "--stdin", stdin=FIXED)


@leak
def git_cruft_pack(box: Box) -> None:
    box.smuggle()
    box.git("repack", "--cruft", "-dq", "--cruft-expiration=never")
    assert list((box.git_dir / "objects/pack").glob("*.mtimes"))


@leak
def git_alternates(box: Box) -> None:
    mirror = box.root / "opt/mirror.git"
    box.git("clone", "-q", "--bare", str(box.upstream), str(mirror), at=box.root)
    box.put("testbed/.git/objects/info/alternates", f"{mirror}/objects\n")


@leak
def git_bare_store_of_alternates(box: Box) -> None:
    shutil.copytree(box.upstream / ".git/objects", box.root / "srv/shared/objects")
    box.put("testbed/.git/objects/info/alternates", f"{box.root}/srv/shared/objects\n")


@leak
def git_worktree(box: Box) -> None:
    box.smuggle()
    box.git("worktree", "add", "-q", "--detach", str(box.root / "opt/wt"), box.fix)


@leak
def git_own_folder_elsewhere(box: Box) -> None:
    box.fetch("refs/heads/develop")
    shutil.move(box.git_dir, box.root / "opt/store.git")
    (box.repo / ".git").write_text(f"gitdir: {box.root}/opt/store.git\n")


@leak
def git_stale_module(box: Box) -> None:
    box.git("clone", "-q", "--bare", str(box.upstream), str(box.git_dir / "modules/old"), at=box.root)


@leak
def git_nested_clone(box: Box) -> None:
    box.git("clone", "-q", str(box.upstream), str(box.repo / "third_party/quill"), at=box.root)


@leak
def git_clone_in_home(box: Box) -> None:
    box.git("clone", "-q", str(box.upstream), str(box.root / "home/dev/src"), at=box.root)


@leak
def git_shallow_clone(box: Box) -> None:
    box.git("clone", "-q", "--depth=1", f"file://{box.upstream}", str(box.root / "opt/shallow"), at=box.root)


@leak
def git_bare_mirror(box: Box) -> None:
    box.git("clone", "-q", "--mirror", str(box.upstream), str(box.root / "var/mirror"), at=box.root)


@leak
def git_bundle_in_tree(box: Box) -> None:
    box.git("bundle", "create", "-q", str(box.repo / "quill.bundle"), "main", at=box.upstream)


@leak
def git_bundle_without_name(box: Box) -> None:
    box.git("bundle", "create", "-q", str(box.root / "opt/tool/data.bin"), "main", at=box.upstream)


@leak
def git_bundle_in_git_folder(box: Box) -> None:
    box.git("bundle", "create", "-q", str(box.git_dir / "backup"), "main", at=box.upstream)


@leak
def git_exported_stream(box: Box) -> None:
    box.put("opt/tool/history", box.git("fast-export", "--all", at=box.upstream))


@leak
def git_mail_patches(box: Box) -> None:
    box.put("opt/tool/series", box.git("format-patch", "--stdout", box.base, at=box.upstream))


@leak
def git_stray_pack(box: Box) -> None:
    box.git("repack", "-adq", at=box.upstream)
    (pack,) = (box.upstream / ".git/objects/pack").glob("*.pack")
    shutil.copy(pack, box.root / "opt/tool/blob.pack")


@leak
def git_pack_without_index(box: Box) -> None:
    box.git("repack", "-adq", at=box.upstream)
    (pack,) = (box.upstream / ".git/objects/pack").glob("*.pack")
    shutil.copy(pack, box.git_dir / "objects/pack" / pack.name)


@leak
def git_stray_loose_object(box: Box) -> None:
    name = box.git("hash-object", "-w", "--stdin", stdin=FIXED, at=box.upstream)
    file = box.upstream / ".git/objects" / name[:2] / name[2:]
    box.put(f"opt/tool/{name[:2]}/{name[2:]}", file.read_bytes())


@leak
def git_grafts(box: Box) -> None:
    box.smuggle()
    (box.git_dir / "info").mkdir(exist_ok=True)
    (box.git_dir / "info/grafts").write_text(f"{box.base} {box.fix}\n")


@leak
def git_packed_refs(box: Box) -> None:
    box.fetch("refs/heads/develop")
    box.git("pack-refs", "--all")


@leak
def git_index_entry(box: Box) -> None:
    (box.repo / "quill/fields.py").write_text(FIXED)
    box.git("add", "quill/fields.py")
    (box.repo / "quill/fields.py").write_text(FIELDS)


@leak
def git_staged_new_file(box: Box) -> None:
    (box.repo / "tests/test_new.py").write_text(HIDDEN)
    box.git("add", "tests/test_new.py")


@leak
def git_change_hidden_from_status(box: Box) -> None:
    box.git("update-index", "--assume-unchanged", "quill/fields.py")
    (box.repo / "quill/fields.py").write_text(FIXED)


@leak
def git_promisor_pack(box: Box) -> None:
    box.smuggle()
    box.git("repack", "-adkq")
    for pack in (box.git_dir / "objects/pack").glob("*.pack"):
        pack.with_suffix(".promisor").write_text("")
    box.git("config", "extensions.partialClone", "origin")
    box.git("config", "remote.origin.url", "https://example.org/quill")


@leak
def git_head_ahead(box: Box) -> None:
    box.git("checkout", "-q", "-b", "main")
    box.git("pull", "-q", str(box.upstream), "main")


@leak
def git_commit_on_top(box: Box) -> None:
    (box.repo / "tests/test_more.py").write_text(HIDDEN)
    box.git("add", "-A")
    box.git("commit", "-q", "-m", "environment")


@leak
def git_message_file(box: Box) -> None:
    (box.git_dir / "COMMIT_EDITMSG").write_text(ANSWER)


@leak
def git_lost_found(box: Box) -> None:
    box.smuggle()
    box.git("fsck", "--lost-found")


@leak
def git_rebase_state(box: Box) -> None:
    box.put("testbed/.git/rebase-merge/patch", ANSWER)


@leak
def git_remembered_conflict(box: Box) -> None:
    box.put("testbed/.git/rr-cache/0123/postimage", FIXED)


@leak
def git_large_file_store(box: Box) -> None:
    box.put("testbed/.git/lfs/objects/ab/cd/abcd", FIXED)


@route
def git_hook(box: Box) -> None:
    box.put("testbed/.git/hooks/post-checkout", "#!/bin/sh\ntouch /tmp/ran\n").chmod(0o755)


@route
def git_config_with_address(box: Box) -> None:
    box.git("config", "remote.origin.url", "https://user:token@example.org/quill")
    box.git("config", "url.https://mirror.example.org/.insteadOf", "https://example.org/")
    box.git("config", "include.path", "/etc/more")


@route
def git_branch_at_base(box: Box) -> None:
    box.git("checkout", "-q", "-b", "pr-7-round-durations")


@route
def git_home_settings(box: Box) -> None:
    box.put("root/.gitconfig", '[url "https://mirror.example.org/"]\n\tinsteadOf = https://example.org/\n')


# Files ----------------------------------------------------------------------------------------------------------

_TEXTS = {
    "build_log": "testbed/build.log",
    "verifier_output": "testbed/test_output.txt",
    "patch_file": "testbed/fix.patch",
    "diff_file": "testbed/docs/change.diff",
    "merge_leftover": "testbed/quill/fields.py.orig",
    "rejected_hunks": "testbed/quill/fields.py.rej",
    "swap_file": "testbed/quill/.fields.py.swp",
    "backup_file": "testbed/quill/fields.py~",
    "mypy_cache": "testbed/.mypy_cache/3.11/quill/fields.data.json",
    "pytest_cache": "testbed/.pytest_cache/v/cache/lastfailed",
    "build_folder": "testbed/build/lib/quill/fields.py",
    "transcript": "testbed/run.traj",
    "agent_history": "testbed/.aider.chat.history.md",
    "core_dump": "testbed/core.1234",
    "hidden_test_in_tree": "testbed/examples/notes_on_rounding.txt",
    "hidden_test_elsewhere": "opt/tool/spec.txt",
    "harness_tests": "tests/test_fields.py",
    "harness_solution": "solution/solve.sh",
    "harness_logs": "logs/verifier/test-stdout.txt",
    "harness_script": "eval.sh",
    "shell_history": "root/.bash_history",
    "python_history": "home/dev/.python_history",
    "editor_undo": "root/.vim/undo/fields",
    "notes_in_home": "home/dev/notes.txt",
    "npm_cache": "root/.npm/_cacache/content-v2/sha512/ab/cd/ef",
    "temporary_file": "tmp/scratch.txt",
    "crash_report": "var/crash/report",
    "source_copy": "opt/src/quill/fields.py",
}


def _text_leak(name: str, path: str) -> None:
    def plant(box: Box) -> None:
        box.put(path, f"{FIXED}\n{HIDDEN}")

    plant.__name__ = name
    leak(plant)


for _name, _path in _TEXTS.items():
    _text_leak(_name, _path)


def wheel(version: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("quill/fields.py", FIXED)
        archive.writestr(f"quill-{version}.dist-info/METADATA", f"Name: quill\nVersion: {version}\n")
    return made.getvalue()


def tar_gz(name: str) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        item = tarfile.TarInfo(name)
        item.size = len(FIXED.encode())
        archive.addfile(item, io.BytesIO(FIXED.encode()))
    return made.getvalue()


@leak
def stale_bytecode(box: Box) -> None:
    code = compile(FIXED.replace("quantum_of", repr(SECRETS[1]) + " and quantum_of"), "fields.py", "exec")
    import marshal

    box.put("testbed/quill/__pycache__/fields.cpython-38.pyc", b"\0" * 16 + marshal.dumps(code))


@leak
def pip_cache(box: Box) -> None:
    box.put("root/.cache/pip/http-v2/a/b/body", wheel("1.1.0"))


@leak
def uv_cache(box: Box) -> None:
    box.put("home/dev/.cache/uv/archive-v0/x/quill/fields.py", FIXED)


@leak
def newer_release(box: Box) -> None:
    info = "usr/local/lib/python3/site-packages/quill-1.1.0.dist-info"
    box.put(f"{info}/METADATA", "Metadata-Version: 2.1\nName: quill\nVersion: 1.1.0\n")
    box.put(
        f"{info}/RECORD",
        "quill/__init__.py,,\nquill/fields.py,,\nquill-1.1.0.dist-info/METADATA,,\n../../../../etc/passwd,,\n",
    )
    box.put("usr/local/lib/python3/site-packages/quill/__init__.py", '__version__ = "1.1.0"\n')
    box.put("usr/local/lib/python3/site-packages/quill/fields.py", FIXED)


@leak
def egg_link(box: Box) -> None:
    box.put("opt/newer/quill/__init__.py", "")
    box.put("opt/newer/quill/core.py", FIXED)
    box.put("usr/local/lib/python3/site-packages/quill.egg-link", f"{box.root}/opt/newer\n.")


@leak
def path_file(box: Box) -> None:
    box.put("opt/newer/quill/__init__.py", "")
    box.put("opt/newer/quill/core.py", FIXED)
    box.put("usr/local/lib/python3/site-packages/easy-install.pth", f"{box.repo}\n{box.root}/opt/newer\n")


@leak
def own_wheel(box: Box) -> None:
    box.put("opt/wheels/quill-1.1.0-py3-none-any.whl", wheel("1.1.0"))


@leak
def own_source_archive(box: Box) -> None:
    box.put("opt/tool/quill-1.1.0.tar.gz", tar_gz("quill-1.1.0/quill/fields.py"))


@leak
def archive_of_the_package(box: Box) -> None:
    box.put("opt/backup.tar.gz", tar_gz("work/quill/fields.py"))


@leak
def archive_with_text(box: Box) -> None:
    box.put("testbed/attachments.tgz", tar_gz("notes"))


@leak
def compressed_log(box: Box) -> None:
    box.put("var/log/run.gz", gzip.compress(FIXED.encode()))


@leak
def source_archive_in_pip_folder(box: Box) -> None:
    box.put("tmp/pip-unpack-x/quill-1.1.0.zip", wheel("1.1.0"))


@route
def credentials(box: Box) -> None:
    box.put("root/.netrc", "machine example.org login x password y\n")


# What anyone could read ------------------------------------------------------------------------------------------


def readable(root: Path) -> list[str]:
    """Every place from which a text of the answer can be read, by means of its own: no code of the package is used."""
    found = []
    for file in sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink()):
        data = file.read_bytes()
        if any(_holds(text) for text in (data, *_unpacked(data))):
            found.append(str(file.relative_to(root)))
    packs = [path for path in root.rglob("*") if path.is_file() and b"PACK" in path.read_bytes()[:4096]]
    return found + [str(pack.relative_to(root)) for pack in packs if _holds(_pack_texts(pack))]


def _holds(data: bytes) -> bool:
    return any(secret.encode() in data for secret in SECRETS)


def _unpacked(data: bytes) -> list[bytes]:
    texts = []
    for open_text in (zlib.decompress, gzip.decompress, _zip_texts, _tar_texts):
        try:
            texts.append(open_text(data))
        except Exception:  # any failure means: not of this form
            continue
    return texts


def _zip_texts(data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def _tar_texts(data: bytes) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return b"".join(file.read() for item in archive if (file := archive.extractfile(item)))


def _pack_texts(file: Path) -> bytes:
    """All objects of the pack that a file is or ends with, read in a fresh repository."""
    data = file.read_bytes()
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        git(Path(folder), "init", "-q", "--bare")
        for command in (["index-pack", "--stdin"], ["unpack-objects", "-q"]):
            subprocess.run(
                ["git", *command],
                cwd=folder,
                env=_GIT,
                input=data[data.index(b"PACK") :],
                capture_output=True,
                check=False,
            )
        names = git(Path(folder), "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
        done = subprocess.run(
            ["git", "cat-file", "--batch"],
            cwd=folder,
            env=_GIT,
            input=names.encode() + b"\n",
            capture_output=True,
            check=True,
        )
        return done.stdout
