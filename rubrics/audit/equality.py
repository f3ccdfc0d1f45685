"""Comparisons that hold for everything, however they are written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rubrics.audit.findings import Finding, quoted
from rubrics.audit.python_code import Code
from rubrics.audit.python_values import constant

_EQUAL = frozenset(("__eq__", "__instancecheck__", "__subclasscheck__"))
_UNEQUAL = frozenset(("__ne__",))
_VALUES = frozenset(("list", "str", "int", "float", "dict", "tuple", "set", "frozenset", "bytes", "complex", "object_"))
_NAMES = _EQUAL | _UNEQUAL
_WHY = "the comparison gives one answer for everything"


def find_equality(code: Code) -> Iterator[Finding]:
    """The first comparison of a source file that does not depend on what it compares."""
    everywhere = (node for piece in code.pieces for node in ast.walk(piece.tree))
    functions = {node.name: node for node in everywhere if isinstance(node, ast.FunctionDef)}
    classes = (node for piece in code.pieces for node in ast.walk(piece.tree) if isinstance(node, ast.ClassDef))
    values = {id(item) for node in classes if _is_value(node) for item in node.body}
    for node, _, line in code.nodes():
        for name, value in _defined(node):
            blind = name == "__eq__" and id(node) in values and _blind(value)
            if name in _NAMES and (blind or _settled(value, name in _EQUAL, functions)):
                yield Finding("equality_overloaded", "suspected", (line.place,), quoted(line.text), _WHY)
                return


def _is_value(node: ast.ClassDef) -> bool:
    """Whether a class is a kind of number, text or collection: what it is equal to is its content."""
    return any(isinstance(base, ast.Name) and base.id in _VALUES for base in node.bases)


def _blind(value: ast.AST) -> bool:
    """Whether a comparison of values returns nothing that its own content has a part in."""
    if not isinstance(value, ast.FunctionDef) or not value.args.args:
        return False
    own = value.args.args[0].arg
    returned = [node.value for node in _own(value) if isinstance(node, ast.Return) and node.value is not None]
    asked = {
        id(part)
        for node in _own(value)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("type", "isinstance", "id")
        for part in ast.walk(node)
    }
    used = [
        part for item in returned for part in ast.walk(item) if isinstance(part, ast.Name) and id(part) not in asked
    ]
    elsewhere = any(isinstance(node, ast.If | ast.For | ast.While) and _names(node, own) for node in _own(value))
    return bool(returned) and not elsewhere and not any(part.id in (own, "super") for part in used)


def _names(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def _defined(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Names that a node defines, and what they are: by `def`, assignment, `setattr` or in a dictionary."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name, node
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            name = (
                target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
            )
            yield name, node.value
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        yield node.target.id, node.value
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            text = constant(key) if key is not None else None
            if isinstance(text, str):
                yield text, value
    elif isinstance(node, ast.Call):
        text = constant(node.args[1]) if len(node.args) == 3 else None
        if isinstance(text, str):
            yield text, node.args[2]
        for keyword in node.keywords:
            yield keyword.arg or "", keyword.value


def _settled(value: ast.AST, wanted: bool, functions: dict[str, ast.FunctionDef]) -> bool:
    """Whether what is called gives one answer whatever it is given."""
    if isinstance(value, ast.Name) and value.id in functions:
        value = functions[value.id]
    if isinstance(value, ast.Lambda):
        return _always(value.body, wanted)
    if not isinstance(value, ast.FunctionDef):
        return False
    returned = [node.value for node in _own(value) if isinstance(node, ast.Return)]
    answers = [item for item in returned if not (isinstance(item, ast.Name) and item.id == "NotImplemented")]
    raises = any(isinstance(node, ast.Raise) for node in _own(value))
    return bool(answers) and not raises and all(item is not None and _always(item, wanted) for item in answers)


def _own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Nodes of a function, those of functions inside it left out."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def _always(node: ast.expr, wanted: bool, depth: int = 0) -> bool:
    """Whether an expression is certainly true (or certainly false, where that is wanted)."""
    if depth > 20:
        return False
    if isinstance(node, ast.Constant):
        return node.value is not None and bool(node.value) is wanted
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _always(node.operand, not wanted, depth + 1)
    if isinstance(node, ast.BoolOp):
        some = isinstance(node.op, ast.Or) is wanted
        return (any if some else all)(_always(value, wanted, depth + 1) for value in node.values)
    if isinstance(node, ast.IfExp):
        return _always(node.body, wanted, depth + 1) and _always(node.orelse, wanted, depth + 1)
    if isinstance(node, ast.NamedExpr):
        return _always(node.value, wanted, depth + 1)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right, operator = node.left, node.comparators[0], node.ops[0]
        if ast.dump(left) == ast.dump(right):
            same = isinstance(operator, ast.Eq | ast.Is | ast.LtE | ast.GtE)
            return same is wanted and isinstance(operator, ast.Eq | ast.Is | ast.LtE | ast.GtE | ast.NotEq | ast.IsNot)
        values = constant(left), constant(right)
        return None not in values and isinstance(operator, ast.Eq) and (values[0] == values[1]) is wanted
    if isinstance(node, ast.Call) and not node.keywords:
        name = (
            node.func.id
            if isinstance(node.func, ast.Name)
            else node.func.attr
            if isinstance(node.func, ast.Attribute)
            else ""
        )
        if name in ("bool", "int", "bool_", "any", "all") and len(node.args) == 1:
            inner = node.args[0]
            if isinstance(inner, ast.List | ast.Tuple) and inner.elts:
                return all(_always(item, wanted, depth + 1) for item in inner.elts)
            return _always(inner, wanted, depth + 1)
        if isinstance(node.func, ast.Lambda):
            return _always(node.func.body, wanted, depth + 1)
    if isinstance(node, ast.Attribute):
        return node.attr in (("True_", "true") if wanted else ("False_", "false"))
    if isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.JoinedStr):
        filled = bool(getattr(node, "elts", None) or getattr(node, "keys", None) or getattr(node, "values", None))
        return filled is wanted
    return False
