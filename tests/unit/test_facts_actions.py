"""What an agent did is read from shell text, SWE-agent's commands and function calls alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rubrics.facts.actions import actions
from rubrics.facts.shell import split
from rubrics.records.rollouts import ToolCall, Turn


def bash(*commands: str) -> tuple[Turn, ...]:
    return tuple(
        Turn("assistant", "", None, (ToolCall("bash", {"command": command}, json.dumps({"command": command})),))
        for command in commands
    )


def call(name: str, **arguments: Any) -> tuple[Turn, ...]:
    return (Turn("assistant", "", None, (ToolCall(name, arguments, json.dumps(arguments)),)),)


def found(turns: tuple[Turn, ...]) -> list[tuple[str, tuple[str, ...]]]:
    return [(action.kind, action.paths) for action in actions(turns)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat src/a.py", [("read", ("src/a.py",))]),
        ("cd /testbed && sed -n '1,20p' src/a.py", [("read", ("src/a.py",))]),
        ("cd src/pkg && head -5 a.py", [("read", ("src/pkg/a.py",))]),
        ("cat -n /testbed/src/a.py | sed -n '3,4p' | grep x", [("read", ("src/a.py",))]),
        ("grep -n 'class A' src/a.py", [("search", ("src/a.py",))]),
        ("grep -rn foo . --include='*.py' | head", [("search", ())]),
        ("find . -name '*.py' -exec rm {} ;", [("search", ())]),
        ("ls -la; pwd", [("list", ()), ("list", ())]),
        ("sed -i 's/a/b/g' src/a.py", [("edit", ("src/a.py",))]),
        ("sed -i.bak -e 's/a/b/' src/a.py", [("edit", ("src/a.py",))]),
        ("perl -pi -e 's/a/b/' src/a.py", [("edit", ("src/a.py",))]),
        ("cat > src/new.py << 'EOF'\nrm -rf /\npytest\nEOF\npytest -x", [("create", ("src/new.py",)), ("test", ())]),
        ("echo x >> src/a.py", [("edit", ("src/a.py",))]),
        ("echo x | tee -a src/a.py", [("edit", ("src/a.py",))]),
        ("python - << 'EOF'\nopen('src/a.py', 'w').write('x')\nEOF", [("edit", ("src/a.py",))]),
        ("python -c \"open('a.txt','w').write('1')\"", [("edit", ("a.txt",))]),
        ("python -c 'print(1)' 2>&1 | tail -3", [("run", ())]),
        ("patch -p1 < fix.diff", [("edit", ())]),
        ("git apply fix.patch", [("edit", ())]),
        ("python -m pytest tests/test_a.py::T -q 2>&1 | tail", [("test", ("tests/test_a.py",))]),
        ("PYTHONPATH=src timeout 60 pytest tests", [("test", ())]),
        ("./tests/runtests.py admin", [("test", ())]),
        ("python manage.py test", [("test", ("manage.py",))]),
        ("go test ./...", [("test", ())]),
        ("npm run test", [("test", ())]),
        ("make test", [("test", ())]),
        ("cargo test", [("test", ())]),
        ("python reproduce.py", [("run", ("reproduce.py",))]),
        ("python -m py_compile src/a.py", [("check", ("src/a.py",))]),
        ("pip install -e .[dev]", [("install", ())]),
        ("apt-get install -y gcc", [("install", ())]),
        ("python -m pip install x", [("install", ())]),
        ("curl https://x.org/a.py", [("network", ())]),
        ("git clone https://x.org/a", [("network", ())]),
        ("git log --all", [("history", ())]),
        ("git diff HEAD", [("diff", ())]),
        ("git diff > patch.txt && cat patch.txt", [("diff", ()), ("diff", ("patch.txt",))]),
        ("git checkout -- src/a.py", [("revert", ("src/a.py",))]),
        ("git stash && pytest && git stash pop", [("revert", ()), ("test", ()), ("revert", ())]),
        ("cp src/a.py.bak src/a.py", [("revert", ("src/a.py",))]),
        ("rm -f reproduce.py", [("delete", ("reproduce.py",))]),
        ("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff --cached", [("submit", ()), ("diff", ())]),
        ("# don't count\ncat a.py", [("read", ("a.py",))]),
        ("cat a.py > /dev/null", [("read", ("a.py",))]),
        ("export A=1", []),
        ("", []),
    ],
)
def test_a_shell_text_is_read_as_what_it_does(command: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert found(bash(command)) == expected


def test_swe_agent_commands_work_on_the_open_file() -> None:
    turns = bash(
        "create reproduce.py\n",
        "edit 1:1\nimport os\nrm -rf x\nend_of_edit\n",
        "python reproduce.py\n",
        'find_file "fields.py" src\n',
        "open src/fields.py 1474\n",
        "scroll_down\n",
        "edit 1475:1475\n    return 1\nend_of_edit\n",
        "search_file 'x y' src/other.py",
        "str_replace_editor str_replace /testbed/src/a.py --old_str 'a' --new_str 'b'",
        "submit\n",
    )
    assert found(turns) == [
        ("create", ("reproduce.py",)),
        ("edit", ("reproduce.py",)),
        ("run", ("reproduce.py",)),
        ("search", ()),
        ("read", ("src/fields.py",)),
        ("read", ("src/fields.py",)),
        ("edit", ("src/fields.py",)),
        ("search", ("src/other.py",)),
        ("edit", ("src/a.py",)),
        ("submit", ()),
    ]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (call("open", path="/repo/src/a.py"), ("read", ("src/a.py",))),
        (call("str_replace_editor", command="view", path="/testbed/a.py"), ("read", ("a.py",))),
        (call("str_replace_editor", command="undo_edit", path="a.py"), ("revert", ("a.py",))),
        (call("edit", path="src/a.py", search="x", replace="y"), ("edit", ("src/a.py",))),
        (call("execute_bash", command="pytest"), ("test", ())),
        (call("shell", command=["bash", "-lc", "cat a.py"]), ("read", ("a.py",))),
        (call("finish"), ("submit", ())),
        (call("think", thought="hm"), ("other", ())),
        (call("str_replace_editor", command=3, path=None), ("other", ())),
    ],
)
def test_function_calls_are_read_by_their_names(turns: tuple[Turn, ...], expected: tuple[str, tuple[str, ...]]) -> None:
    assert found(turns) == [expected]


def test_running_a_script_that_writes_files_is_an_edit_of_those_files() -> None:
    script = "cat > fix.py << 'EOF'\nwith open('/testbed/src/a.py', 'w') as f:\n    f.write('x')\nEOF\npython fix.py"
    assert found(bash(script)) == [("create", ("fix.py",)), ("edit", ("src/a.py",))]


def test_applying_a_patch_is_an_edit_of_the_files_that_it_names() -> None:
    text = "cat > fix.patch << 'EOF'\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-a\n+b\nEOF\npatch -p1 < fix.patch"
    assert found(bash(text)) == [("create", ("fix.patch",)), ("edit", ("src/a.py",))]
    assert found(bash("git apply << 'EOF'\n--- a/src/a.py\n+++ b/src/a.py\nEOF")) == [("edit", ("src/a.py",))]


def test_demonstrations_and_calls_without_arguments_do_no_harm() -> None:
    shown = Turn("assistant", "", None, (ToolCall("bash", {"command": "rm x.py"}, ""),), flags=("demonstration",))
    broken = Turn("assistant", "", None, (ToolCall("bash", None, "cat a.py"), ToolCall("open", None, "{")))
    assert found((shown, broken)) == [("read", ("a.py",)), ("read", ())]


def test_a_call_that_is_the_last_of_its_turn_owns_the_exit_code() -> None:
    assert [action.last for action in actions(bash("cat a.py && pytest"))] == [False, True]


def test_heredocs_end_at_their_own_word_and_shifts_are_no_heredocs() -> None:
    commands = split("cat << A > x.txt\n<< B\nB\nA\npython -c 'print(1 << N)'\nls")
    assert [(command.words[0], command.body) for command in commands] == [
        ("cat", "<< B\nB\n"),
        ("python", None),
        ("ls", None),
    ]
    assert commands[0].target == "x.txt"
