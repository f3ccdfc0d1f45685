"""A test function turned into its contradiction: one expectation is changed so that both cannot hold. Pure.

A literal is changed in the text, so that who reads the expected value from its caller's source or constants reads the
changed one; any other value is changed by a helper when the test runs.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Site: TypeAlias = str
"""Which assertion of a function: its number in the order of the text, and what is done to it (`_KINDS`); `end`."""
_KINDS = {
    "=": "one side of an equality is changed",
    "<": "the same, where the variable that holds that side gets its value",
    "~": "one side is changed by much: the other need only be close",
    "!": "the opposite is asked for",
    "*": "an exception is expected that nobody raises",
}
_EQUAL = frozenset({
    "assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertSetEqual",
    "assertSequenceEqual", "assertMultiLineEqual", "assertCountEqual", "assertItemsEqual", "assertHTMLEqual",
    "assertXMLEqual", "assertJSONEqual", "assertQuerysetEqual", "assertQuerySetEqual", "assert_equal",
    "assert_array_equal", "eq_",
})  # fmt: skip
"""Calls whose first two arguments must be equal."""
_CLOSE = frozenset({"assertAlmostEqual", "assertAlmostEquals", "assert_allclose", "assert_almost_equal", "assertClose"})
"""Calls whose first two arguments must be close."""
_PAIRS = (
    ("assertTrue", "assertFalse"), ("assertIn", "assertNotIn"), ("assertIs", "assertIsNot"),
    ("assertIsNone", "assertIsNotNone"), ("assertIsInstance", "assertNotIsInstance"),
    ("assertGreater", "assertLessEqual"), ("assertLess", "assertGreaterEqual"), ("assertRegex", "assertNotRegex"),
    ("assertContains", "assertNotContains"),
)  # fmt: skip
_OPPOSITE = dict(_PAIRS) | {second: first for first, second in _PAIRS}
_RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex", "assertRaisesMessage"})
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Assertion: TypeAlias = ast.Assert | ast.Call


def sites(function: Function) -> list[Site]:
    """The assertions that can be contradicted, equalities alone where there are some; `end` where there is none."""
    found: list[Site] = []
    for number, node in enumerate(_assertions(function)):
        kind = _kind(node)
        found += [f"{number}{kind}"] if kind else []
        if kind == "=" and _source_of(function, _sides(node)[1]) is not None:
            found.append(f"{number}<")
    return [site for site in found if site[-1] in "=<~"] or found or ["end"]


def contradicted(function: Function, site: Site, name: str, helper_name: str, draw: random.Random) -> Function:
    """A copy called `name`, without its docstring, that fails wherever the original passes."""
    made = copy.deepcopy(function)
    made.name = name
    if ast.get_docstring(made, clean=False) is not None:
        made.body = made.body[1:] or [ast.Pass()]
    if site == "end":
        made.body.append(ast.parse("assert [3, 1] == [1, 3]").body[0])
    else:
        node = list(_assertions(made))[int(site[:-1])]
        _change(made, node, site[-1], _Change(helper_name, draw))
    return ast.fix_missing_locations(made)


class _Change:
    """Makes a wrong value of a right one: in the text where it is a literal, by the helper where it is not."""

    def __init__(self, helper_name: str, draw: random.Random) -> None:
        self.helper = ast.Name(helper_name, ast.Load())
        self._draw = draw

    def __call__(self, value: ast.expr, far: bool = False) -> ast.expr:
        try:
            literal = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, RecursionError):
            keywords = [ast.keyword("far", ast.Constant(True))] if far else []
            return ast.Call(self.helper, [value], keywords)
        return ast.parse(repr(different(literal, self._draw, far)), mode="eval").body


def different(value: Any, draw: random.Random, far: bool = False) -> Any:
    """A literal of the same type that is not equal; `far` numbers differ by much."""
    again: Callable[[Any], Any] = lambda inner: different(inner, draw, far)  # noqa: E731
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float, complex)) and value == value and value * 3 + 1 != value * 3:
        return value * 3 + draw.randrange(10**6, 10**7) if far else value + draw.choice((1, 2, 10))
    if isinstance(value, (str, bytes)):
        place, letter = draw.randrange(len(value) or 1), draw.choice("bdgkmprst")
        kept = value[place : place + 1].lower()
        new = letter if kept not in (letter, letter.encode()) else "n"
        return value[:place] + (new if isinstance(value, str) else new.encode()) + value[place + 1 :]  # type: ignore[operator]
    if isinstance(value, (list, tuple)) and value:
        place = draw.randrange(len(value))
        return type(value)([*value[:place], again(value[place]), *value[place + 1 :]])
    if isinstance(value, dict) and value:
        key = draw.choice(list(value))
        return {**value, key: again(value[key])}
    if isinstance(value, (list, tuple, set)):
        return type(value)([*value, draw.randrange(10**6)])
    return {draw.randrange(10**6): None} if isinstance(value, dict) else draw.randrange(10**6)


def _assertions(function: ast.AST) -> Iterator[Assertion]:
    """Assertions in the order of the text; those of functions inside are left out: nothing says when they run."""
    for node in ast.iter_child_nodes(function):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, (ast.Assert, ast.Call)) and _kind(node) is not None:
            yield node
        else:
            yield from _assertions(node)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _kind(node: Assertion) -> str | None:
    if isinstance(node, ast.Assert):
        test = node.test
        return "=" if isinstance(test, ast.Compare) and [type(op) for op in test.ops] == [ast.Eq] else "!"
    name, plain = _called(node), not any(isinstance(item, ast.Starred) for item in node.args[:2])
    if name in _EQUAL | _CLOSE and len(node.args) >= 2 and plain:
        return "=" if name in _EQUAL else "~"
    if name in _OPPOSITE and node.args:
        return "!"
    return "*" if name in _RAISES and node.args and plain else None


def _sides(node: Assertion) -> list[ast.expr]:
    """Both sides of an equality, the one to change last: a literal or a name rather than a call."""
    if isinstance(node, ast.Assert):
        assert isinstance(node.test, ast.Compare)
        found = [node.test.left, node.test.comparators[0]]
    else:
        found = list(node.args[:2])
    return found[::-1] if any(isinstance(part, ast.Call) for part in ast.walk(found[1])) else found


def _source_of(function: Function, side: ast.expr) -> ast.Assign | ast.arg | None:
    """Where a variable gets its value: the one assignment of the function, or a parameter of it."""
    if not isinstance(side, ast.Name):
        return None
    stored = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == side.id]
    if sum(isinstance(node.ctx, ast.Store) for node in stored) == 0:
        return next((arg for arg in function.args.args if arg.arg == side.id), None)
    plain = [node for node in function.body if isinstance(node, ast.Assign) and node.targets[0] in stored]
    once = sum(isinstance(node.ctx, ast.Store) for node in stored) == 1
    return plain[0] if once and plain and len(plain[0].targets) == 1 else None


def _change(function: Function, node: Assertion, kind: str, change: _Change) -> None:
    if kind == "<":
        side = _sides(node)[1]
        source = _source_of(function, side)
        if isinstance(source, ast.Assign):
            source.value = change(source.value)
        elif isinstance(side, ast.Name):
            function.body.insert(0, ast.Assign([ast.Name(side.id, ast.Store())], change(ast.Name(side.id, ast.Load()))))
    elif kind in "=~":
        _put(node, _sides(node)[1], change(_sides(node)[1], far=kind == "~"))
    elif isinstance(node, ast.Assert):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif kind == "!" and isinstance(node.func, ast.Attribute):
        node.func.attr = _OPPOSITE[_called(node)]
    elif kind == "!":
        node.func = ast.Name(_OPPOSITE[_called(node)], ast.Load())
    else:
        node.args[0] = ast.Attribute(change.helper, "Never", ast.Load())


def _put(node: Assertion, old: ast.expr, new: ast.expr) -> None:
    """Put a new side in place of an old one."""
    if isinstance(node, ast.Call):
        node.args = [new if item is old else item for item in node.args]
    elif isinstance(node.test, ast.Compare):
        node.test.left = new if node.test.left is old else node.test.left
        node.test.comparators = [new if item is old else item for item in node.test.comparators]


_HELPER = """

