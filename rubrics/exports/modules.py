"""Text of the modules that an export carries along, each one file that runs without this package."""

from __future__ import annotations

import re
from pathlib import Path

_CARRIED = Path(__file__).with_name("carried")
_IMPORT = re.compile(r"^from rubrics\.exports\.carried\.lookup import .*\n", re.MULTILINE)
_FUTURE = "from __future__ import annotations\n"
_TYPING = "from typing import Any\n"


def module_text(name: str) -> str:
    """A carried module; the import of the lookup is replaced by the lookup itself."""
    text = (_CARRIED / f"{name}.py").read_text("utf-8")
    if not _IMPORT.search(text):
        return text
    lookup = (_CARRIED / "lookup.py").read_text("utf-8").split(_FUTURE, 1)[1].strip("\n")
    head, body = text.split(_FUTURE, 1)
    body = _IMPORT.sub("", body).replace(_TYPING, "", 1).strip("\n")
    imports, own = _split_imports(body)
    lookup_imports, lookup_body = _split_imports(lookup)
    return f"{head}{_FUTURE}\n{_joined(lookup_imports, imports)}\n{lookup_body}\n\n\n{own}\n"


def _split_imports(text: str) -> tuple[list[str], str]:
    lines = text.split("\n")
    count = next(number for number, line in enumerate(lines) if line and not line.startswith(("import ", "from ")))
    return [line for line in lines[:count] if line], "\n".join(lines[count:])


def _joined(standard: list[str], other: list[str]) -> str:
    return "\n".join(standard) + ("\n\n" + "\n".join(other) if other else "") + "\n"
