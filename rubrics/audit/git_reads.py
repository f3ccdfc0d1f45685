"""git commands: which of them look beyond the ancestry of the base commit."""

from __future__ import annotations

from rubrics.audit.reach import Reach
from rubrics.audit.refs import Refs
from rubrics.audit.steps import Step

_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})
_EVERYWHERE = ("--all", "--branches", "--remotes", "--tags", "--glob", "--reflog", "--walk-reflogs", "--alternate-refs")
_SHOWS = frozenset({"-p", "-u", "--patch", "-c", "--cc"})
_HIDES = frozenset({"--stat", "--name-only", "--name-status", "--shortstat", "--numstat", "-s", "--no-patch", "-q"})
_OBJECTS = frozenset({"fsck", "unpack-objects", "verify-pack", "show-index", "lost-found"})
_TAKING = frozenset({"cherry-pick", "merge", "rebase", "pull", "am"})
_PRINTING = frozenset({"diff", "blame", "annotate", "grep", "archive", "format-patch", "range-diff", "diff-tree"})


def verb_of(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The git command and its arguments, without git's own options."""
    at = 1
    while at < len(words) and words[at][:1] == "-":
        at += 2 if words[at] in _WITH_VALUE else 1
    return (words[at], words[at + 1 :]) if at < len(words) else ("", ())


def read_git(step: Step, refs: Refs, output: str) -> Reach | None:
    """What the command reaches beyond base; null for one that stays within. Updates what is known of refs."""
    verb, arguments = verb_of(step.words)
    if verb in ("log", "rev-list", "shortlog", "whatchanged", "show-branch"):
        return _log(step, verb, arguments, refs, output)
    if verb == "stash":
        return _stash(step, arguments, refs)
    if verb == "reflog":
        return None if refs.committed else Reach(step, "history_searched")
    if verb in _OBJECTS or (verb == "cat-file" and "--batch-all-objects" in arguments):
        return Reach(step, "history_searched")
    if verb in ("fetch", "clone", "ls-remote", "pull"):
        return None
    if verb in ("branch", "tag", "for-each-ref", "show-ref"):
        return _refs_listed(step, verb, arguments, refs, output)
    if verb == "commit":
        refs.saw_commit(output)
        return None
    if verb in ("rev-parse", "describe"):
        if not any(word.startswith(_EVERYWHERE) or refs.standing(word) == "foreign" for word in arguments):
            refs.saw_ancestors(output)
        return None
    return _content(step, verb, arguments, refs, output)


def _log(step: Step, verb: str, arguments: tuple[str, ...], refs: Refs, output: str) -> Reach | None:
    options = _before_paths(arguments)
    everywhere = any(word.startswith(_EVERYWHERE) or word == "-g" for word in options)
    ends = [word if "..." in word else word.rpartition("..")[2] or word for word in options if word[:1] != "-"]
    foreign = any(refs.standing(end) == "foreign" for end in ends)
    if not everywhere and not foreign:
        refs.saw_ancestors(output)
        return None
    refs.saw_listing(output)
    prints = verb != "rev-list" and bool(_SHOWS & set(options) or any(word[:2] in ("-L", "-U") for word in options))
    return Reach(step, "history_read" if prints else "history_searched", prints)


def _stash(step: Step, arguments: tuple[str, ...], refs: Refs) -> Reach | None:
    verb = next((word for word in arguments if word[:1] != "-"), "push")
    if verb in ("push", "save", "create", "store"):
        refs.own_stashes += 1
        return None
    if refs.own_stashes:
        return None
    if verb in ("pop", "apply", "branch"):
        return Reach(step, "history_read", takes=("",))
    return Reach(step, "history_read", prints="-p" in arguments or verb == "show") if verb in ("show", "list") else None


def _refs_listed(step: Step, verb: str, arguments: tuple[str, ...], refs: Refs, output: str) -> Reach | None:
    """Listing refs is how an agent finds its way: of itself it is nothing, except a search of tags for a commit."""
    names = [word for word in arguments if word[:1] != "-"]
    if verb in ("branch", "tag") and names and not {"-l", "--list", "-a", "-r", "--contains"} & set(arguments):
        refs.made(names[0])
        return None
    refs.saw_listing(output)
    return Reach(step, "history_searched") if "--contains" in arguments else None


def _content(step: Step, verb: str, arguments: tuple[str, ...], refs: Refs, output: str) -> Reach | None:
    if verb in ("checkout", "switch", "worktree") and {"-b", "-B", "-c", "--orphan"} & set(arguments):
        marks = [word for word in arguments if word[:1] != "-"]
        refs.made(marks[1] if verb == "worktree" and len(marks) > 1 else marks[0] if marks else "")
        arguments = tuple(marks[1:])
    options = _before_paths(arguments)
    revision = next((found for word in options if (found := _foreign(verb, word, refs)) is not None), None)
    if revision is None:
        if verb in ("show", "blame", "annotate"):
            refs.saw_ancestors(output)
        return None
    if verb == "restore" or verb in ("checkout", "switch", "reset") or verb in _TAKING:
        return Reach(step, "history_read", takes=_after(arguments, revision) or ("",))
    if verb == "show":
        hidden = bool(_HIDES & set(options)) and not _SHOWS & set(options)
        return Reach(step, "history_read", prints=not hidden)
    if verb == "cat-file":
        return Reach(step, "history_read", prints=not {"-t", "-s", "-e"} & set(options))
    if verb == "worktree" or verb in ("ls-tree", "read-tree"):
        return Reach(step, "history_read")
    return Reach(step, "history_read", prints=not _HIDES & set(options)) if verb in _PRINTING else None


def _foreign(verb: str, word: str, refs: Refs) -> str | None:
    """The word when it names a revision beyond base."""
    if word[:1] == "-":
        value = word.partition("=")[2] if word.startswith("--source=") else ""
        return word if value and refs.standing(value) == "foreign" else None
    if word.startswith((":/", "^{/")):
        return word  # the youngest commit with such a message, reachable from any ref
    name, colon, _ = word.partition(":")
    standing = refs.standing(name)
    if standing == "foreign" and (colon or "." not in name.rpartition("/")[2] or not name.endswith((".py", ".md"))):
        return word
    bare = colon or (verb in ("show", "cherry-pick", "merge") and "/" not in name and "." not in name)
    return word if standing == "unknown" and bare else None


def _before_paths(arguments: tuple[str, ...]) -> tuple[str, ...]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _after(arguments: tuple[str, ...], revision: str) -> tuple[str, ...]:
    rest = arguments[arguments.index(revision) + 1 :] if revision in arguments else arguments
    return tuple(word for word in rest if word[:1] != "-")
