"""Tools by name: editors, SWE-agent's commands, and function calls of other harnesses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rubrics.facts.commands import ActionKind
from rubrics.records.rollouts import ToolCall

_SHELLS = frozenset(
    {"bash", "shell", "execute_bash", "run_command", "terminal", "execute_command", "run", "exec", "sh"}
)
_EDITORS = frozenset(
    {"str_replace_editor", "str_replace_based_edit_tool", "editor", "edit_tool", "file_editor", "text_editor"}
)
_VERBS: dict[str, ActionKind] = {
    "view": "read",
    "create": "create",
    "str_replace": "edit",
    "insert": "edit",
    "undo_edit": "revert",
}
_TOOLS: dict[str, ActionKind] = {
    **dict.fromkeys(("open", "goto", "scroll_up", "scroll_down", "open_file"), "read"),
    **dict.fromkeys(("read_file", "view_file", "view", "read"), "read"),
    **dict.fromkeys(("search_dir", "search_file", "find_file", "search"), "search"),
    **dict.fromkeys(("grep", "find", "glob", "codebase_search"), "search"),
    **dict.fromkeys(("list_dir", "list_files", "ls"), "list"),
    **dict.fromkeys(("create", "create_file", "write_file", "write"), "create"),
    **dict.fromkeys(("edit", "insert", "edit_file", "apply_patch", "replace", "str_replace", "search_replace"), "edit"),
    **dict.fromkeys(("undo_edit", "undo"), "revert"),
    **dict.fromkeys(("submit", "finish", "submit_result", "attempt_completion"), "submit"),
    **dict.fromkeys(("run_tests", "test"), "test"),
    **dict.fromkeys(("web_search", "browse", "browser", "fetch", "web_fetch"), "network"),
}  # fmt: skip
_PATH_KEYS = ("path", "file_path", "file_name", "filename", "file", "target_file", "dir")
_TEXT_KEYS = ("file_text", "content", "text", "contents", "replace", "new_str")
_SWE_TEXT = re.compile(
    r"(open|goto|scroll_up|scroll_down|search_dir|search_file|find_file|create|edit|insert|set_cursors|submit|undo_edit"
    r"|str_replace_editor)(?![\w.=/-])[ \t]*+"
)
_WORD = re.compile(r"""'([^']*+)'|"([^"]*+)"|(\S++)""")


def shell_text(call: ToolCall) -> str | None:
    """The shell text of a call; null when the call is of another tool."""
    if call.name not in _SHELLS:
        return None
    arguments = call.arguments
    if arguments is None:
        return call.raw
    for key in ("command", "cmd", "code"):
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, (list, tuple)) and value:
            return str(value[-1]) if value[0] in ("bash", "sh") else " ".join(map(str, value))
    return call.raw


def classify_call(name: str, arguments: Mapping[str, Any]) -> tuple[ActionKind, str]:
    """Kind and path of a call that is no shell text; the path may be empty."""
    path = next((value for key in _PATH_KEYS if isinstance(value := arguments.get(key), str)), "")
    if name in _EDITORS:
        verb = arguments.get("command")
        return _VERBS.get(verb, "other") if isinstance(verb, str) else "other", path
    return _TOOLS.get(name.lower(), "other"), path


def written_text(arguments: Mapping[str, Any]) -> str:
    """The text that a call writes into a file, as far as it is given."""
    return next((value for key in _TEXT_KEYS if isinstance(value := arguments.get(key), str)), "")


def swe_agent_text(text: str) -> tuple[str, dict[str, Any]] | None:
    """A SWE-agent command typed as text, as name and arguments; null for other text."""
    match = _SWE_TEXT.match(text)
    if match is None:
        return None
    name = match[1]
    first_line = text[match.end() : match.end() + 1_000].partition("\n")[0]
    words = [a or b or c for a, b, c in _WORD.findall(first_line)]
    if name == "str_replace_editor":
        return name, {"command": words[0] if words else "", "path": words[1] if len(words) > 1 else ""}
    if name in ("open", "create") and words:
        return name, {"path": words[0]}
    if name == "search_file" and len(words) > 1:
        return name, {"path": words[1]}
    return name, {}
