"""JSON schemas in the part of the language that every strict mode takes: closed objects, all fields required."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
BOOL: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
SCORE: Schema = {"type": "integer", "enum": [1, 2, 3, 4, 5]}
"""A list of values where a range would do: not every strict mode knows ranges."""


def closed(properties: Mapping[str, Schema]) -> Schema:
    """An object with exactly these fields, in this order."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def listed(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def words(allowed: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(allowed)}


def or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


POINTERS: Schema = listed(closed({"place": TEXT, "quote": TEXT}))
"""Evidence: places, each with a quote that stands there."""


def named(part: str) -> Schema:
    """A part of a schema by its name: what stands many times is written once, by `defining`."""
    return {"$ref": f"#/$defs/{part}"}


def defining(schema: Schema, **parts: Schema) -> Schema:
    """The whole schema with the parts that it names."""
    return {**schema, "$defs": parts}


EVIDENCE: Schema = named("evidence")
"""`POINTERS` where a schema asks for them many times; to be defined by that name."""
