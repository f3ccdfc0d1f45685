"""What one simple shell command does."""

from __future__ import annotations

import re
from typing import Literal

from rubrics.facts.shell import Simple

ActionKind = Literal[
    "read", "search", "list", "edit", "create", "delete", "revert", "test", "run", "check", "install", "network",
    "history", "diff", "submit", "other",
]  # fmt: skip

Found = tuple[ActionKind, tuple[str, ...]]

_HEADS: dict[str, ActionKind] = {
    **dict.fromkeys(("cat", "head", "tail", "less", "more", "nl", "bat", "awk", "strings", "xxd", "od"), "read"),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "locate", "which"), "search"),
    **dict.fromkeys(("ls", "tree", "pwd", "du", "stat", "file", "wc"), "list"),
    **dict.fromkeys(("pytest", "py.test", "tox", "nox", "nosetests", "jest", "mocha", "vitest", "ctest"), "test"),
    **dict.fromkeys(("phpunit", "rspec", "runtests.py", "runtests", "trial", "ginkgo"), "test"),
    **dict.fromkeys(("flake8", "mypy", "pylint", "ruff", "black", "isort", "pyflakes", "eslint", "tsc"), "check"),
    **dict.fromkeys(("gcc", "g++", "javac", "rustc", "pycodestyle", "pyright"), "check"),
    **dict.fromkeys(("curl", "wget", "ssh", "scp", "nc", "gh", "rsync", "ping"), "network"),
    **dict.fromkeys(("rm", "rmdir", "unlink"), "delete"),
    **dict.fromkeys(("node", "ruby", "perl", "php", "bash", "sh", "zsh", "java", "ipython"), "run"),
    **dict.fromkeys(("patch", "ed", "ex", "dos2unix"), "edit"),
    "touch": "create",
    "diff": "diff",
    "submit": "submit",
}  # fmt: skip
_INSTALLERS = frozenset(
    {
        "pip", "pip3", "apt", "apt-get", "npm", "yarn", "pnpm", "conda", "mamba", "poetry", "uv", "gem", "go", "cargo",
        "apk", "yum", "brew",
    }
)  # fmt: skip
_INSTALL_WORDS = frozenset({"install", "add", "ci", "get", "sync", "develop"})
_TEST_WORDS = frozenset({"test", "tests", "check", "t", "nextest"})
_BUILD_WORDS = frozenset({"build", "vet", "lint", "compile", "run-script"})
_GIT: dict[str, ActionKind] = {
    **dict.fromkeys(("log", "show", "blame", "reflog", "fsck", "tag", "rev-list", "cat-file"), "history"),
    **dict.fromkeys(("for-each-ref", "show-ref", "branch", "describe", "shortlog", "rev-parse"), "history"),
    **dict.fromkeys(("diff", "status", "format-patch", "diff-index", "diff-tree"), "diff"),
    **dict.fromkeys(("clone", "fetch", "pull", "ls-remote", "remote", "push"), "network"),
    **dict.fromkeys(("restore", "reset", "revert", "clean"), "revert"),
    **dict.fromkeys(("apply", "am", "cherry-pick"), "edit"),
    "grep": "search",
    "ls-files": "list",
    "rm": "delete",
}  # fmt: skip
_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*$")
_TEST_MODULES = frozenset({"pytest", "unittest", "nose", "tox", "nox", "trial"})
_CHECK_MODULES = frozenset({"py_compile", "compileall", "mypy", "flake8", "pylint", "black", "ruff", "pyflakes"})
_TEST_SCRIPT = re.compile(
    r"(?:^|/)(?:runtests|run_tests)\.py$|(?:^|/)tests?/(?:.*/)?(?:test_|tests?\b)[^/]*\.py$|(?:^|/)bin/test$"
)
_PATH = re.compile(r"[\w./@+~-]{1,300}$")
_EXTENSION = re.compile(r"\.[A-Za-z]\w{0,9}$")
_BACKUP = re.compile(r"\.(?:bak|backup|orig|old|save)\d*$")
_SUBMISSION = re.compile(r"COMPLETE_TASK_AND_SUBMIT|MICRO_SWE_AGENT_FINAL_OUTPUT|SUBMIT_FINAL_OUTPUT")
_PIPED = frozenset({"tee", "xargs", "patch", "sh", "bash"})


def classify(command: Simple) -> Found | None:
    """Kind and paths of a command; null for one that does nothing of its own, such as a filter in a pipe."""
    words = command.words
    head = words[0].rpartition("/")[2]
    if command.piped and head not in _PIPED and not (_PYTHON.match(head) or head == "git"):
        return None
    if command.target is not None and head not in ("git", "diff"):
        if _PYTHON.match(head) or _HEADS.get(head) in ("test", "run"):
            return _program(head, words)
        return ("edit" if command.appends else "create"), (command.target,)
    if head == "xargs":
        rest = [word for word in words[1:] if word[:1] != "-"]
        return classify(Simple(tuple(rest), None, False, None, False)) if rest else None
    return _program(head, words)


