"""What expressions of Python stand for, worked out without running anything.

Constants come from literals alone, within bounds, so that a name in pieces or in base64 is read as the name it is.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import re
from collections.abc import Callable, Sequence
from typing import Any

LONGEST, LONGEST_PATH = 20_000, 500
"""Characters of a constant that is worked out, and of a dotted path."""
TEXT = "="
"""Begins the key under which the text is kept that a name stands for."""
_ELEMENTS = 2_000
"""Elements of a comprehension."""
_DEEPEST = 60
"""Parts of a dotted path, and of what it is worked out from."""


def bind(found: ast.AST, names: dict[str, str]) -> None:
    """Learn what names stand for. Twice, for what is assigned may be used before it is met."""
    for _ in range(2):
        for node in ast.walk(found):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    names[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            elif isinstance(node, ast.Assign | ast.NamedExpr):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                value, text = dotted(node.value, names), constant(node.value, names)
                written = isinstance(node.value, ast.Constant) or (isinstance(text, str) and len(text) < LONGEST_PATH)
                for target in targets:
                    if isinstance(target, ast.Name) and value and value != target.id:
                        names.setdefault(target.id, value)
                    if isinstance(target, ast.Name) and isinstance(text, str) and written:
                        names.setdefault(TEXT + target.id, text)
            elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
                value = dotted(node.iter, names)
                if value:
                    names.setdefault(node.target.id, f"{value}.*")


def dotted(node: ast.AST, names: dict[str, str], depth: int = 0) -> str:
    """The dotted path that an expression stands for, imports and lookups by constant names undone; empty if none."""
    path = _dotted(node, names, depth + 1) if depth < _DEEPEST else ""
    return path if len(path) <= LONGEST_PATH else ""


def _dotted(node: ast.AST, names: dict[str, str], depth: int) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value, names, depth)
        return f"{owner}.{node.attr}" if owner else ""
    if isinstance(node, ast.Subscript):
        owner, key = dotted(node.value, names, depth), constant(node.slice, names)
        if owner == "sys.modules" and isinstance(key, str):
            return key
        if owner.endswith(".__dict__") and isinstance(key, str):
            return f"{owner.removesuffix('.__dict__')}.{key}"
        return f"{owner}.*" if owner else ""
    if isinstance(node, ast.Call):
        return _called(node, names, depth)
    if isinstance(node, ast.BoolOp):
        return next(filter(None, (dotted(value, names, depth) for value in node.values)), "")
    if isinstance(node, ast.Await | ast.Starred):
        return dotted(node.value, names, depth)
    return ""


def _called(node: ast.Call, names: dict[str, str], depth: int) -> str:
    function = dotted(node.func, names, depth)
    first = constant(node.args[0], names) if node.args else None
    if function in ("importlib.import_module", "__import__", "builtins.__import__", "importlib.__import__"):
        return first if isinstance(first, str) else ""
    if function == "sys.modules.get" and isinstance(first, str):
        return first
    if function in ("getattr", "builtins.getattr") and len(node.args) >= 2:
        owner, name = dotted(node.args[0], names, depth), constant(node.args[1], names)
        return f"{owner}.{name}" if owner and isinstance(name, str) else f"{owner}.*" if owner else ""
    if function in ("list", "tuple", "iter", "set", "sorted", "enumerate", "reversed", "dict") and node.args:
        return dotted(node.args[0], names, depth)
    if function in ("vars", "globals", "locals"):
        return f"{dotted(node.args[0], names, depth)}.__dict__" if node.args else ""
    return f"{function}()" if function else ""


# Constants ----------------------------------------------------------------------------------------------------------

_CODECS = frozenset(("rot13", "rot_13", "hex", "hex_codec", "base64", "base64_codec", "utf-8", "ascii", "latin-1"))
_METHODS: dict[str, Callable[..., Any]] = {
    "lower": lambda text: text.lower(), "upper": lambda text: text.upper(), "swapcase": lambda text: text.swapcase(),
    "title": lambda text: text.title(), "capitalize": lambda text: text.capitalize(),
    "strip": lambda text, *more: text.strip(*more), "lstrip": lambda text, *more: text.lstrip(*more),
    "rstrip": lambda text, *more: text.rstrip(*more), "replace": lambda text, *more: _replaced(text, *more),
    "removeprefix": lambda text, part: text.removeprefix(part),
    "removesuffix": lambda text, part: text.removesuffix(part),
    "encode": lambda text, *_: text.encode(), "decode": lambda text, *_: text.decode("utf-8", "replace"),
    "join": lambda text, parts: _joined(text, parts), "split": lambda text, *more: text.split(*more),
    "format": lambda text, *parts: _formatted(text, parts), "hex": lambda data: data.hex(),
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "chr": chr, "bytes": lambda data: bytes(data) if not isinstance(data, int) else b"", "bytearray": bytes,
    "str": lambda text, *_: text if isinstance(text, str) else text.decode() if isinstance(text, bytes) else str(text),
    "bytes.fromhex": bytes.fromhex, "bytearray.fromhex": bytes.fromhex, "binascii.unhexlify": binascii.unhexlify,
    "reversed": lambda data: list(reversed(data)), "list": list, "tuple": list,
    "base64.b64decode": base64.b64decode, "b64decode": base64.b64decode, "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode, "base64.b85decode": base64.b85decode, "base64.a85decode": base64.a85decode,
    "base64.urlsafe_b64decode": base64.urlsafe_b64decode, "binascii.a2b_base64": binascii.a2b_base64,
    "codecs.decode": lambda data, how="utf-8", *_: codecs.decode(data, how) if how in _CODECS else None,
    "codecs.encode": lambda data, how="utf-8", *_: codecs.encode(data, how) if how in _CODECS else None,
}  # fmt: skip


_PLAIN_FORMAT = re.compile(r"(?:[^%{}]|%[sdrc%]|\{\d?\})*+")
"""Formats that fill in what they are given, at its own length."""


def _formatted(text: str, parts: Sequence[Any]) -> str:
    if not _PLAIN_FORMAT.fullmatch(text) or sum(len(str(part)) for part in parts) * len(text) > 10 * LONGEST:
        raise ValueError
    return text.format(*parts)


def _joined(text: Any, parts: Sequence[Any]) -> Any:
    if sum(map(len, parts)) + len(text) * len(parts) > LONGEST:
        raise ValueError
    return text.join(parts)


def _replaced(text: Any, old: Any, new: Any) -> Any:
    if (text.count(old) + 1) * len(new) > LONGEST:
        raise ValueError
    return text.replace(old, new)


def constant(node: ast.AST, names: dict[str, str] | None = None, depth: int = 0) -> Any:
    """The value of an expression that is made of literals alone, and of names that `_bind` knows to hold a text; null
    where it is not, or is too large."""
    if depth > 20:
        return None
    try:
        value = _constant(node, names or {}, depth)
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, LookupError, OverflowError, RecursionError,
            MemoryError, binascii.Error):  # fmt: skip
        return None
    return value if not hasattr(value, "__len__") or len(value) <= LONGEST else None


def _constant(node: ast.AST, names: dict[str, str], depth: int) -> Any:
    def of(other: ast.AST) -> Any:
        value = constant(other, names, depth + 1)
        if value is None:
            raise ValueError
        return value

    if isinstance(node, ast.Constant):
        return node.value if not isinstance(node.value, type(Ellipsis)) else None
    if isinstance(node, ast.Name):
        return names.get(TEXT + node.id)
    if isinstance(node, ast.BinOp):
        left, right = of(node.left), of(node.right)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Mod) and isinstance(left, str) and _PLAIN_FORMAT.fullmatch(left):
            return left % (tuple(right) if isinstance(right, list) else right)
        if isinstance(node.op, ast.Mult) and isinstance(right, int) and right < 100 and not isinstance(left, int):
            return left * right
        if isinstance(left, int) and isinstance(right, int) and isinstance(node.op, ast.Sub | ast.BitXor):
            return left - right if isinstance(node.op, ast.Sub) else left ^ right
        return None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(of(part.value if isinstance(part, ast.FormattedValue) else part)) for part in node.values)
    if isinstance(node, ast.List | ast.Tuple):
        return [of(item) for item in node.elts[:LONGEST]]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        parts = [None if part is None else of(part) for part in (node.slice.lower, node.slice.upper)]
        step = node.slice.step
        sign = step.operand if isinstance(step, ast.UnaryOp) else step
        size = None if sign is None else of(sign) * (-1 if isinstance(step, ast.UnaryOp) else 1)
        return of(node.value)[parts[0] : parts[1] : size]
    if isinstance(node, ast.Subscript):
        return of(node.value)[of(node.slice)]
    if isinstance(node, ast.GeneratorExp | ast.ListComp) and len(node.generators) == 1:
        return _comprehended(node, of(node.generators[0].iter), names, depth)
    if isinstance(node, ast.Call) and not node.keywords:
        return _applied(node, of)
    return None


def _comprehended(node: ast.GeneratorExp | ast.ListComp, values: Any, names: dict[str, str], depth: int) -> Any:
    """A comprehension over a constant: its element with each value in turn for the variable."""
    part = node.generators[0]
    if not isinstance(part.target, ast.Name) or part.ifs or len(values) > _ELEMENTS:
        return None
    key = TEXT + part.target.id
    found = [constant(node.elt, {**_used(node.elt, names), key: value}, depth + 1) for value in values]
    return None if None in found else found


def _used(node: ast.AST, names: dict[str, str]) -> dict[str, Any]:
    """Of what names stand for, what an expression uses."""
    keys = [TEXT + part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    return {key: names[key] for key in keys if key in names}


def _applied(node: ast.Call, of: Callable[[ast.AST], Any]) -> Any:
    name = dotted(node.func, {})
    if name == "map" and node.args and dotted(node.args[0], {}) == "chr":
        return [chr(value) for value in of(node.args[1])]
    if name == "ord" and len(node.args) == 1:
        return ord(of(node.args[0]))
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](*map(of, node.args))
    if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
        owner = of(node.func.value)
        return _METHODS[node.func.attr](owner, *map(of, node.args)) if isinstance(owner, str | bytes) else None
    return None


def is_built(node: ast.AST, names: dict[str, str]) -> bool:
    """Whether an expression puts together what could have been written down: from pieces, characters, digits."""
    if isinstance(node, ast.JoinedStr):
        parts = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        return bool(parts) and all(isinstance(part, ast.Constant) for part in parts)
    if isinstance(node, ast.Constant | ast.Name | ast.Attribute):
        return False
    if isinstance(constant(node, names), str | bytes):
        return True
    inside = list(ast.walk(node))
    calls = [inner for inner in inside if isinstance(inner, ast.Call)]
    if not any(dotted(call.func, names).rpartition(".")[2] in _MAKERS for call in calls):
        return False
    known = {id(part) for call in calls for part in ast.walk(call.func)}
    targets = [part for inner in inside if isinstance(inner, ast.comprehension) for part in ast.walk(inner.target)]
    own = {part.id for part in targets if isinstance(part, ast.Name)}
    used = [part for part in inside if isinstance(part, ast.Name) and id(part) not in known]
    return all(part.id in own or TEXT + part.id in names for part in used)


_MAKERS = frozenset({
    "chr", "fromhex", "b64decode", "b32decode", "b85decode", "a85decode", "unhexlify", "decompress", "decode", "bytes",
    "translate", "urlsafe_b64decode",
})  # fmt: skip
