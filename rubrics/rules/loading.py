"""Loads a rubric file, trusting nothing in it; every message names the line and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

from rubrics.errors import RubricError
from rubrics.records.rubrics import Criterion, Kind, Rubric

MAX_BYTES = 1 << 20
MAX_CRITERIA = 200
CheckRule = Callable[[str, Kind, str], object]
"""(rule, kind, place): raises `RubricError` unless the rule is allowed; see `RuleEvaluator.check`."""

_RUBRIC_FIELDS = {"task", "kind", "author", "studied", "study", "note", "criteria"}
_CRITERION_FIELDS = {
    "id", "text", "weight", "method", "rule", "command", "guidance", "scale", "gate", "fault", "anchor", "evidence",
    "fared",
}  # fmt: skip
_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "str", "int", "float", "bool", "null", "timestamp")}
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_COMPOSE_IN_C = getattr(yaml, "CSafeLoader", None)
_UNCOMMON = re.compile(r"[^\n -~\u00a1-\u1fff\u3000-\ud7ff]")
"""Characters that YAML readers are known to differ about, and some more."""
MAX_DEPTH = 8
"""Deepest nesting that is read by recursion in C; a rubric needs 3."""


class _Loader(yaml.SafeLoader):
    """Plain data only: no tags that make objects, no aliases (they can explode)."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise RubricError(f"{mark.name}:{mark.line + 1}: an alias (*name); write the value out")
        return super().compose_node(parent, index)


@dataclass(frozen=True, slots=True)
class _Mapping:
    """A YAML mapping with the place it stands at."""

    values: dict[str, Any]
    lines: dict[str, int]
    file: str
    line: int

    def place(self, key: str | None = None) -> str:
        return f"{self.file}:{self.lines.get(key, self.line) if key else self.line}"

    def text(self, key: str, required: bool = False) -> str | None:
        value = self.values.get(key)
        if value is None and not required:
            return None
        if not isinstance(value, str) or not value.strip():
            raise RubricError(f'{self.place(key)}: {key} is {value!r}; wanted text. Write {key}: "..."')
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise RubricError(f"{self.place(key)}: {key} is {value!r}; wanted a list of texts")
        return tuple(value)

    def choice(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> Any:
        value = self.values.get(key, default)
        if value not in allowed:
            raise RubricError(f"{self.place(key)}: {key} is {value!r}; wanted one of {', '.join(allowed)}")
        return value

    def only(self, allowed: set[str]) -> None:
        for key in self.values:
            if key not in allowed:
                raise RubricError(
                    f"{self.place(key)}: unknown field {key!r}, correct it; known: {', '.join(sorted(allowed))}"
                )


def from_yaml(text: str, file: str, check_rule: CheckRule) -> Rubric:
    """The rubric that a file's text describes.

    Raises `RubricError` (file, line, value found, value wanted, remedy) for anything that is not valid:
    unknown or repeated fields, weights that are not above 0, rules outside the allow-list, ids used twice.
    """
    if len(text) > MAX_BYTES:
        raise RubricError(f"{file}: {len(text)} characters; a rubric file has at most {MAX_BYTES}")
    top = _mapping(_compose(text, file), file)
    top.only(_RUBRIC_FIELDS)
    kind = top.choice("kind", ("solution", "behavior"))
    nodes = top.values.get("criteria", [])
    if not isinstance(nodes, list):
        raise RubricError(f"{top.place('criteria')}: criteria is {nodes!r}; wanted a list")
    if len(nodes) > MAX_CRITERIA:
        raise RubricError(f"{top.place('criteria')}: {len(nodes)} criteria; at most {MAX_CRITERIA}")
    criteria = tuple(_criterion(node, top, kind, check_rule) for node in nodes)
    seen: set[str] = set()
    for node, criterion in zip(nodes, criteria, strict=True):
        if criterion.id in seen:
            raise RubricError(f"{node.place('id')}: two criteria are called {criterion.id!r}; give each its own id")
        seen.add(criterion.id)
    return Rubric(
        task_id=top.text("task", required=True) or "",
        kind=kind,
        criteria=criteria,
        author=top.text("author") or "edited",
        studied=top.texts("studied"),
        study_digest=top.text("study") or "",
        note=top.text("note") or "",
    )


def _criterion(node: Any, top: _Mapping, kind: Kind, check_rule: CheckRule) -> Criterion:
    if not isinstance(node, _Mapping):
        raise RubricError(
            f"{top.place('criteria')}: a criterion is {node!r}; wanted a mapping with id, text, weight and rule"
        )
    node.only(_CRITERION_FIELDS)
    name = node.text("id", required=True) or ""
    if not _ID.fullmatch(name):
        raise RubricError(f"{node.place('id')}: id is {name!r}; wanted lower-case words joined by '-'")
    method = node.choice("method", ("rule", "judge", "run"), "rule")
    rule = node.text("rule", required=method == "rule")
    if rule is not None:
        check_rule(rule, kind, node.place("rule"))
    command = node.text("command", required=method == "run")
    gate = node.values.get("gate", False)
    if not isinstance(gate, bool):
        raise RubricError(f"{node.place('gate')}: gate is {gate!r}; wanted true or false")
    scale = node.texts("scale") or ("unmet", "met")
    if len(scale) < 2 or len(set(scale)) != len(scale):
        raise RubricError(
            f"{node.place('scale')}: scale is {list(scale)}; wanted two or more different levels, worst first"
        )
    if method == "run" and len(scale) != 2:
        raise RubricError(f"{node.place('scale')}: scale is {list(scale)}; a command is met or unmet: leave it out")
    return Criterion(
        id=name,
        text=node.text("text", required=True) or "",
        weight=_weight(node),
        method=method,
        rule=rule,
        command=command,
        guidance=node.text("guidance"),
        scale=scale,
        gate=gate,
        fault=node.text("fault"),
        anchor=node.text("anchor"),
        evidence=node.texts("evidence"),
        fared=node.text("fared"),
    )


def _weight(node: _Mapping) -> float:
    value = node.values.get("weight")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value <= 1000:  # type: ignore[operator]
        raise RubricError(f"{node.place('weight')}: weight is {value!r}; wanted a number above 0 and at most 1000")
    return float(value)  # type: ignore[arg-type]


def _compose(text: str, file: str) -> yaml.Node:
    """The document's node, by libyaml where that is sure to give the same: it takes a tenth of the time."""
    node = _composed_in_c(text)
    return _composed(text, file) if node is None else node


def _composed_in_c(text: str) -> yaml.Node | None:
    """Null where the text is not simple, or anything is wrong with it: what is wrong is said by the other reader."""
    if _COMPOSE_IN_C is None or _UNCOMMON.search(text):
        return None
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_COMPOSE_IN_C):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH or isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None:
                return None
        return yaml.compose(text, Loader=_COMPOSE_IN_C)
    except yaml.YAMLError:
        return None


