"""Prompts from `prompts/*.j2`: sandboxed, strict about names, versioned by digest."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, meta
from jinja2.sandbox import SandboxedEnvironment

from rubrics.content import content_folder
from rubrics.digests import digest128


def render(name: str, **values: Any) -> str:
    """The prompt `prompts/<name>.j2` with these values. Raises `jinja2.UndefinedError` for a name that has none."""
    return _environment().get_template(f"{name}.j2").render(**values).strip() + "\n"


@lru_cache(maxsize=64)
def prompt_digest(*names: str) -> str:
    """128-bit digest of the named templates and of all that they include: the version of a prompt."""
    return digest128(text for name in names for text in _sources(f"{name}.j2"))


def _sources(file: str) -> list[str]:
    text = (_folder() / file).read_text("utf-8")
    included = meta.find_referenced_templates(_environment().parse(text))
    return [file, text, *(part for name in included if name for part in _sources(name))]


def _folder() -> Path:
    return content_folder("prompts")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return SandboxedEnvironment(
        loader=FileSystemLoader(_folder()),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        auto_reload=False,
    )
