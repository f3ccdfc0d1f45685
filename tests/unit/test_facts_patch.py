"""Facts of patches, one behaviour at a time."""

from __future__ import annotations

from typing import Any

import pytest

from rubrics.facts.patch_facts import measure_patch


def modified(body: str, path: str = "src/x.py", section: str = "") -> dict[str, Any]:
    """Facts of a patch whose one hunk has the given lines, each with its mark."""
    return measure_patch(f"--- a/{path}\n+++ b/{path}\n@@ -1,1 +1,1 @@ {section}\n{body}")


def added(lines: str, path: str = "src/x.py") -> dict[str, Any]:
    body = "".join(f"+{line}\n" for line in lines.split("\n"))
    return measure_patch(
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,1 @@\n{body}"
    )


@pytest.mark.parametrize(
    ("path", "fact"),
    [
        ("src/x.py", "source_files_changed"),
        ("tests/test_x.py", "test_files_changed"),
        ("pkg/x_test.go", "test_files_changed"),
        ("web/x.spec.ts", "test_files_changed"),
        ("docs/guide.rst", "docs_changed"),
        ("setup.cfg", "config_files_changed"),
        ("poetry.lock", "lockfiles_changed"),
        ("data/x.json", "data_files_changed"),
        ("reproduce_issue.py", "scratch_files_left"),
        ("test_issue.py", "scratch_files_left"),
        ("FIX_SUMMARY.md", "scratch_files_left"),
        ("src/x.py.orig", "scratch_files_left"),
        ("patch.txt", "scratch_files_left"),
        ("build/lib/x.py", "build_artifacts_left"),
        ("src/__pycache__/x.pyc", "build_artifacts_left"),
        ("x.egg-info/PKG-INFO", "build_artifacts_left"),
    ],
)
def test_a_new_file_is_counted_by_what_it_is_for(path: str, fact: str) -> None:
    row = added("x = 1", path)
    assert row[fact] == 1
    assert row["files_changed"] == row["files_added"] == 1


def test_scratch_files_tests_and_artefacts_do_not_enter_the_lists_of_code() -> None:
    for path in ("reproduce_issue.py", "tests/test_x.py", "build/lib/x.py", "docs/x.py"):
        row = added("def f():\n    return g(1)", path)
        assert (
            row["files_edited"] == row["tokens_added_all"] == row["lines_added_text"] == row["functions_edited"] == []
        )


@pytest.mark.parametrize(
    ("body", "fact", "count"),
    [
        ("+try:\n+    f()\n+except Exception:\n+    pass\n", "exceptions_swallowed", 1),
        ("+try:\n+    f()\n+except (A,\n+        B):\n+    return None\n", "exceptions_swallowed", 1),
        (" try:\n     f()\n+except A:\n+    log()\n+    raise\n", "exceptions_swallowed", 0),
        ("     f()\n+except A: pass\n", "exceptions_swallowed", 1),
        ("+except:\n+    raise X\n", "broad_excepts", 1),
        ("+except (OSError, BaseException) as e:\n+    raise\n", "broad_excepts", 1),
        ("+except MyException:\n+    raise\n", "broad_excepts", 0),
        (
            "-try:\n-    f()\n-except A:\n-    pass\n+  try:\n+    f()\n+  except A:\n+    pass\n",
            "exceptions_swallowed",
            0,
        ),
        ("-x = eval(y)\n+x = eval(z)\n", "eval_use_added", 0),
        ("-if  a:\n+if a:\n", "unrelated_whitespace_files", 1),
        ("-\n+\n+\n", "unrelated_whitespace_files", 1),
        ("-a = 1\n try:\n+    a = 1\n", "unrelated_whitespace_files", 0),
        (" if b:\n-    a = 1\n+a = 1\n", "unrelated_whitespace_files", 0),
        ("+x = getattr(a, 'b', None) or {}\n", "broad_fallbacks", 2),
        ("-x = d.get(k, 0)\n+y = d.get(k, 0)\n", "broad_fallbacks", 0),
        ("+for x in y:\n+    pass\n", "broad_fallbacks", 0),
        ("+if name == 'admin':\n+    pass\n", "special_cases_added", 1),
        ("+if name == other:\n+    pass\n", "special_cases_added", 0),
        ("+p = '/tmp/x'\n", "hardcoded_paths", 1),
        ("+time.sleep(1)\n", "sleeps_added", 1),
        ("+r = requests.get(u)\n", "network_use_added", 1),
        ("+x = os.environ['A']\n", "environment_reads_added", 1),
        ("+eval(x)\n", "eval_use_added", 1),
        ("+regex.exec(x)\n", "eval_use_added", 0),
        ("+print(x)\n", "debug_prints_left", 1),
        ("+s = 'print(x)'\n", "debug_prints_left", 0),
        ("+# TODO later\n", "todo_left", 1),
        ("+# x = compute(y)\n", "commented_code_added", 1),
        ("+# compute the value of x first\n", "commented_code_added", 0),
        ("+import x  # noqa: F401\n", "disabled_checks", 1),
        ("-if a:\n+if  a:\n", "whitespace_only_lines", 1),
        ("-f('a', b)\n+f(\"a\", b,)\n", "reformatted_lines", 1),
        ("+total = compute_the_total(a)\n+total = compute_the_total(a)\n", "duplicated_lines_added", 1),
        ("+def f():\n+    pass\n", "functions_added", 1),
        ("-def f(a):\n+def f(a, b):\n", "signature_changes", 1),
        ("-def f(a):\n+def f(a, b):\n", "functions_added", 0),
        ("-def f(a):\n", "public_names_removed", 1),
        ("+class _A:\n", "public_names_added", 0),
        ("+    if a:\n+        while b:\n+            c()\n", "conditionals_added", 1),
        ("-if a:\n+if b:\n", "conditionals_added", 0),
        ("-import a\n", "imports_removed", 1),
        ('+    """One.\n+\n+    If two.\n+    """\n', "docstrings_added", 3),
        ('+    """One.\n+\n+    if two\n+    """\n', "conditionals_added", 0),
    ],
)
def test_one_change_is_counted_as_what_it_is(body: str, fact: str, count: int) -> None:
    assert modified(body)[fact] == count


