"""Finds the project content that is not code: `flows/`, `prompts/` and `data/`.

From a checkout (or an editable install) they stand beside the package; an installed wheel carries
copies under `rubrics/_content`.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def content_folder(name: str) -> Path:
    """Folder of the given content (`flows`, `prompts` or `data`).

    Raises `FileNotFoundError` naming both places looked at when neither is there.
    """
    carried = _PACKAGE / "_content" / name
    beside = _PACKAGE.parent / name
    for folder in (carried, beside):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"{name}/ is neither in {carried.parent} nor beside {_PACKAGE}; install the package again")
