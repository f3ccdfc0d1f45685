"""Text made to break parsers: nothing raises, and the work stays in proportion to the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.facts.measure import measure
from rubrics.records.rollouts import ToolCall, Turn

HEADER = "diff --git a/src/x.py b/src/x.py\nnew file mode 100644\n--- /dev/null\n+++ b/src/x.py\n"
UNITS = [
    "a", " ", "\t", "(", "[", "{", '"', "'", "\\", '"\\', "'\\\"", '"""', "'''", "a,", "a.", "a=", "a(", "a b ", "# ",
    "//", "`", "if ", "x if y else ", "or {}", ".get(a", "getattr(a,", "except ", "except (", "catch (e) {",
    "import a,", "from a import b,",
    "@@ -1 +1 @@", "_", "__", "/", "../", "tests/", "1", "-", "- ", "\x00", "\r", "\ud800", "é",
    "lambda:", "not ", "a if ",
]  # fmt: skip


def new_file(lines: list[str]) -> str:
    return f"{HEADER}@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


def shell(text: str) -> tuple[Turn, ...]:
    return (Turn("assistant", text, text, (ToolCall("bash", {"command": text}, text),), text, 0),)


@pytest.mark.parametrize("unit", UNITS)
def test_long_repetitions_are_measured(unit: str) -> None:
    line = unit * (200_000 // len(unit))
    short = [unit * (1_900 // len(unit))] * 50
    for patch in (
        new_file([line]),
        new_file(short),
        line,
        f"--- {line}\n+++ {line}\n{line}",
        f"diff --git {line}\n@@ {line}",
    ):
        assert measure(patch, None, None)["files_changed"] >= 0
    assert measure(None, shell(line), line)["turns"] == 1


@pytest.mark.parametrize(
    "unit", ["cat << A\n", "cat <<A ", "x=1 ", "cd a && ", "'", "$(", "a|", "> a ", "sed -i ", "git log "]
)
def test_long_shell_texts_are_measured(unit: str) -> None:
    row = measure("", shell(unit * 20_000), None)
    assert row["commands"] == 1


def test_one_line_of_a_hundred_megabytes_is_measured() -> None:
    row = measure(new_file(["x = '" + "a" * 100_000_000]), None, None)
    assert row["max_line_length_added"] == 100_000_005


@pytest.mark.parametrize(
    "lines",
    [
        ["(" * 5_000 + ")" * 5_000],
        ["-" * 50_000 + "1"],
        ["x = " + "[" * 90 + "]" * 90],
        [" " * depth + "if x:" for depth in range(150)],
        ["try:", "    f()", "except" + " (A)" * 5_000 + ":", "    pass"],
        ["\x00 = 1", "except A:", '    "doc"', "\ud800"],
        ["f(" + "a." * 50_000 + "b)"],
        ["try:", "    pass", "except A:", "    '''"] * 2_000,
    ],
)
def test_python_that_breaks_parsers_is_measured(lines: list[str]) -> None:
    row = measure(new_file(lines), None, None)
    assert row["lines_added"] == len(lines)


def test_many_hunks_files_and_turns_are_measured() -> None:
    hunks = "".join(f"@@ -{n},1 +{n},9 @@\n-a\n+b\n" for n in range(1, 20_000))
    assert measure(f"--- a/x.py\n+++ b/x.py\n{hunks}", None, None)["hunks"] == 19_999
    files = "".join(f"--- a/f{n}.py\n+++ b/f{n}.py\n@@ -1 +1 @@\n-a\n+b\n" for n in range(5_000))
    assert measure(files, None, None)["files_changed"] == 5_000
    assert measure(None, shell("cat > f.py << E\nx\nE\nrm f.py") * 5_000, None)["scratch_files_created"] == 1


@given(
    st.text(max_size=200),
    st.lists(
        st.tuples(st.text(max_size=80), st.one_of(st.none(), st.text(max_size=80)), st.integers(-1, 2)), max_size=4
    ),
)
@settings(max_examples=200, deadline=None)
def test_no_text_makes_a_measurement_raise(text: str, parts: list[tuple[str, str | None, int]]) -> None:
    turns = tuple(
        Turn(
            "assistant",
            said,
            None,
            (ToolCall("bash", {"command": said}, said), ToolCall(said, None, said)),
            answer,
            code,
        )
        for said, answer, code in parts
    )
    measure(text, turns, text)
    measure(new_file(text.split("\n")), turns, None)