def _composed(text: str, file: str) -> yaml.Node:
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise RubricError(
            f"{file}:{line}: character U+{ord(text[error.position]):04X} may not stand in YAML; delete it"
        ) from None
    loader.name = file
    try:
        node = loader.get_single_node()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = mark.line + 1 if mark else 1
        why = getattr(error, "problem", None) or str(error)
        raise RubricError(
            f"{file}:{line}: not YAML: {why}. Correct the line, or run `rubrics synthesize` again"
        ) from None
    except RecursionError:
        raise RubricError(f"{file}: nested too deeply; a rubric is a list of criteria") from None
    finally:
        loader.dispose()
    if node is None:
        raise RubricError(f"{file}: empty; wanted task, kind and criteria. Restore it or delete the file")
    return node


def _mapping(node: yaml.Node, file: str) -> _Mapping:
    value = _value(node, file)
    if not isinstance(value, _Mapping):
        raise RubricError(f"{file}:1: found {type(value).__name__}; wanted a mapping with task, kind and criteria")
    return value


def _value(node: yaml.Node, file: str) -> Any:
    """Plain values; mappings keep the line of each key."""
    line = node.start_mark.line + 1
    if node.tag not in _TAGS:
        raise RubricError(f"{file}:{line}: tag {node.tag!r}; only plain text, numbers and true/false may stand here")
    if isinstance(node, yaml.MappingNode):
        values: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = _value(key_node, file)
            if not isinstance(key, str):
                raise RubricError(f"{file}:{key_node.start_mark.line + 1}: field {key!r}; wanted a name")
            if key in values:
                raise RubricError(f"{file}:{key_node.start_mark.line + 1}: field {key!r} stands twice; delete one")
            values[key] = _value(value_node, file)
            lines[key] = key_node.start_mark.line + 1
        return _Mapping(values, lines, file, line)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, file) for item in node.value]
    constructor = yaml.constructor.SafeConstructor()
    try:
        return constructor.construct_object(node)
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise RubricError(f"{file}:{line}: {node.value!r} cannot be read: {error}") from None
