"""Makes the logs in `logs/` with real runners: `python tests/testing/make_logs.py TOOLS [PART OF A NAME...]`.

TOOLS is a folder that is filled once: virtual environments for every Python runner, `js` with the packages of
npm. Pythons come from pyenv, other runners from the system; what is not there is left out and said. Each log is what
a run of one of `projects/` printed, standard error among standard output; what every test there does is stated in
`truth.json`. Names of folders of this machine are replaced.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
VENVS = {
    "pytest-3.10": ("3.6", "pytest==3.10.1 attrs<22 pluggy<1 more-itertools<8 execnet<2 pytest-forked<1.4 "
                    "pytest-xdist==1.26.0 pytest-rerunfailures==5.0"),
    "pytest-5.4": ("3.7", "pytest==5.4.3 pytest-xdist<2 pytest-rerunfailures<10 pytest-subtests<0.5"),
    "pytest-7.4": ("3.8", "pytest==7.4.4 pytest-xdist pytest-rerunfailures pytest-subtests"),
    "pytest-8.4": ("3.11", "pytest==8.4.2 pytest-xdist pytest-rerunfailures pytest-subtests"),
    "pytest-9.2": ("3.13", "pytest==9.2.0 pytest-xdist pytest-rerunfailures"),
    "django-2.2": ("3.6", "django==2.2.28 tblib<2 asgiref<3.5 pytz sqlparse<0.5"),
    "django-3.2": ("3.8", "django==3.2.25 tblib"),
    "django-4.2": ("3.11", "django==4.2.16 tblib"),
    "django-5.2": ("3.12", "django==5.2.19 tblib"),
    "nose2": ("3.11", "nose2 tox pytest sympy==1.11.1"),
}  # fmt: skip
ALL_TESTS = {"subtests": "pytest-subtests", "reruns": "pytest-reruns", "import": "pytest-import"}


@dataclass(frozen=True)
class Recipe:
    name: str
    project: str
    command: tuple[str, ...]
    """`{project}` stands for the copy of the project that the command runs in."""
    columns: int | None = None
    """Run in a terminal of that width, whose lines are then cut as it would show them."""
    env: dict[str, str] = field(default_factory=dict)
    truth: str | None = None
    """Key in `truth.json`; the project's name where null."""


def recipes(tools: Path) -> Iterator[Recipe]:
    yield from _pytest(tools)
    yield from _unittest()
    yield from _django(tools)
    python = str(tools / "nose2" / "bin" / "python")
    yield Recipe("nose2-v", "nose2", (python, "-m", "nose2", "-v"))
    yield Recipe("sympy-1.11", "sympy", (python, "run.py"))
    yield Recipe("nose2-dots", "nose2", (python, "-m", "nose2"))
    yield Recipe("tox-unittest", "nose2", (python, "-m", "tox"), truth="tox")
    yield from _others(tools)


def _pytest(tools: Path) -> Iterator[Recipe]:
    options: dict[str, str] = {
        "rA": "-rA --tb=line", "v": "-v --tb=line", "v-s": "-v -s --tb=line", "dots": "--tb=line",
        "q-rA": "-q -rA --tb=no", "v-rA": "-v -rA --tb=no", "xdist-v": "-n2 -v --tb=no", "xdist-rA": "-n2 -rA --tb=no",
        "color-rA": "--color=yes -rA --tb=no", "color-v": "--color=yes -v --tb=no",
        "no-header": "-v --no-header --tb=no", "rapP": "-rapP --tb=no",
    }  # fmt: skip
    for version in (name for name in VENVS if name.startswith("pytest-")):
        base = (str(tools / version / "bin" / "python"), "-m", "pytest", "-p", "no:cacheprovider")
        for name, words in options.items():
            if name == "no-header" and version in ("pytest-3.10", "pytest-5.4"):
                continue
            yield Recipe(f"{version}-{name}", "pytest", (*base, *words.split()))
        for name in ("rA", "v"):
            words = f"-{name} --tb=no -k long"
            yield Recipe(f"{version}-wrapped-{name}", "pytest", (*base, *words.split()), columns=80)
            yield Recipe(f"{version}-unittest-{name}", "pytest-unittest", (*base, f"-{name}", "--tb=no"))
            yield Recipe(f"{version}-import-{name}", "pytest-import", (*base, f"-{name}", "--tb=line"))
            more = ("--continue-on-collection-errors",)
            command = (*base, f"-{name}", "--tb=line", *more)
            yield Recipe(f"{version}-import-on-{name}", "pytest-import", command, truth="pytest-import-on")
            yield Recipe(f"{version}-reruns-{name}", "pytest-reruns", (*base, f"-{name}", "--tb=no"))
            if version != "pytest-3.10":
                for words in ("", "-n2"):
                    command = (*base, f"-{name}", "--tb=no", *words.split())
                    yield Recipe(f"{version}-subtests{words}-{name}", "pytest-subtests", command)
        yield Recipe(f"{version}-runner-missing", "pytest", (base[0], "-S", "-m", "pytest"))


