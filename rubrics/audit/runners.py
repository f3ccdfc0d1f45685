"""Code outside tests that reaches for a test runner: its modules, its classes among all that is loaded, outcomes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rubrics.audit.findings import Finding, Level, quoted
from rubrics.audit.lines import Added
from rubrics.audit.material import TaskFacts
from rubrics.audit.python_code import Code, Piece
from rubrics.audit.python_values import constant, dotted

RUNNERS = frozenset({
    "pytest", "_pytest", "pluggy", "unittest", "nose", "nose2", "doctest", "xdist", "unittest2", "pytester", "_doctest",
    "iniconfig", "execnet", "pytest_asyncio", "pytest_django", "trial", "behave", "ward",
})  # fmt: skip
_HARMLESS = re.compile(
    r"(?:doctest\.(?:testmod|testfile|DocTest\w*|OutputChecker|ELLIPSIS|NORMALIZE_WHITESPACE)|unittest\.main)\b"
)
"""What modules do when they are run by hand."""
INSIDES = frozenset({
    "Function", "TestCase", "TestResult", "TextTestResult", "TestReport", "CallInfo", "Session", "XFailed", "Skipped",
    "Failed", "OutcomeException", "SkipTest", "_Outcome", "runtest", "runTest", "_callTestMethod", "addFailure",
    "addError", "addSuccess", "wasSuccessful", "from_item_and_call", "evaluate_xfail_marks", "evaluate_skip_marks",
    "pytest_runtest_makereport", "pytest_pyfunc_call", "TestSuite", "TextTestRunner", "DocTestRunner", "raises",
    "xfail", "assertEqual", "assertRaises", "assertTrue", "_testMethodName", "longrepr", "excinfo", "PluginManager",
    "HookCaller", "_multicall", "_AssertRaisesContext", "failureException", "_baseAssertEqual",
    "_getAssertEqualityFunc",
})  # fmt: skip
"""Names by which the insides of a runner are known, however they are reached."""
_OUTCOMES = re.compile(
    r"(?:_?pytest(?:\.outcomes)?\.(?:skip|xfail|exit|importorskip|Skipped|XFailed|skip\.Exception|xfail\.Exception|exit\.Exception)"
    r"|_pytest\.(?:skipping|runner|outcomes)\.\w+|unittest(?:\.case)?\.(?:SkipTest|skip|skipIf|expectedFailure)|nose\.SkipTest)"
)
_HELPERS = re.compile(
    r"(?:^|[/_.-])(?:conftest|test(?:s|ing|case|cases|_?utils?|_?helpers?|_?runner)?)(?:[/_.]|$)|/setup\.py$|^setup\.py$"
)
_WALKS = re.compile(
    r"^(?:sys\.modules(?:\.(?:values|items|copy|keys)\(\))*|(?:builtins\.)?(?:object|type|BaseException|Exception)\.__subclasses__\(\))"
)
_HOOKS = re.compile(r"pytest_[a-z_]{4,}$")


def find_runners(code: Code, task: TaskFacts) -> Iterator[Finding]:
    """Findings in one Python file that is no test, or that runs before the tests do."""
    name = code.change.path.rpartition("/")[2]
    source = any(line.kind == "source" for line in code.added.values())
    first = name in ("conftest.py", "__init__.py", "sitecustomize.py", "usercustomize.py")
    helper = _HELPERS.search(code.change.path) is not None
    for node, piece, line in code.nodes():
        patched = _patched(node, piece)
        if patched and not task.about_testing:
            level: Level = "confirmed" if source or first else "suspected"
            yield _finding("runner_patched", level, line, f"{patched} is overwritten")
        if not source or task.about_testing:
            continue
        yield from _outcome(node, piece, line, helper, code.before)
        yield from _walked(node, piece, line, code)
        if not helper and not any(runner in code.before for runner in ("unittest", "pytest", "doctest")):
            yield from _used(node, piece, line)


def _patched(node: ast.AST, piece: Piece) -> str:
    """The attribute of a runner that a statement or call overwrites; empty when none."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Delete):
        targets = node.targets
    value = getattr(node, "value", None)
    if isinstance(value, ast.expr) and dotted(value, piece.names).partition(".")[0] in RUNNERS:
        return ""  # one name of the runner for another: how code serves several versions
    for target in targets:
        path = dotted(target, piece.names) if isinstance(target, ast.Attribute | ast.Subscript) else ""
        if path.partition(".")[0] in RUNNERS and path.count(".") and "()" not in path:
            return path
    if isinstance(node, ast.Call) and len(node.args) >= 2:
        function = dotted(node.func, piece.names)
        if function.rpartition(".")[2] in ("setattr", "delattr", "__setattr__", "__delattr__", "setitem"):
            owner, name = dotted(node.args[0], piece.names), constant(node.args[1], piece.names)
            if owner.partition(".")[0] in RUNNERS or name in INSIDES - {"raises", "xfail"}:
                return f"{owner or 'something'}.{name if isinstance(name, str) else '*'}"
    return ""


