"""Which files of a repository steer its tests, by rule; a rollout's must be as they are at base. Pure.

What the code under test is made of stays the rollout's. Its tests, what a test runner reads before them, and what would
be imported in place of the runner's own modules does not.
"""

from __future__ import annotations

import configparser
import posixpath
import re
import shlex
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from rubrics import jsonio

RUNNER_FILES = (
    "conftest.py", "sitecustomize.py", "usercustomize.py", "*.pth", "pytest.ini", ".pytest.ini", "pytest.toml",
    ".pytest.toml", "unittest.cfg", "nose2.cfg", ".noserc", ".coveragerc", ".coveragerc.toml", ".env",
    "entry_points.txt", "jest.config.*", "vitest.config.*", ".mocharc*", "karma.conf.*", ".rspec",
    "phpunit.xml*",
)  # fmt: skip
"""Files that only steer a runner, by name."""
COMPILED = ("*.pyc", "*.pyo", "*.so", "*.pyd", "*.egg-link")
"""What an import prefers to source, or takes without any."""
TEST_MODULES = ("test_*.py", "*_test.py", "tests.py")
SHARED = ("setup.cfg", "tox.ini", "pyproject.toml", "package.json")
"""Files that say other things too: they come back only when what they say to a runner changed."""
TEST_FOLDERS = frozenset({"test", "tests"})
COMMAND_FILES = {
    "tox": ("tox.ini", "setup.cfg", "pyproject.toml"), "nox": ("noxfile.py",), "make": ("Makefile", "makefile"),
    "npm": ("package.json",), "yarn": ("package.json",), "invoke": ("tasks.py",), "hatch": ("pyproject.toml",),
}  # fmt: skip
"""Files that say what a command of that name does."""
RUNNER_MODULES = frozenset({
    "pytest", "_pytest", "pluggy", "py", "iniconfig", "packaging", "attr", "attrs", "exceptiongroup", "tomli", "toml",
    "wcwidth", "more_itertools", "pathlib2", "atomicwrites", "zipp", "importlib_metadata", "colorama", "pygments",
    "six", "nose", "nose2", "unittest2", "xdist", "execnet", "coverage", "pytest_cov", "mock", "pytest_django",
    "pytest_mock", "pytest_asyncio", "anyio", "hypothesis", "sitecustomize", "usercustomize", "pkg_resources",
    "setuptools", "_distutils_hack", "distutils-precedence",
})  # fmt: skip
"""Top-level modules that runners and their plug-ins import."""


