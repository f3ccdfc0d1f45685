"""The report page: one HTML file that fetches nothing and runs its own script only. The one home of Jinja2."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from rubrics import jsonio

_FOLDER = Path(__file__).parent
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def render(content: Mapping[str, Any], data: Mapping[str, Any], patches: str) -> str:
    """The page. `content` fills the template, escaped; `data` is what the script reads, as inert JSON, and
    `patches` what it unpacks, in base64.

    The page's policy allows this one style and this one script, by their digests, and no request of any kind.
    """
    environment = SandboxedEnvironment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = (_FOLDER.joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; style-src '{_source(style)}'; script-src '{_source(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return environment.get_template("page.html").render(
        **content, policy=policy, style=style, script=script, data=inert(data), patches=patches
    )


def inert(data: Any) -> str:
    """JSON that is safe inside a script element: no text in it can end the element or open another."""
    text = jsonio.dumps(data)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def _source(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
