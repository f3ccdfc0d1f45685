"""Patches from text: what agents hand in is rarely a clean diff, and must be read all the same."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest
import unidiff
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.facts.diffs import normal_digest, normal_form, parse_patch
from rubrics.records.patches import Patch

CLEAN = """\
diff --git a/src/b.py b/src/b.py
index 1111111..2222222 100644
--- a/src/b.py
+++ b/src/b.py
@@ -1,3 +1,4 @@ class B:
 one
-two
+zwei
+drei
 three
diff --git a/src/a.py b/src/a.py
index 1111111..2222222 100644
--- a/src/a.py
+++ b/src/a.py
@@ -10,2 +10,1 @@
 ten
-eleven
"""


def shape(patch: Patch) -> list[tuple[str, str, int, int]]:
    return [
        (
            file.path,
            file.change,
            sum(line.kind == "added" for hunk in file.hunks for line in hunk.lines),
            sum(line.kind == "removed" for hunk in file.hunks for line in hunk.lines),
        )
        for file in patch.files
    ]


def test_a_clean_diff_is_read_with_files_in_the_order_of_their_paths() -> None:
    patch = parse_patch(CLEAN)
    assert shape(patch) == [("src/a.py", "modified", 0, 1), ("src/b.py", "modified", 2, 1)]
    assert patch.malformed == ()
    assert patch.files[1].hunks[0].section == "class B:"


def test_lines_carry_their_numbers_of_the_new_file_and_removed_ones_of_the_old() -> None:
    lines = parse_patch(CLEAN).files[1].hunks[0].lines
    assert [(line.kind, line.text, line.number) for line in lines] == [
        ("kept", "one", 1),
        ("removed", "two", 2),
        ("added", "zwei", 2),
        ("added", "drei", 3),
        ("kept", "three", 4),
    ]


def test_the_empty_patch_is_clean_and_changes_nothing() -> None:
    assert parse_patch("") == Patch((), ())
    assert parse_patch("\n \n") == Patch((), ())


@pytest.mark.parametrize(
    "text", ["Error code: 429 - rate limited", "@@ -1,2 +1,2 @@\n-a\n+b\n", "\x00\ud800", "```\n```"]
)
def test_text_without_a_diff_is_named_so(text: str) -> None:
    assert parse_patch(text) == Patch((), ("no_diff",))


@pytest.mark.parametrize(
    ("text", "malformed"),
    [
        ("\n\n" + CLEAN + "\n\n", ("leading_newline",)),
        ("```diff\n" + CLEAN + "```\n", ("fenced",)),
        (CLEAN.replace("\n", "\r\n"), ("crlf",)),
        (CLEAN.replace("\n", "\r"), ("crlf",)),
        ("Here is the fix:\n\n" + CLEAN + "\nThat should do it.", ("prose",)),
        (CLEAN.replace("-1,3 +1,4", "-1,9 +1,2"), ("hunk_count",)),
        (CLEAN.replace("-1,3 +1,4", "-1,1 +1,1"), ("hunk_count",)),
        (CLEAN.replace("@@ -1,3 +1,4 @@ class B:", "@@ class B: @@"), ("hunk_header",)),
    ],
)
def test_an_unclean_diff_gives_the_same_changes_and_says_what_was_wrong(text: str, malformed: tuple[str, ...]) -> None:
    patch = parse_patch(text)
    assert shape(patch) == shape(parse_patch(CLEAN))
    assert patch.malformed == malformed


def test_a_removed_line_that_looks_like_a_header_is_a_removed_line() -> None:
    text = "--- a/q.sql\n+++ b/q.sql\n@@ -1,3 +1,2 @@\n--- old comment\n-drop\n+++ new\n kept\n"
    assert shape(parse_patch(text)) == [("q.sql", "modified", 1, 2)]


def test_a_wrong_count_does_not_swallow_the_next_plain_file() -> None:
    text = "--- a/x.py\n+++ b/x.py\n@@ -1,9 +1,9 @@\n-a\n+b\n--- a/y.py\n+++ b/y.py\n@@ -1 +1 @@\n-c\n+d\n"
    assert shape(parse_patch(text)) == [("x.py", "modified", 1, 1), ("y.py", "modified", 1, 1)]


def test_blank_context_lost_at_the_end_of_the_text_changes_nothing() -> None:
    text = "--- a/x.py\n+++ b/x.py\n@@ -1,4 +1,4 @@\n-a\n+b\n c\n \n \n"
    assert normal_form(parse_patch(text)) == normal_form(parse_patch(text.rstrip()))


def test_additions_deletions_renames_modes_and_binaries_are_told_apart() -> None:
    text = (
        "diff --git a/new.py b/new.py\nnew file mode 100644\nindex 0..1\n"
        "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n"
        "\\ No newline at end of file\n"
        "diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/old name.py b/new name.py\nsimilarity index 100%\n"
        "rename from old name.py\nrename to new name.py\n"
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
        "diff --git a/logo.png b/logo.png\nindex 1..2 100644\nBinary files a/logo.png and b/logo.png differ\n"
        "diff --git a/blob.bin b/blob.bin\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ\n\nliteral 2\nKcm\n\n"
        "diff --git a/empty.txt b/empty.txt\nnew file mode 100644\nindex 0..0\n"
    )
    patch = parse_patch(text)
    assert shape(patch) == [
        ("blob.bin", "modified", 0, 0),
        ("empty.txt", "added", 0, 0),
        ("gone.py", "deleted", 0, 1),
        ("logo.png", "modified", 0, 0),
        ("new name.py", "renamed", 0, 0),
        ("new.py", "added", 1, 0),
        ("run.sh", "modified", 0, 0),
    ]
    assert [file.path for file in patch.files if file.binary] == ["blob.bin", "logo.png"]
    assert [file.old_path for file in patch.files if file.old_path] == ["old name.py"]
    assert patch.malformed == ()


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("a/x.py", "b/x.py", "x.py"),
        ("x.py", "x.py", "x.py"),
        ("./x.py", "./x.py", "x.py"),
        ("i/x.py", "w/x.py", "x.py"),
        ("a/x.py", "a/x.py", "a/x.py"),
        ("a/x y.py\t2020-01-01", "b/x y.py\t2020-01-01", "x y.py"),
        ('"a/f\\303\\274r\\t\\"1\\".py"', '"b/f\\303\\274r\\t\\"1\\".py"', 'für\t"1".py'),
    ],
)
def test_paths_lose_prefixes_times_and_quotes(old: str, new: str, path: str) -> None:
    assert [file.path for file in parse_patch(f"--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n").files] == [path]


def test_line_ends_inside_lines_stay_and_form_feeds_split_nothing() -> None:
    patch = parse_patch("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\rc\x0cd\u2028e\n+f\r\n")
    assert [line.text for line in patch.files[0].hunks[0].lines] == ["a", "b\rc\x0cd\u2028e", "f"]


@given(st.text(max_size=300))
@settings(max_examples=200)
def test_no_text_makes_the_parser_raise(text: str) -> None:
    assert isinstance(parse_patch(text), Patch)


@given(
    st.lists(
        st.sampled_from([*CLEAN.splitlines(), "", "@@ -1 +1 @@", "@@@", "---", "+++ ", "\\ No newline"]), max_size=40
    )
)
@settings(max_examples=300)
def test_no_mixture_of_diff_lines_makes_the_parser_raise(lines: list[str]) -> None:
    parse_patch("\n".join(lines))


BODIES = st.lists(st.tuples(st.sampled_from("+- "), st.text(st.characters(codec="ascii", exclude_characters="\r\n"))))


@given(st.integers(1, 10**6), st.integers(1, 10**6), BODIES.filter(lambda body: any(mark != " " for mark, _ in body)))
@settings(max_examples=200, deadline=None)
def test_the_lines_of_a_hunk_have_the_numbers_that_another_reader_gives_them(
    old: int, new: int, body: list[tuple[str, str]]
) -> None:
    marks = [mark for mark, _ in body]
    counts = len(marks) - marks.count("+"), len(marks) - marks.count("-")
    lines = [f"@@ -{old},{counts[0]} +{new},{counts[1]} @@", *(mark + text for mark, text in body), "-- "]
    found = parse_patch("\n".join(["--- a/f", "+++ b/f", *lines])).files[0].hunks[0].lines
    other = unidiff.PatchSet([f"{line}\n" for line in ["--- a/f", "+++ b/f", *lines[:-1]]])[0][0]
    numbered = [(line.source_line_no if line.is_removed else line.target_line_no, line.value[:-1]) for line in other]
    assert [(line.number, line.text) for line in found] == numbered


def test_normal_digests_agree_exactly_where_the_changes_do() -> None:
    moved = CLEAN.replace("-1,3 +1,4", "-91,3 +95,4").replace("1111111", "3333333")
    assert normal_digest(parse_patch(moved)) == normal_digest(parse_patch(CLEAN))
    assert normal_digest(parse_patch(CLEAN.replace("zwei", "Zwei"))) != normal_digest(parse_patch(CLEAN))


def test_files_and_counts_agree_with_git_on_real_patches(real: Path, tmp_path: Path) -> None:
    compared = 0
    for path in sorted((real / "mini-swe-agent").glob("*/*/*.traj.json")):
        text = json.loads(path.read_text())["info"]["submission"]
        file = tmp_path / "patch.diff"
        file.write_text(text)
        run = subprocess.run(
            ["git", "apply", "--numstat", file], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        if run.returncode == 0:
            git = sorted((name, int(a), int(r)) for a, r, name in (row.split("\t") for row in run.stdout.splitlines()))
            assert [(name, added, removed) for name, _, added, removed in shape(parse_patch(text))] == git
            compared += 1
    assert compared >= 10


def test_a_patch_of_a_megabyte_is_read_whole() -> None:
    rng = random.Random(1)
    body = "".join(f"+line {rng.random()}\n" for _ in range(40_000))
    patch = parse_patch(f"--- /dev/null\n+++ b/build/x.js\n@@ -0,0 +1,40000 @@\n{body}")
    assert shape(patch) == [("build/x.js", "added", 40_000, 0)]
    assert patch.malformed == ()
