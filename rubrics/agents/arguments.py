"""The arguments of a call of a tool, read strictly. What is wrong with them is said to the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubrics.agents.conversation import ToolRefusal
from rubrics.records.models import Tool

LONGEST = 20_000
"""Characters of one argument."""


def tool(name: str, description: str, required: Mapping[str, str], optional: Mapping[str, str] | None = None) -> Tool:
    """A tool whose arguments are texts, or integers where the description starts with `integer:`."""
    described = {**required, **(optional or {})}
    properties = {
        key: {"type": "integer", "description": text.removeprefix("integer:").strip()}
        if text.startswith("integer:")
        else {"type": "string", "description": text}
        for key, text in described.items()
    }
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return Tool(name, description, schema)


class Arguments:
    """Arguments of one call. Every way to read one raises `ToolRefusal` for what cannot be used."""

    def __init__(self, of: Tool, values: Mapping[str, Any]) -> None:
        known = of.parameters["properties"]
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ToolRefusal(f"{of.name} has no argument {unknown[0]!r:.80}; it has {', '.join(known)}")
        missing = [name for name in of.parameters["required"] if values.get(name) is None]
        if missing:
            raise ToolRefusal(f"{of.name} needs the argument {missing[0]!r}")
        self._name = of.name
        self._values = values

    def text(self, name: str, default: str = "") -> str:
        """A text without NUL, of at most `LONGEST` characters, that UTF-8 can hold."""
        value = self._values.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise ToolRefusal(f"{name} of {self._name} is no text")
        if len(value) > LONGEST:
            raise ToolRefusal(f"{name} of {self._name} has {len(value)} characters; at most {LONGEST}")
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise ToolRefusal(f"{name} of {self._name} holds a NUL or half a surrogate pair")
        return value

    def number(self, name: str, default: int | None = None) -> int | None:
        """A whole number from 0; one that is written as text will do."""
        value = self._values.get(name)
        if value is None:
            return default
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**12:
            raise ToolRefusal(f"{name} of {self._name} is no whole number from 0: {value!r:.80}")
        return value
