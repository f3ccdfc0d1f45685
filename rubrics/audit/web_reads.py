"""Network commands and installers: what of the target package or repository they reach for."""

from __future__ import annotations

import re

from rubrics.audit.git_reads import verb_of
from rubrics.audit.material import TaskFacts, package_name
from rubrics.audit.reach import Reach
from rubrics.audit.steps import Step

_URL = re.compile(r"""(?:https?|git|ssh)://[^\s'"<>()\\,;|]{4,500}|git@[\w.-]+:[\w./-]{3,200}""")
_LOCAL = re.compile(r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])")
_TICKET = re.compile(
    r"/(?:issues?|pulls?|commits?|compare|merge_requests|ticket|browse|discussions)/|bpo-\d+|show_bug\.cgi|/search\?"
    r"|[?&]q=|\.(?:patch|diff)$"
)
_INDEX = re.compile(r"pypi\.org/(?:pypi|simple|project)/|registry\.npmjs\.org/|rubygems\.org/|crates\.io/")
_RELEASE = re.compile(r"files\.pythonhosted\.org/|/archive/|/releases?/|codeload\.|\.(?:whl|tar\.gz|zip|tgz)$")
_PIPS = frozenset({"pip", "pip3", "uv", "pipx", "conda", "mamba", "poetry", "easy_install"})
_OTHERS = frozenset({"npm", "yarn", "pnpm", "gem", "cargo", "go", "apt", "apt-get"})
_TAKES_VALUE = frozenset({
    "-r", "--requirement", "-c", "--constraint", "-t", "--target", "-i", "--index-url", "--extra-index-url", "-d",
    "--dest", "-f", "--find-links", "--prefix", "--root", "--python", "-n",
})  # fmt: skip
_REQUIREMENT = re.compile(r"(?:python3?-)?([A-Za-z0-9][\w.-]{0,80}?)(?:\[[^\]]*\])?(?:(?:[=<>~!^@]=?|@).*)?$")
_CALLERS = frozenset({"curl", "wget", "http", "browse", "lynx", "w3m", "aria2c", "web_search", "fetch", "browser"})


def read_web(step: Step, task: TaskFacts, output: str) -> Reach | None:
    """What the command reaches of the target; null for one that reaches nothing of it."""
    head = step.head
    if head == "git":
        return _git(step, task)
    if head == "gh":
        return _gh(step)
    words = step.words
    if re.match(r"python[\d.]*$", head) and words[1:3] == ("-m", "pip"):
        head, words = "pip", ("pip", *words[3:])
    if head in _PIPS or head in _OTHERS:
        return _installer(step, words, task, output)
    text = " ".join((*step.words, step.body or ""))[:50_000]
    if head in _CALLERS or (head.startswith("python") and re.search(r"urlopen|requests\.|httpx|urllib", text)):
        return _urls(step, text, task)
    return None


def _git(step: Step, task: TaskFacts) -> Reach | None:
    verb, arguments = verb_of(step.words)
    if verb == "clone":
        urls = [word for word in arguments if word[:1] != "-" and ("/" in word or ":" in word)]
        mine = any(_names_target(word, task) and (":" in word or word.startswith("git@")) for word in urls[:1])
        return Reach(step, "upstream_fetched") if mine else None
    if verb in ("fetch", "pull", "ls-remote"):
        if any(_URL.search(word) and not _names_target(word, task) for word in arguments):
            return None
        return Reach(step, "upstream_fetched", takes=("",) if verb == "pull" else None)
    return None


def _gh(step: Step) -> Reach | None:
    if step.words[1:2] and step.words[1] in ("issue", "pr", "api", "search", "browse"):
        return Reach(step, "ticket_read", prints=True)
    if step.words[1:3] == ("repo", "clone"):
        return Reach(step, "upstream_fetched")
    return None


def _installer(step: Step, words: tuple[str, ...], task: TaskFacts, output: str) -> Reach | None:
    plain: list[str] = []
    skip = False
    for word in words[1:]:
        if skip or word[:1] == "-":
            skip = not skip and word in _TAKES_VALUE
        else:
            plain.append(word)
    if any("git+" in word and _names_target(word, task) for word in words):
        return Reach(step, "upstream_fetched")
    mine = [word for word in plain if _is_target(word, task)]
    if not mine:
        return None
    if {"index", "view", "search", "info"} & set(plain[:2]) or "from versions:" in output:
        return Reach(step, "release_probed")
    if any(re.search(r"==(?:99\d*|999.*|0|0\.0\.0|nonexistent|)$", word) for word in mine):
        return Reach(step, "release_probed")
    if {"install", "download", "add", "pack", "fetch", "get", "source", "wheel"} & set(plain[:3]):
        return Reach(step, "release_installed")
    return None


def _urls(step: Step, text: str, task: TaskFacts) -> Reach | None:
    found: Reach | None = None
    for url in _URL.findall(text):
        if _LOCAL.match(url) or not _names_target(url, task):
            continue
        if _INDEX.search(url):
            found = found or Reach(step, "release_probed")
        elif _TICKET.search(url):
            return Reach(step, "ticket_read", prints=True)
        elif _RELEASE.search(url):
            return Reach(step, "release_installed")
        else:
            return Reach(step, "upstream_fetched", prints=True)
    searched = step.head in ("web_search", "browse") and not _URL.search(text) and _names_target(text, task)
    return found or (Reach(step, "ticket_read", prints=True) if searched else None)


def _names_target(text: str, task: TaskFacts) -> bool:
    """Whether a URL or a query names the target repository or one of its packages."""
    name = task.repository[1]
    words = set(re.split(r"[^a-z0-9_.-]+", text.lower()))
    words |= {re.sub(r"\.git$|-v?\d[\w.]*$", "", word) for word in words}
    plain = {package_name(word) for word in words}
    named = name in words or not task.packages.isdisjoint(plain)
    return bool(name) and (named or ("djangoproject" in text.lower() and name == "django"))


def _is_target(word: str, task: TaskFacts) -> bool:
    match = _REQUIREMENT.match(word)
    return match is not None and "/" not in word and package_name(match[1]) in task.packages