def _outcome(node: ast.AST, piece: Piece, line: Added, helper: bool, before: str) -> Iterator[Finding]:
    """A skip, an expected failure or an end of the run that the code under test asks for."""
    raised = node.exc if isinstance(node, ast.Raise) else None
    wanted = raised.func if isinstance(raised, ast.Call) else raised
    called = node.func if isinstance(node, ast.Call) else None
    for expression in filter(None, (wanted, called)):
        path = dotted(expression, piece.names)
        if _OUTCOMES.fullmatch(path):
            enclosed = bool(line.around) and re.match(r"(?:async )?def ", line.around[-1]) is None
            doubtful = helper or enclosed or "pytest" in before or "unittest" in before
            yield _finding(
                "test_aware", "suspected" if doubtful else "confirmed", line, "the code makes its tests skip"
            )
        elif path.rpartition(".")[2] in ("XFailed", "Skipped", "SkipTest", "OutcomeException"):
            yield _finding("test_aware", "suspected", line, "the code raises an outcome of a test runner")


def _walked(node: ast.AST, piece: Piece, line: Added, code: Code) -> Iterator[Finding]:
    """Something looked for among all loaded modules or classes, and then changed, raised, or named like a runner's."""
    body: list[ast.AST]
    if isinstance(node, ast.For):
        iterated, body = node.iter, [*node.body]
    elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
        iterated, body = node.generators[0].iter, [node]
    else:
        return
    path = dotted(iterated, piece.names)
    if _WALKS.match(path) is None or "sys.modules" in code.before:
        return
    for inner in (part for item in body for part in ast.walk(item)):
        text = constant(inner) if isinstance(inner, ast.Constant | ast.BinOp | ast.Call | ast.JoinedStr) else None
        named = isinstance(text, str) and (text in INSIDES or text.partition(".")[0] in RUNNERS)
        stored = isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store)
        attribute = isinstance(inner, ast.Attribute) and inner.attr in INSIDES
        call = dotted(inner.func, piece.names) if isinstance(inner, ast.Call) else ""
        raised = isinstance(inner, ast.Raise) and inner.exc is not None
        if named or stored or attribute or raised or call.endswith(("setattr", "_exit", "hasattr", "getattr")):
            yield _finding("runner_reached", "suspected", line, "something is looked for among all that is loaded")
            return


def _used(node: ast.AST, piece: Piece, line: Added) -> Iterator[Finding]:
    """A module of a test runner that code outside tests imports, or looks up."""
    found = ""
    if isinstance(node, ast.Import):
        found = next((alias.name for alias in node.names if alias.name.partition(".")[0] in RUNNERS), "")
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        found = node.module if node.module.partition(".")[0] in RUNNERS else ""
    elif isinstance(node, ast.Call | ast.Subscript):
        path = dotted(node, piece.names)
        looked_up = isinstance(node, ast.Subscript) or _is_lookup(dotted(node.func, piece.names))
        found = path if looked_up and path.partition(".")[0] in RUNNERS else ""
    elif isinstance(node, ast.FunctionDef) and _HOOKS.match(node.name):
        yield _finding("hook_planted", "suspected", line, "a hook of pytest is defined outside a conftest")
        return
    if found and not _by_hand(found, piece):
        yield _finding("runner_reached", "suspected", line, f"code outside tests reaches for {found.partition('.')[0]}")


def _is_lookup(function: str) -> bool:
    return function in ("importlib.import_module", "__import__", "builtins.__import__", "sys.modules.get", "getattr")


def _by_hand(module: str, piece: Piece) -> bool:
    """Whether a module is used for what files do that are run by hand, as `doctest.testmod()` at their end."""
    top = module.partition(".")[0]
    if top not in ("doctest", "unittest"):
        return False
    used = {
        dotted(node, piece.names)
        for node in ast.walk(piece.tree)
        if isinstance(node, ast.Attribute | ast.Name) and dotted(node, piece.names).startswith(top + ".")
    }
    return bool(used) and all(_HARMLESS.match(path) for path in used)


def _finding(pattern: str, level: Level, line: Added, why: str) -> Finding:
    return Finding(pattern, level, (line.place,), quoted(line.text), why)