def _program(head: str, words: tuple[str, ...]) -> Found | None:
    if _PYTHON.match(head):
        return _python(words)
    special = _SPECIAL.get(head)
    if special is not None:
        return special(words)
    if head in _INSTALLERS or head in ("make", "mvn", "gradle", "gradlew", "npx", "dotnet", "rake", "bundle", "hatch"):
        return _manager(head, words)
    kind = _HEADS.get(head)
    if kind is None:
        if words[0].startswith("./") or _EXTENSION.search(head):
            return ("test" if _is_test(words[0]) else "run"), (words[0],)
        return "other", ()
    found = paths(_after_pattern(words) if kind == "search" and head not in ("find", "fd") else words[1:])
    if kind == "read" and any(path.endswith((".patch", ".diff")) or path.endswith("patch.txt") for path in found):
        return "diff", found
    return kind, found


def paths(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words that look like paths of files."""
    found = [word.partition("::")[0] for word in words if word[:1] != "-"]
    return tuple(word for word in found if _PATH.match(word) and ("/" in word or _EXTENSION.search(word)))


def _after_pattern(words: tuple[str, ...]) -> tuple[str, ...]:
    plain = tuple(word for word in words[1:] if word[:1] != "-")
    return plain if "-e" in words or "-f" in words else plain[1:]


def _python(words: tuple[str, ...]) -> Found:
    for index, word in enumerate(words[1:], 1):
        if word == "-m" and index + 1 < len(words):
            return _module(words[index + 1], words[index + 2 :])
        if word in ("-c", "-"):
            return "run", ()
        if word[0:1] != "-":
            if word.endswith("setup.py") and _INSTALL_WORDS & set(words[index:]):
                return "install", ()
            if _is_test(word) or (words[index + 1 : index + 2] == ("test",) and word.endswith(".py")):
                return "test", (word,)
            return "run", (word,)
    return "run", ()


def _is_test(script: str) -> bool:
    return len(script) < 300 and _TEST_SCRIPT.search(script) is not None


def _module(name: str, rest: tuple[str, ...]) -> Found:
    top = name.partition(".")[0]
    if top in _TEST_MODULES:
        return "test", paths(rest)
    if top in _CHECK_MODULES:
        return "check", paths(rest)
    if top == "pip":
        return ("install" if "install" in rest else "network" if "download" in rest else "other"), ()
    return "run", ()


def _git(words: tuple[str, ...]) -> Found:
    verbs = [word for word in words[1:] if word[:1] != "-"]
    if len(words) > 2 and words[1] == "-C":
        verbs = verbs[1:]
    verb = verbs[0] if verbs else ""
    found = paths(tuple(verbs[1:]))
    if verb == "stash":
        return ("history" if verbs[1:2] and verbs[1] in ("list", "show", "apply", "branch") else "revert"), ()
    if verb in ("checkout", "switch"):
        return ("revert" if found or "--" in words or verbs[1:2] == ["."] else "history"), found
    if verb == "mv":
        return "create", found[-1:]
    return _GIT.get(verb, "other"), found


def _sed(words: tuple[str, ...]) -> Found:
    options = [word for word in words[1:] if word[:1] == "-"]
    plain = tuple(word for word in words[1:] if word[:1] != "-")
    files = paths(plain if "-f" in options else plain[1:])
    in_place = any(word.startswith("--in-place") or (word[1:2] != "-" and "i" in word[:4]) for word in options)
    return ("edit" if in_place else "read"), files


def _perl(words: tuple[str, ...]) -> Found:
    in_place = any(word[:1] == "-" and "i" in word[:4] for word in words[1:])
    plain = tuple(word for word in words[1:] if word[:1] != "-")
    return ("edit", paths(plain[1:])) if in_place else ("run", paths(plain))


def _copy(words: tuple[str, ...]) -> Found:
    found = tuple(word for word in words[1:] if word[:1] != "-")
    if len(found) >= 2 and _BACKUP.search(found[-2]) and not _BACKUP.search(found[-1]):
        return "revert", found[-1:]
    return "create", found[-1:]


def _echo(words: tuple[str, ...]) -> Found | None:
    return ("submit", ()) if any(map(_SUBMISSION.search, words)) else None


def _tee(words: tuple[str, ...]) -> Found:
    return ("edit" if "-a" in words else "create"), tuple(word for word in words[1:] if word[:1] != "-")


def _nothing(_: tuple[str, ...]) -> None:
    return None


def _manager(head: str, words: tuple[str, ...]) -> Found:
    arguments = words[1:8]
    if head != "make" and any(word in _INSTALL_WORDS for word in arguments[:3]):
        return "install", ()
    if any(word in _TEST_WORDS or word.startswith("test:") for word in arguments) or {"jest", "mocha"} & set(arguments):
        return "test", ()
    if head in ("make", "mvn", "gradle", "gradlew") or _BUILD_WORDS & set(arguments):
        return "check", ()
    if arguments[:1] == ("download",):
        return "network", ()
    return ("run" if "run" in arguments else "other"), ()


_SPECIAL = {
    "git": _git, "sed": _sed, "perl": _perl, "cp": _copy, "mv": _copy, "echo": _echo, "printf": _echo, "tee": _tee,
    "cd": _nothing, "export": _nothing, "source": _nothing, ".": _nothing, "true": _nothing, "set": _nothing,
    "sleep": _nothing, "done": _nothing, "fi": _nothing, "for": _nothing, "if": _nothing,
}  # fmt: skip
