"""Rubric files: YAML that people read and edit, one per task and kind."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import yaml

from rubrics.records.rubrics import Criterion, Rubric

HEADER = """\
# {what}
# Edit freely: change texts, rules and weights, delete criteria, add your own. `rubrics score` reads this
# file; what you change becomes a new rubric by author `edited`. `rubrics facts --describe` lists what a
# rule may name; docs/rubrics.md describes every field.
"""
_WHAT = {
    "solution": "Solution rubric of {task}: what a good patch does.",
    "behavior": "Behavior rubric of {task}: how a good attempt works.",
}
_DEFAULTS = {field.name: field.default for field in fields(Criterion)}


class _Dumper(yaml.SafeDumper):
    """Block text for long strings, flow lists for short ones, indented sequences."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    exact = value.replace("\n", "").isprintable() and value.strip() == value.removesuffix("\n")
    style = ("|" if "\n" in value else None) if exact else '"'  # all but quotes lose some control characters or blanks
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _list(dumper: yaml.SafeDumper, value: list[Any]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)


def to_yaml(rubric: Rubric) -> str:
    """The file's text. Loading it gives an equal rubric."""
    content: dict[str, Any] = {
        "task": rubric.task_id,
        "kind": rubric.kind,
        "author": rubric.author,
        "studied": list(rubric.studied),
        "study": rubric.study_digest,
        "note": rubric.note,
    }
    head = HEADER.format(what=_WHAT[rubric.kind].format(task=_one_line(rubric.task_id)))
    body = _dump({name: value for name, value in content.items() if value})
    if not rubric.criteria:
        return f"{head}{body}criteria: []\n"
    items = "\n".join(_item(criterion) for criterion in rubric.criteria)
    return f"{head}{body}criteria:\n{items}"


def _item(criterion: Criterion) -> str:
    lines = _dump(_fields(criterion)).removesuffix("\n").split("\n")
    return "\n".join([f"  - {lines[0]}", *(f"    {line}" if line else "" for line in lines[1:])]) + "\n"


def _fields(criterion: Criterion) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for field in fields(Criterion):
        value = getattr(criterion, field.name)
        if field.name == "method" and value == "rule":
            continue
        if field.name in ("id", "text", "weight", "method") or value != _DEFAULTS[field.name]:
            shown[field.name] = list(value) if isinstance(value, tuple) else value
    return shown


def _dump(content: dict[str, Any]) -> str:
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)[:200]
