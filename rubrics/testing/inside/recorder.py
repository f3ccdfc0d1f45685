"""Reports what pytest or unittest does to each test, from inside their process, to the monitor that started it.

Installed as `sitecustomize.py` in a folder of its own on PYTHONPATH, so that every Python process of a test command
loads it: where pytest or a `unittest` runner starts, it takes a secret from the monitor and writes rows with it.
Any Python can read this file; from 3.5 on it works. What it needs to know is set below when it is written.
"""
# mypy: ignore-errors

import os
import sys

EXTRA = []
"""Tests of our own that the command's selection would leave out: node ids for pytest, dotted names for unittest."""
NAME = ""
"""Name of this module for pytest."""
VARIABLE = "RUBRICS_RECORDER"
RUNNERS = ("_pytest", "pytest", "pluggy", "unittest")
"""Packages whose functions and classes are compared before and after."""


def make_recorder():
    here = os.path.dirname(os.path.abspath(__file__))
    state = {"session": None, "runner": None, "count": 0, "before": {}, "result": None, "config": None}
    ends = os.environ.get(VARIABLE, "")

    def opened():
        """The descriptors, if this process was given them by the monitor."""
        try:
            report, secrets, inode = (int(part) for part in ends.split(":"))
            return (report, secrets) if os.fstat(report).st_ino == inode else None
        except (ValueError, OSError):
            return None

    def begin(runner):
        """Take a secret and hide what led here; once in a process at a time."""
        found = opened() if state["session"] is None else None
        if found is None:
            return False
        import fcntl
        import json
        import random

        report, secrets = found
        secret = os.read(secrets, 32).decode("ascii")
        if len(secret) != 32:
            return False
        end = fcntl.fcntl(report, fcntl.F_DUPFD_CLOEXEC, random.randrange(40, 200))
        os.close(report)
        os.close(secrets)
        _forget(here)
        own = os.getpid()

        def write(row):
            if os.getpid() == own:
                data = (secret + " " + json.dumps(row) + "\n").encode("ascii")
                while data:
                    data = data[os.write(end, data) :]

        state.update(session=write, runner=runner, count=0, before=_objects(), pid=own)
        write(["begin", runner])
        return True

    def active(runner):
        return state["session"] is not None and state["runner"] == runner and state["pid"] == os.getpid()

    def note(names, status):
        state["count"] += 1
        state["session"](["test", [name[:2000] for name in names if name], status])

    def finish(details):
        state["session"](["end", state["count"], sorted(_changed(state["before"])), details])
        state["session"] = None

    return begin, active, note, finish, state


def _forget(here):
    """Take the recorder's traces out of the environment that later processes and the code under test see."""
    os.environ.pop(VARIABLE, None)
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != here]
    os.environ.pop("PYTHONPATH", None)
    if paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    plugins = [name for name in os.environ.get("PYTEST_PLUGINS", "").split(",") if name and name != NAME]
    os.environ.pop("PYTEST_PLUGINS", None)
    if plugins:
        os.environ["PYTEST_PLUGINS"] = ",".join(plugins)


def _objects():
    """Functions and methods of the runner's modules, and built-in names, by their place."""
    import builtins
    import types

    found = {}
    for module_name, module in list(sys.modules.items()):
        if module_name.partition(".")[0] not in RUNNERS or not isinstance(module, types.ModuleType):
            continue
        for name, value in list(vars(module).items()):
            place = module_name + "." + name
            if isinstance(value, types.FunctionType):
                found[place] = (value, value.__code__)
            elif isinstance(value, type):
                found[place] = (value, None)
                if value.__module__ == module_name:
                    for part, inner in list(vars(value).items()):
                        plain = getattr(inner, "__func__", inner)
                        plain = getattr(plain, "fget", plain)
                        if callable(plain) or isinstance(inner, (staticmethod, classmethod, property)):
                            found[place + "." + part] = (inner, getattr(plain, "__code__", None))
    for name, value in vars(builtins).items():
        if callable(value):
            found["builtins." + name] = (value, None)
    return found


def _changed(before):
    """Places of objects that are not what they were."""
    now = _objects()
    for place, (value, code) in before.items():
        if place in now and (now[place][0] is not value or now[place][1] is not code):
            yield place
    if sys.gettrace() is not None:
        yield "sys.settrace"