def _unittest() -> Iterator[Recipe]:
    for version in ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"):
        python = _python(version)
        if python is None:
            print(f"no Python {version}: its logs are left out")
            continue
        base = (*python, "-m", "unittest")
        yield Recipe(f"unittest-{version}-v", "unittest", (*base, "-v"))
        yield Recipe(f"unittest-{version}-dots", "unittest", base)
        yield Recipe(f"unittest-{version}-buffer", "unittest", (*base, "-v", "-b"))
        if version == "3.14":
            yield Recipe(f"unittest-{version}-color", "unittest", (*base, "-v"), env={"FORCE_COLOR": "1"})


def _django(tools: Path) -> Iterator[Recipe]:
    for version in (name for name in VENVS if name.startswith("django-")):
        base = (
            str(tools / version / "bin" / "python"),
            "-W",
            "ignore",
            "-m",
            "django",
            "test",
            "--settings",
            "settings",
        )
        env = {"PYTHONPATH": "."}
        for verbosity in ("1", "2"):
            yield Recipe(f"{version}-v{verbosity}", "django", (*base, "-v", verbosity), env=env)
        yield Recipe(f"{version}-parallel", "django", (*base, "-v", "2", "--parallel", "2"), env=env)


def _others(tools: Path) -> Iterator[Recipe]:
    """Runners of other languages, of the versions that the system and `js` have."""
    go, node = {"GOFLAGS": "-mod=mod", "GOCACHE": "/tmp/go-cache"}, str(tools / "js" / "node_modules" / ".bin")
    for name, words in {"v": "-v ./...", "json": "-json ./...", "plain": "./..."}.items():
        yield Recipe(f"go-{name}", "go", ("go", "test", "-count=1", *words.split()), env=go)
    yield Recipe("go-broken", "go-broken", ("go", "test", "-v", "./..."), env=go)
    cargo = ("cargo", "test", "--offline", "--no-fail-fast")
    home = {
        "RUST_BACKTRACE": "0",
        "RUSTUP_HOME": str(Path.home() / ".rustup"),
        "CARGO_HOME": str(Path.home() / ".cargo"),
    }
    yield Recipe("cargo", "cargo", cargo, env=home)
    yield Recipe("cargo-one-thread-nocapture", "cargo", (*cargo, "--", "--nocapture", "--test-threads=1"), env=home)
    yield Recipe("cargo-broken", "cargo-broken", cargo, env=home)
    for name, words in {"jest-verbose": "jest --verbose -i", "jest": "jest -i", "mocha": "mocha *.spec.js",
                        "vitest-verbose": "vitest run --reporter=verbose", "vitest": "vitest run"}.items():  # fmt: skip
        command = (f"{node}/{words.split()[0]}", *words.split()[1:])
        yield Recipe(name, name.split("-")[0], command, env={"NODE_PATH": f"{node}/.."})
    for name in ("tap", "spec"):
        yield Recipe(f"node-{name}", "node-test", ("node", "--test", f"--test-reporter={name}"))
    build = "g++ -o t shop_test.cc -lgtest -lgtest_main -lpthread && ./t"
    yield Recipe("gtest", "gtest", ("sh", "-c", build))
    yield Recipe("rspec-documentation", "rspec", ("rspec", "-fd", "shop_spec.rb"))
    yield Recipe("rspec-dots", "rspec", ("rspec", "shop_spec.rb"))
    yield Recipe("phpunit-testdox", "phpunit", ("phpunit", "--testdox", "ShopTest.php"))
    yield Recipe("phpunit-dots", "phpunit", ("phpunit", "ShopTest.php"))
    yield Recipe("tap-prove", "tap", ("prove", "-v", "shop.t", "other.t"), truth="tap-both")
    yield Recipe("tap-perl", "tap", ("perl", "shop.t"))
    repository = "/usr/share/maven-repo"
    yield Recipe("maven-surefire", "maven", ("mvn", "-B", "-o", f"-Dmaven.repo.local={repository}", "test"))