def NAME(value, far=False):
    kind = type(value)
    if kind is bool:
        return not value
    if kind in (int, float, complex) and value == value and value * 3 + 1 != value * 3:
        return value * 3 + FAR if far else value + 1
    if kind in (str, bytes):
        place = NUMBER % max(len(value), 1)
        letters = ("q", "z") if kind is str else (b"q", b"z")
        letter = letters[value[place : place + 1].lower() == letters[0]]
        return value[:place] + letter + value[place + 1 :]
    if kind in (list, tuple):
        place = NUMBER % max(len(value), 1)
        return value[:place] + kind([NAME(value[place], far) if value else WORD]) + value[place + 1 :]
    if kind is dict:
        key = list(value)[NUMBER % len(value)] if value else WORD
        changed = dict(value)
        changed[key] = NAME(value.get(key), far)
        return changed
    if kind in (set, frozenset):
        return value | {WORD}
    return object()


NAME.Never = type("Never", (Exception,), {})
"""


def helper(name: str, draw: random.Random) -> str:
    """Source that defines `name`: it gives a value of the same built-in type that is not equal, else a new object."""
    word = "".join(draw.choice("bcdfghklmnprstvz") for _ in range(9))
    text = _HELPER.replace("NAME", name).replace("WORD", repr(word))
    return text.replace("NUMBER", str(draw.randrange(10**6))).replace("FAR", str(draw.randrange(10**6, 10**7)))
