"""Files that steer a test runner: which of them a rollout planted or bent, and putting them back."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from dataclasses import dataclass

from rubrics.environments.session import Session
from rubrics.errors import InfraError

STEERING = ("conftest.py", "sitecustomize.py", "usercustomize.py", "*.pth", "pytest.ini", ".pytest.ini", "pytest.toml")
"""Files that only steer: new ones go, changed ones come back."""
CONFIGS = ("setup.cfg", "tox.ini", "pyproject.toml", "entry_points.txt")
"""Files that say other things too: they come back only when what they say to pytest changed."""
SHADOWS = ("pytest", "_pytest", "pluggy", "py", "iniconfig", "unittest", "xml", "sitecustomize", "usercustomize")
"""Modules that a file of that name, new where imports start, would stand in for."""
SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Watched:
    digest: str
    """sha256 of the file at base."""
    content: bytes


def watched_files(session: Session, root: str = ".") -> dict[str, Watched]:
    """The steering and configuration files of a session, by path."""
    return {path: Watched(digest, session.read(path)) for path, digest in listing(session, root).items()}


def listing(session: Session, root: str = ".") -> dict[str, str]:
    """sha256 of every steering, configuration and shadowing file below `root`."""
    names = [f"-name '{name}'" for name in (*STEERING, *CONFIGS)]
    names += [
        f"-path './{top}{name}{end}'" for name in SHADOWS for top in ("", "src/") for end in (".py", "/__init__.py")
    ]
    command = f"find {root} -name .git -prune -o \\( {' -o '.join(names)} \\) ! -type d -exec sha256sum -- {{}} +"
    done = session.run(command, SECONDS)
    if done.limit is not None or done.exit_code is None or done.truncated:
        raise InfraError("planted", f"files that steer tests cannot be listed (exit code {done.exit_code})")
    found = {}
    for line in done.output.splitlines():
        match = re.fullmatch(r"\\?([0-9a-f]{64}) [ *](.+)", line)
        if match:
            found[match[2].removeprefix("./")] = match[1]
    return found


def put_back(session: Session, base: dict[str, Watched], keep: frozenset[str]) -> list[str]:
    """Remove what was planted and restore what was bent, but for `keep`; returns what was done, for the record."""
    now = listing(session)
    done: list[str] = []
    for path, digest in sorted(now.items()):
        if path in keep or (path in base and base[path].digest == digest):
            continue
        if path in base:
            if not _is_config(path) or steers(path, session.read(path)) != steers(path, base[path].content):
                session.write(path, base[path].content)
                done.append(f"restored {path}")
        elif not _is_config(path) or steers(path, session.read(path)):
            session.run(f"rm -rf -- {shlex.quote(path)}", SECONDS)
            done.append(f"removed {path}")
    for path in sorted(base.keys() - now.keys() - keep):
        session.write(path, base[path].content)
        done.append(f"restored {path}")
    return done


def steers(path: str, content: bytes) -> str:
    """What a configuration file says to pytest; empty when nothing. One that cannot be read says all it holds."""
    text = content.decode("utf-8", "replace")
    try:
        if path.endswith(".toml"):
            return repr(tomllib.loads(text).get("tool", {}).get("pytest", ""))
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.read_string(text)
    except (configparser.Error, tomllib.TOMLDecodeError):
        return text
    wanted = ("tool:pytest", "pytest", "pytest11")
    said = [(name, sorted(parser.items(name))) for name in wanted if parser.has_section(name)]
    if parser.has_section("options.entry_points") and parser.has_option("options.entry_points", "pytest11"):
        said.append(("entry_points", [("pytest11", parser.get("options.entry_points", "pytest11"))]))
    return repr(said) if said else ""


def _is_config(path: str) -> bool:
    return path.rpartition("/")[2] in CONFIGS