def _python(version: str) -> tuple[str, ...] | None:
    found = sorted(PYENV.glob(f"{version}.*/bin/python"))
    if found:
        return (str(found[-1]),)
    there = shutil.which(f"python{version}")
    return (there,) if there else None


def prepare(tools: Path) -> None:
    """Make the virtual environments that are missing."""
    for name, (version, packages) in VENVS.items():
        python = _python(version)
        if not (tools / name / ".ready").exists() and python is not None:
            subprocess.run([*python, "-m", "venv", tools / name], check=True)
            pip = [tools / name / "bin" / "python", "-m", "pip", "install", "-q"]
            subprocess.run([*pip, "pip==21.3.1" if version == "3.6" else "pip"], check=True)
            subprocess.run([*pip, *packages.split()], check=True)
            (tools / name / ".ready").touch()


def run(recipe: Recipe, tools: Path) -> tuple[str, int]:
    """Output and exit code of a recipe."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        shutil.copytree(HERE / "projects" / recipe.project, project, ignore=shutil.ignore_patterns("__pycache__"))
        command = [word.replace("{project}", str(project)) for word in recipe.command]
        env = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
               "PYTHONHASHSEED": "0", **recipe.env}  # fmt: skip
        text, code = (_in_terminal if recipe.columns else _piped)(command, project, env, recipe.columns or 0)
        text = plain(text, project, tools)
        return (_cut(text, recipe.columns) if recipe.columns else text), code


def _piped(command: list[str], project: Path, env: dict[str, str], columns: int) -> tuple[str, int]:
    done = subprocess.run(command, cwd=project, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)  # fmt: skip
    return done.stdout.decode("utf-8", "replace"), done.returncode


def _in_terminal(command: list[str], project: Path, env: dict[str, str], columns: int) -> tuple[str, int]:
    """What a terminal of that width is sent."""
    main, side = pty.openpty()
    process = subprocess.Popen(command, cwd=project, env={**env, "COLUMNS": str(columns), "TERM": "dumb"},
                               stdin=side, stdout=side, stderr=side)  # fmt: skip
    os.close(side)
    parts = []
    try:
        while part := os.read(main, 65536):
            parts.append(part)
    except OSError:
        pass
    os.close(main)
    return b"".join(parts).decode("utf-8", "replace").replace("\r\n", "\n"), process.wait()


def _cut(text: str, columns: int) -> str:
    """The lines as a terminal of that width shows them."""
    lines = text.split("\n")
    return "\n".join(line[at : at + columns] for line in lines for at in range(0, max(len(line), 1), columns))


def plain(text: str, project: Path, tools: Path) -> str:
    """The text without names of this machine."""
    for folder, name in (
        (project, "/srv/project"),
        (tools, "/srv/tools"),
        (PYENV, "/srv/python"),
        (Path.home(), "/srv/home"),
    ):
        text = text.replace(str(folder.resolve()), name).replace(str(folder), name)
    text = re.sub(r'(File ")[^"]*(/lib/python3\.\d+/)', r"\1/srv/python\2", text)
    return re.sub(r"0x[0-9a-f]{6,}", "0x7f0000000000", text)


def main() -> None:
    tools, parts = Path(sys.argv[1]).resolve(), sys.argv[2:]
    prepare(tools)
    index_path = HERE / "logs" / "index.json"
    index = json.loads(index_path.read_text("utf-8")) if index_path.exists() else {}
    for recipe in recipes(tools):
        if parts and not any(part in recipe.name for part in parts):
            continue
        if shutil.which(recipe.command[0]) is None:
            print(f"{recipe.name}: no {recipe.command[0]}")
            continue
        text, code = run(recipe, tools)
        (HERE / "logs" / f"{recipe.name}.log").write_text(text, "utf-8")
        index[recipe.name] = {"truth": recipe.truth or recipe.project, "exit_code": code}
    index_path.write_text(json.dumps(dict(sorted(index.items())), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