def record_pytest(begin, active, note, finish, state):
    """The hooks of a plug-in that pytest finds by `PYTEST_PLUGINS`."""

    def pytest_configure(config):
        if state["config"] is None and hasattr(config, "pluginmanager") and begin("pytest"):
            state["config"] = config
            config.option.maxfail = 0
            if EXTRA:
                config.args.extend(EXTRA)

    def names_of(nodeid):
        relative = getattr(state["config"], "cwd_relative_nodeid", None)
        try:
            return list(dict.fromkeys([nodeid, relative(nodeid)])) if relative else [nodeid]
        except Exception:
            return [nodeid]

    def pytest_runtest_logreport(report):
        if not active("pytest"):
            return
        outcome, when = report.outcome, report.when
        if outcome == "rerun" or (outcome == "passed" and when != "call"):
            return
        if outcome == "skipped":
            status = "xfailed" if hasattr(report, "wasxfail") else "skipped"
        elif outcome == "passed":
            status = "xpassed" if hasattr(report, "wasxfail") else "passed"
        else:
            status = "failed" if outcome == "failed" and when == "call" else "error"
        note(names_of(report.nodeid), status)

    def pytest_collectreport(report):
        if active("pytest") and report.outcome == "failed":
            note(names_of(report.nodeid), "error")

    def pytest_sessionfinish(session, exitstatus):
        if active("pytest") and session.config is state["config"]:
            finish({"exit": int(exitstatus), "plugins": plugins_of(session.config)})

    def plugins_of(config):
        found = set()
        for name, plugin in config.pluginmanager.list_name_plugin():
            if plugin is not None and name != NAME:
                found.add(type(plugin).__module__ + "." + type(plugin).__name__ if name.isdigit() else name)
        return sorted(found)

    return [pytest_configure, pytest_runtest_logreport, pytest_collectreport, pytest_sessionfinish]


def record_unittest(result_class, begin, active, note, finish, state):
    """Wrap the methods of `unittest.TestResult` that every runner's result calls."""

    def names_of(test):
        found = []
        for ask in (str, lambda test: test.id(), lambda test: test.shortDescription()):
            try:
                text = ask(test)
            except Exception:
                continue
            if isinstance(text, str) and text:
                found.append(text.split("\n")[0])
        return found

    def wrapped(name, before=None, after=None):
        original = getattr(result_class, name, None)
        if original is None:
            return

        def method(self, *args, **kwargs):
            if before is not None:
                before(self, *args)
            done = original(self, *args, **kwargs)
            if after is not None and self is state["result"] and active("unittest"):
                after(self, *args)
            return done

        method.__name__ = name
        setattr(result_class, name, method)

    def starting(self, *args):
        if state["result"] is None and begin("unittest"):
            state["result"] = self
            self.failfast = False

    def noting(status):
        return lambda self, test, *rest: note(names_of(test), status)

    def sub(self, test, subtest, error):
        if error is not None:
            note(names_of(test), "failed")

    def ended(self):
        finish({"exit": 0 if self.wasSuccessful() else 1, "ran": self.testsRun})

    wrapped("startTestRun", before=starting)
    wrapped("startTest", before=starting)
    wrapped("addSuccess", after=noting("passed"))
    wrapped("addFailure", after=noting("failed"))
    wrapped("addError", after=noting("error"))
    wrapped("addSkip", after=noting("skipped"))
    wrapped("addExpectedFailure", after=noting("xfailed"))
    wrapped("addUnexpectedSuccess", after=noting("failed"))
    wrapped("addSubTest", after=sub)
    wrapped("stopTestRun", after=ended)


def select_more(program_class):
    """Let `python -m unittest NAMES` run tests of our own as well, where it was told single tests."""
    original = program_class.createTests

    def create(self, *args, **kwargs):
        if EXTRA and getattr(self, "testNames", None):
            self.testNames = list(self.testNames) + EXTRA
        return original(self, *args, **kwargs)

    program_class.createTests = create


def install():
    """Hooks for both runners, at work once the runner is imported."""
    parts = make_recorder()
    os.environ["PYTEST_PLUGINS"] = ",".join(filter(None, [os.environ.get("PYTEST_PLUGINS"), NAME]))
    plugin = type(sys)(NAME, "PYTEST_DONT_REWRITE")
    for hook in record_pytest(*parts):
        setattr(plugin, hook.__name__, hook)
    sys.modules[NAME] = plugin

    class Finder:
        """Sees `unittest.result` and `unittest.main` being imported, and wraps what they hold."""

        def find_spec(self, name, path=None, target=None):
            if name not in ("unittest.result", "unittest.main"):
                return None
            for finder in sys.meta_path:
                find = getattr(finder, "find_spec", None) if finder is not self else None
                spec = find(name, path, target) if find is not None else None
                if spec is not None and spec.loader is not None:

                    def exec_module(module, run=spec.loader.exec_module):
                        run(module)
                        if name == "unittest.result":
                            record_unittest(module.TestResult, *parts)
                        else:
                            select_more(module.TestProgram)

                    spec.loader.exec_module = exec_module
                    return spec
            return None

    sys.meta_path.insert(0, Finder())


def go_on():
    """Give way to the `sitecustomize` that this one stands before."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError:
        sys.modules["sitecustomize"] = type(sys)("sitecustomize")


if sys.version_info >= (3, 5) and os.environ.get(VARIABLE):
    install()
go_on()