def test_other_languages_have_their_own_signs() -> None:
    row = modified("+function go(a) {\n+  try { a() } catch (e) {}\n+  console.log(a)\n+  // TODO\n+}\n", "src/x.js")
    assert (row["functions_added"], row["exceptions_swallowed"], row["debug_prints_left"], row["todo_left"]) == (
        1,
        1,
        1,
        1,
    )


def test_weakened_tests_are_removed_asserts_skips_and_lost_tests() -> None:
    body = "-def test_a():\n-    assert f()\n+@pytest.mark.skip\n+def test_b():\n+    pass\n"
    row = modified(body, "tests/test_x.py")
    assert (row["asserts_removed"], row["skips_added"], row["tests_removed"], row["tests_weakened"]) == (1, 1, 1, 3)
    assert row["test_functions_added"] == row["existing_tests_changed"] == 1


def test_a_new_python_file_that_does_not_parse_is_counted() -> None:
    assert added("def f(:\n    pass")["python_parse_failures"] == 1
    assert added("x = '\\d'")["python_parse_failures"] == 0


def test_functions_are_named_by_indentation_and_by_the_section_header() -> None:
    body = (
        "     def a(self):\n-        x\n+        y\n \n     def b(self):\n+        z\n \n def c():\n+    w\n \n+V = 1\n"
    )
    row = modified(body, section="class K:")
    assert row["functions_edited"] == [
        "src/x.py::<module>",
        "src/x.py::K.a",
        "src/x.py::K.b",
        "src/x.py::c",
    ]
    assert modified("+  x();\n", "src/x.c", "static int  go(void)")["functions_edited"] == [
        "src/x.c::static int go(void)"
    ]


def test_lists_hold_what_is_added_and_not_what_was_there() -> None:
    body = (
        " near_above = 1\n \n-value = old(self.a)\n+value = fresh(self.a, self.b, 'text')  # comment words\n"
        "+if value is None:\n+    raise Missing\n+from m import (q as r)\n \n near_below = 2\n"
    )
    row = modified(body)
    assert row["tokens_added"] == sorted(
        {"fresh", "b", '"text"', "if", "is", "None", "raise", "Missing", "from", "m", "import", "q", "as", "r"}
    )
    assert {"value", "self", "a"} <= set(row["tokens_added_all"])
    assert row["tokens_removed"] == ["old"]
    assert row["calls_added"] == ["fresh"]
    assert row["attributes_added"] == ["b"]
    assert row["conditions_added"] == ["value is None"]
    assert row["names_defined"] == ["value"]
    assert row["imports_added_names"] == ["m.q"]
    assert row["lines_kept_near"] == ["near_above = 1", "near_below = 2"]
    assert row["lines_removed_text"] == ["value = old(self.a)"]


def test_keyword_arguments_on_lines_of_their_own_define_nothing() -> None:
    assert modified("+f(\n+    a=1,\n+    b=2)\n+c, d = 3, 4\n")["names_defined"] == ["c", "d"]


def test_the_share_of_the_largest_file_is_of_changed_lines() -> None:
    text = "--- a/x.py\n+++ b/x.py\n@@ -1 +1,3 @@\n-a\n+b\n+c\n+d\n--- a/y.py\n+++ b/y.py\n@@ -1 +1 @@\n-a\n+b\n"
    assert measure_patch(text)["largest_file_share"] == pytest.approx(4 / 6)


def test_cosmetic_faults_of_the_text_do_not_make_a_malformed_diff() -> None:
    text = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    assert not measure_patch(f"\n```diff\r\n{text}```\n")["malformed_diff"]
    assert measure_patch(f"Done!\n{text}")["malformed_diff"]
    assert measure_patch("Error: 429")["malformed_diff"]