@dataclass(frozen=True, slots=True)
class Steering:
    """The rule for one task."""

    listed: frozenset[str]
    """Files that the tests to be run stand in."""
    command: str
    installed: frozenset[str] = frozenset()
    """Top-level modules that the environment has installed."""
    at_root: frozenset[str] = frozenset()
    """Names that stand at base where imports start: the project's own, which shadow nothing."""
    free: frozenset[str] = frozenset()
    """Files that the reference changes too and that are no tests: a rollout may change them."""

    def with_roots(self, entries: Iterable[str]) -> Steering:
        """The same, with the names that stand at base where imports start."""
        return replace(self, at_root=frozenset(posixpath.basename(entry).partition(".")[0] for entry in entries))

    @property
    def folders(self) -> tuple[str, ...]:
        """Outermost folders of tests on the way from the root to the listed tests."""
        found = set()
        for path in self.listed:
            parts = path.split("/")[:-1]
            depth = next((place for place, part in enumerate(parts) if part in TEST_FOLDERS), None)
            folder = "/".join(parts[: depth + 1]) if depth is not None else ""
            if folder and not any(path.startswith(f"{folder}/") for path in self.free):
                found.add(folder)
        return tuple(sorted(found))

    @property
    def roots(self) -> tuple[str, ...]:
        """Folders where imports may start: the root, `src`, and those of the listed tests."""
        return tuple(dict.fromkeys(["", "src", "lib", *sorted({posixpath.dirname(path) for path in self.listed})]))

    @property
    def packages(self) -> tuple[str, ...]:
        """`__init__.py` of every folder on the way from the root to the listed tests."""
        ways = {
            "/".join(parts[:size]) for path in self.listed if (parts := path.split("/")) for size in range(len(parts))
        }
        return tuple(sorted(posixpath.join(folder, "__init__.py") for folder in ways))

    @property
    def command_files(self) -> tuple[str, ...]:
        """Files that the command names, and those that its programs take their orders from."""
        words = re.findall(r"[\w./+@-]+", self.command)
        found = {posixpath.normpath(word) for word in words if not word.startswith(("-", "/"))}
        for word in words:
            found.update(COMMAND_FILES.get(posixpath.basename(word), ()))
        return tuple(sorted(path for path in found if path != "." and not path.startswith("..")))

    def shadows(self, path: str) -> bool:
        """Whether a new entry where imports start would stand before a module of others."""
        stem = posixpath.basename(path).partition(".")[0]
        known = stem in sys.stdlib_module_names or stem in RUNNER_MODULES or stem in self.installed
        own = any(free == path or free.startswith(f"{path}/") for free in self.free)
        return known and not own and stem not in self.at_root

    def find(self) -> str:
        """A command that prints sha256 and path of every file that may steer."""
        names = [f"-name {shlex.quote(name)}" for name in (*RUNNER_FILES, *COMPILED, *TEST_MODULES, *SHARED)]
        paths = [f"{folder}/*" for folder in self.folders]
        paths += [*self.packages, *self.command_files, "*.dist-info/*", "*.egg-info/*"]
        tests = [*names, *(f"-path {shlex.quote(f'./{path}')}" for path in paths)]
        return (
            f"find . -name .git -prune -o \\( {' -o '.join(tests)} \\) ! -type d -exec sha256sum -- {{}} +; "
            f"for d in {' '.join(shlex.quote(root or '.') for root in self.roots)}; do "
            '[ -d "$d" ] && (cd "$d" && for f in * .[!.]*; do [ -e "$f" ] && echo "entry $d/$f"; done); done; true'
        )

    def is_shared(self, path: str) -> bool:
        """Whether a file says other things too."""
        return posixpath.basename(path) in SHARED and path not in self.command_files

    def is_source(self, path: str) -> bool:
        """Whether a file that `find` prints is the project's own code all the same.

        An `__init__.py` of base above the tests belongs to a package that is under test, unless it lies in a folder of
        tests. The reference's own files are its solution.
        """
        if path in self.free:
            return True
        inside = any(path.startswith(f"{folder}/") for folder in self.folders)
        return posixpath.basename(path) == "__init__.py" and not inside and posixpath.dirname(path) != ""


def said_to_runners(path: str, content: bytes) -> str:
    """What a shared file says to a test runner, read as the runners read it and as plain text; empty when nothing.

    A line that opens a section for a runner in anybody's reading counts, and so does a file that cannot be read.
    """
    text = content.decode("utf-8", "replace")
    if path.endswith("package.json"):
        return _of_package(text)
    said = [_sections(text)]
    try:
        if path.endswith(".toml"):
            tools = tomllib.loads(text).get("tool", {})
            said.append(repr([(name, tools[name]) for name in ("pytest", "coverage", "tox", "nose2") if name in tools]))
            said.append(repr(tomllib.loads(text).get("project", {}).get("entry-points", "")))
        else:
            parser = configparser.ConfigParser(interpolation=None, strict=False)
            parser.read_string(text)
            said += [repr(sorted(parser.items(name))) for name in parser.sections() if _RUNNER.search(name)]
    except (configparser.Error, tomllib.TOMLDecodeError, AttributeError):
        said.append(text)
    return "\n".join(part for part in said if part not in ("", "[]", "''"))


_RUNNER = re.compile(r"pytest|coverage|nose|unittest|testenv|aliases|entry_points", re.IGNORECASE)


def _sections(text: str) -> str:
    """Lines of every section whose opening line names a runner."""
    kept, inside = [], False
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("["):
            inside = _RUNNER.search(bare) is not None
        if bare and (inside or "pytest11" in bare):
            kept.append(bare)
    return "\n".join(kept)


def _of_package(text: str) -> str:
    try:
        values = jsonio.loads(text)
    except ValueError:
        return text
    if not isinstance(values, dict):
        return text
    return repr(
        [(name, values[name]) for name in ("scripts", "jest", "mocha", "vitest", "ava", "nyc") if name in values]
    )
