"""Writes `docs/examples/author-run.md`: every word between the program and a scripted author on a sample task."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "authoring")]

from authoring_helpers import (  # noqa: E402
    BEHAVIOR,
    SOLUTION,
    SPANS,
    author,
    criterion,
    is_author,
    judges,
    read_everything,
    sample_store,
    spec_anchor,
    submission,
    submits,
    synthesized,
)

from rubrics.agents.conversation_text import conversation_text  # noqa: E402
from rubrics.judges.single import SingleJudge  # noqa: E402
from rubrics.records.models import Tool  # noqa: E402
from rubrics.store.store import Store  # noqa: E402

TARGET = ROOT / "docs" / "examples" / "author-run.md"
HEAD = """\
# A model writes the rubrics of one task

The task is `{task}` of `data/sample`. The author's replies are scripted, so that this page is the same each time;
prompts, tools, sandbox, lint, trial and files are real. `make examples` writes it anew. [authoring.md](../authoring.md)
says what happens here.

In the first draft one criterion joins two demands, one asks a judge to count, and the trial finds one that no attempt
meets. The second draft repairs the first and repeats the others, which are dropped.
"""
JOINED = criterion(
    "handles-odd-spans",
    "Raises `ValueError` for a reversed span and drops empty spans.",
    anchor=spec_anchor("Empty spans, with start equal to end, are dropped."),
)
COUNTED = criterion("small", "Adds at most 20 lines.", anchor=spec_anchor("The result is a sorted list of tuples."))
DROPS = criterion(
    "drops-empty-spans",
    "A span whose start equals its end is missing from the result of `merge`.",
    anchor=spec_anchor("Empty spans, with start equal to end, are dropped."),
    guidance="Met when such a span is skipped before it is merged; unmet when it can be in the list that is returned.",
    rests_on=["attempt-1", "attempt-2"],
)
SEEN = {
    "keeps-the-farther-end": "max(",
    "refuses-reversed-spans": "raise ValueError",
    "leaves-the-list-alone": "sorted(",
    "drops-empty-spans": "start < end",
}


def main(target: Path = TARGET) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = sample_store(Path(folder) / "store")
        first, second = (submission([*SOLUTION, item, COUNTED], BEHAVIOR) for item in (JOINED, DROPS))
        with author(read_everything, submits(first), submits(second), judge=judges(SEEN)) as server:
            store = synthesized(store, server, judge=SingleJudge)
            bodies = [body for body in server.requests if is_author(body)]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("\n".join(parts(bodies[-1], submits(second).calls[0], store)), "utf-8")


def parts(body: dict[str, Any], last: tuple[str, Any], store: Store) -> list[str]:
    """The page: the conversation with its last word, and the files that came of it."""
    call = {"id": "last", "type": "function", "function": {"name": last[0], "arguments": json.dumps(last[1])}}
    messages = [*body["messages"], {"role": "assistant", "content": None, "tool_calls": [call]}]
    tools = [
        Tool(**{key: tool["function"][key] for key in ("name", "description", "parameters")}) for tool in body["tools"]
    ]
    files = sorted(store.paths.rubric(SPANS, "solution").parent.glob("*.yaml"))
    shown = [f"## `{file.name}`\n\n```yaml\n{file.read_text('utf-8')}```\n" for file in files]
    return [HEAD.format(task=SPANS), conversation_text(messages, tools), *shown]


if __name__ == "__main__":
    main()
