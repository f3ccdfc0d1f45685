"""What preparation looks for and what it may do, in one frozen record with a default for everything."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from rubrics.errors import UsageError

IN_TREE: dict[str, tuple[str, ...]] = {
    "build_log": ("*.log", "nohup.out", "typescript", "build.txt", "build_output*", "*.trace"),
    "verifier_output": (
        "test_output*", "test-output*", "report.json", "reward.txt", "reward.json", "results.xml", "junit*.xml",
        "ctrf*.json", "eval.sh", "run_eval*.sh", "coverage.xml", ".coverage", ".coverage.*", "htmlcov", "*.traj",
        "*.traj.json", "preds.json", "FAIL_TO_PASS*", "PASS_TO_PASS*",
    ),
    "patch_file": ("*.patch", "*.diff", "*.orig", "*.rej", "*.bundle", "*.mbox"),
    "test_cache": (".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".testmondata*"),
    "compiled": ("__pycache__", "*.pyc", "*.pyo"),
    "build_copy": ("*.whl", "*.deb", "*.rpm"),
    "editor_file": (
        ".*.sw[a-p]", "*~", "#*#", ".#*", "*.bak", "*.un~", "*.save", ".idea", ".vscode", ".history", ".DS_Store",
        ".ipynb_checkpoints",
    ),
    "agent_file": (".aider*", ".claude", ".codex", ".cursor", ".openhands", ".swe-agent", ".specstory"),
    "core_dump": ("core", "core.[0-9]*", "vgcore.*", "*.core", "*.stackdump", "hs_err_pid*"),
}  # fmt: skip
"""Names in the work tree, by kind. What stands at base is left alone, whatever its name."""

IN_HOME: dict[str, tuple[str, ...]] = {
    "shell_history": (
        ".bash_history", ".zsh_history", ".ash_history", ".sh_history", ".histfile", "fish_history", ".python_history",
        ".node_repl_history", ".sqlite_history", ".psql_history", ".irb_history", ".lesshst", ".viminfo",
        ".wget-hsts", ".zsh_sessions",
    ),
    "editor_file": (".vim/undo", ".vim/swap", ".local/state/nvim", ".local/share/nvim/swap", ".emacs.d/auto-save-list"),
    "package_cache": (
        ".cache/pip", ".cache/uv", ".cache/pypoetry/cache", ".cache/pypoetry/artifacts", ".cache/pdm", ".cache/yarn",
        ".cache/pre-commit", ".cache/git", ".npm/_cacache", ".npm/_logs", ".pip", ".pip-cache", ".bun/install/cache",
    ),
    "agent_file": (".aider*", ".claude", ".codex", ".openhands", ".swe-agent", ".continue", ".vscode-server"),
    "home_leftover": (".netrc", ".git-credentials", ".config/gh", ".config/hub", ".local/share/Trash", ".ipython"),
}  # fmt: skip
"""Paths below each home folder, by kind."""

FOLDERS: tuple[str, ...] = (
    "tests", "test", "solution", "solutions", "logs", "oracle", "verifier", "eval", "evaluation", "grader", "output",
    "var/crash", "var/lib/systemd/coredump", "var/cache/pip",
)  # fmt: skip
"""Folders of a harness, below the root. Removed whole unless the work tree lies inside."""

LOOSE: tuple[str, ...] = (
    "eval.sh", "run_tests.sh", "run_test.sh", "test.sh", "patch.diff", "test.patch", "gold.patch", "solution.patch",
    "fix.patch", "solution.sh", "solve.sh", "instance.json", "task.json", "config.json", "nohup.out", "core",
)  # fmt: skip
"""Files that lie directly in the root, a home folder or a folder for temporary files."""

TEMPORARY: tuple[str, ...] = ("tmp", "var/tmp", "dev/shm")
UNSEEN: tuple[str, ...] = ("proc", "sys", "dev")
"""Folders below the root that a search does not enter."""

PROTECTED: tuple[str, ...] = (
    "bin",
    "sbin",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "usr",
    "etc",
    "boot",
    "proc",
    "sys",
    "dev",
)
"""Folders below the root from which only packages are removed: what else is found there is reported."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """How one environment is prepared."""

    root: str = "/"
    """The environment's own root: nothing outside is read or touched. `/` inside a container."""
    work_tree: Literal["base", "keep"] = "base"
    """`base`: tracked files get their content at base; `keep`: what the image changed in them stays."""
    keep: tuple[str, ...] = ()
    """Globs over absolute paths that are never removed nor reported."""
    packages: tuple[str, ...] = ()
    """Names under which the repository is published, beside those its own files tell."""
    homes: tuple[str, ...] = ("root", "home/*")
    """Home folders, as globs below the root."""
    keep_tags: bool = True
    """Keep tags on base's ancestors; `False` drops every tag."""
    answer_lines: int = 40
    """At most so many lines of reference and test patch are searched for; 0: none."""
    answer_length: int = 20
    """Shorter lines are not searched for: they stand everywhere."""
    archive_bytes: int = 64_000_000
    """Files larger than this that are packed or no text are reported, not opened."""
    text_bytes: int = 64_000_000
    """Files larger than this are not searched for answer lines."""
    system_bytes: int = 2_000_000
    """The same in folders of the system (`/usr` and the like), where larger files are programs."""
    opened_bytes: int = 1_000_000_000
    """At most so many bytes of files are opened: those with a trace of the answer first, then small ones first."""
    rounds: int = 5
    """Passes of probe and scrub before giving up."""
    seconds: float = 600.0
    """Time limit of one command in the environment."""

    def __post_init__(self) -> None:
        if not self.root.startswith("/") or ".." in self.root.split("/"):
            raise UsageError(f"root {self.root!r}; wanted an absolute path without `..`")
        if self.work_tree not in ("base", "keep"):
            raise UsageError(f"work_tree {self.work_tree!r}; wanted `base` or `keep`")
        if self.rounds < 1 or self.seconds <= 0:
            raise UsageError(f"rounds {self.rounds}, seconds {self.seconds}; wanted at least 1, and more than 0")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Preparation:
        """Checked values of a configuration file. Raises `UsageError` naming a key that is not known."""
        known = {item.name for item in fields(cls)}
        for name in values.keys() - known:
            raise UsageError(f"preparation: unknown key {name!r}; known: {', '.join(sorted(known))}")
        given: dict[str, Any] = {name: tuple(item) if isinstance(item, list) else item for name, item in values.items()}
        return cls(**given)

    def below(self, path: str) -> str:
        """A path below the root."""
        return f"{self.root.rstrip('/')}/{path}"
