"""Facts must be equal for patches that differ in nothing that matters (method, section 6)."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.facts.patch_facts import measure_patch

LINES = st.sampled_from(
    [
        "def f(a):", "    return a", "", "    ", "class K:", "    def m(self):", "x = 'a' or {}", "# note",
        '"""', '    """Doc."""',
        "except Exception:", "    pass", "import os", "-- old", "++ new", "@@ -1 +1 @@", "\tif x == 3:", "print(x)",
        "ünï = 1",
    ]
)  # fmt: skip
BODY = st.lists(st.tuples(st.sampled_from("+- "), LINES), min_size=1, max_size=12).filter(
    lambda body: any(mark != " " for mark, _ in body)
)
FILES = st.dictionaries(
    st.sampled_from(["src/a.py", "src/b.py", "b.js", "tests/test_a.py", "docs/x.md", "repro.py", "build/x.py"]),
    st.lists(BODY, min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


def render(files: dict[str, list[list[tuple[str, str]]]], names: list[str], start: int, index: str) -> str:
    text = ""
    for name in names:
        text += f"diff --git a/{name} b/{name}\nindex {index}..2222222 100644\n--- a/{name}\n+++ b/{name}\n"
        for number, body in enumerate(files[name]):
            old = sum(mark != "+" for mark, _ in body)
            new = sum(mark != "-" for mark, _ in body)
            at = start + number * 50
            text += f"@@ -{at},{old} +{at + 3},{new} @@ def above():\n"
            text += "".join(f"{mark}{line}\n" for mark, line in body)
    return text


def variants(text: str) -> list[str]:
    return [f"\n\n{text}", f"{text}\n\n", text.replace("\n", "\r\n"), f"```diff\n{text}```", text.rstrip("\n")]


@given(FILES, st.randoms(use_true_random=False), st.integers(60, 900))
@settings(max_examples=150, deadline=None)
def test_order_offsets_line_ends_and_blank_ends_change_no_fact(
    files: dict[str, list[list[tuple[str, str]]]], rng: random.Random, start: int
) -> None:
    names = sorted(files)
    text = render(files, names, 60, "1111111")
    expected = measure_patch(text)
    assert not expected["malformed_diff"]
    rng.shuffle(names)
    for other in [render(files, names, start, "3333333"), *variants(text)]:
        assert measure_patch(other) == expected


def shifted(text: str) -> str:
    """The same diff with every hunk 1,000 lines further down."""

    def move(match: re.Match[str]) -> str:
        return f"@@ -{int(match[1]) + 1000}{match[2]} +{int(match[3]) + 1000}{match[4]} @@"

    return re.sub(r"^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@", move, text, flags=re.MULTILINE)


def test_real_patches_keep_their_facts_under_the_same_changes(real: Path) -> None:
    texts = [
        json.loads(path.read_text())["info"]["submission"] for path in (real / "mini-swe-agent").glob("*/*/*.traj.json")
    ]
    texts += [
        row["model_patch"]
        for row in json.loads((real / "mini-swe-agent/deepseek_bench_dev/preds.json").read_text()).values()
    ]
    texts = [text for text in texts if text.strip()]
    assert len(texts) > 30
    for text in texts:
        expected = measure_patch(text)
        pieces = re.split(r"^(?=diff --git )", text, flags=re.MULTILINE)
        whole = [piece if piece.endswith("\n") or not piece else piece + "\n" for piece in reversed(pieces)]
        for other in ["".join(whole), shifted(text), *variants(text)]:
            row = measure_patch(other)
            assert differences(row, expected) == {}


def differences(row: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    return {name: (row[name], expected[name]) for name in expected if row[name] != expected[name]}
