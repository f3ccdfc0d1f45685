"""Rubric files are read by libyaml where that gives the same as the reader in Python, and only there."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from rubrics.errors import RubricError
from rubrics.rules import loading
from rubrics.rules.loading import from_yaml
from rubrics.store.store import Store

needs_libyaml = pytest.mark.skipif(not hasattr(yaml, "CSafeLoader"), reason="PyYAML was built without libyaml")
_LINE = st.text(st.sampled_from("ab '\"#:-|>[]{},&*!%@`?\\~ \t\u0085\u2028é"), max_size=20)


def shape(node: yaml.Node) -> object:
    """A node with everything that is read of it."""
    if isinstance(node, yaml.ScalarNode):
        return node.tag, node.value, node.start_mark.line
    parts = node.value if isinstance(node, yaml.SequenceNode) else [part for pair in node.value for part in pair]
    return node.tag, node.start_mark.line, [shape(part) for part in parts]


@needs_libyaml
@given(st.lists(st.builds("{}: {}".format, st.sampled_from("abcdef"), _LINE), max_size=8))
@example(["a: !"])
@example(["a: ! x"])
def test_what_libyaml_reads_is_what_the_other_reader_reads(lines: list[str]) -> None:
    text = "\n".join(lines)
    fast = loading._composed_in_c(text)
    if fast is not None:
        assert shape(fast) == shape(loading._composed(text, "f.yaml"))


@needs_libyaml
def test_the_rubrics_of_the_sample_are_read_by_libyaml(sample_store: Store) -> None:
    for file in sorted(sample_store.paths.rubrics.iterdir()):
        text = file.read_text("utf-8")
        fast = loading._composed_in_c(text)
        assert fast is not None
        assert shape(fast) == shape(loading._composed(text, file.name))


@needs_libyaml
@pytest.mark.parametrize("text", ["a: &x 1\nb: *x", "[" * 5_000, "a: \t- b", "a: x\u2028y", "{a: " * 100_000])
def test_what_is_not_simple_is_left_to_the_other_reader(text: str) -> None:
    assert loading._composed_in_c(text) is None
    with pytest.raises(RubricError):
        from_yaml(text, "f.yaml", lambda *_: None)
