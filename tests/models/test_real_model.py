"""A real small model: whatever it says is read strictly, or refused by class. No verdict is ever made up from it.

Runs with `RUBRICS_REAL_MODEL=1` where the packages of the group `real-model` are installed.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server.real import RealModel, installed, real_model

from rubrics.agents.loop import Bounds, converse
from rubrics.errors import ModelError, UnusableReply
from rubrics.models.client import Client, open_client
from rubrics.models.settings import ModelSettings
from rubrics.records.models import Reply, Request, Tool
from rubrics.records.rubrics import Criterion, Rubric
from rubrics.replies.evidence import Sources
from rubrics.replies.verdicts import VerdictSet, asks_of, read_verdicts, verdict_schema

PATCH = """\
diff --git a/tidy.py b/tidy.py
--- a/tidy.py
+++ b/tidy.py
@@ -1,2 +1,2 @@
 def tidy(text):
-    return text
+    return text.strip()
"""
CRITERIA = (
    Criterion("strips-blanks", "The function strips blanks at both ends.", 1.0, "judge"),
    Criterion("keeps-name", "The function keeps its name.", 1.0, "judge", scale=("no", "partly", "yes")),
)
ASKS = asks_of({"solution": Rubric("t", "solution", CRITERIA, "edited", (), "", "")})
SCHEMA = verdict_schema(ASKS)
WANTED = ", ".join(criterion.text for criterion in CRITERIA)
TEXT = f"Judge this patch.\n{PATCH}\nCriteria: {WANTED}\nAnswer with JSON only, like this schema:\n"


@pytest.fixture(scope="module")
def model() -> Iterator[RealModel]:
    if os.environ.get("RUBRICS_REAL_MODEL") != "1":
        pytest.skip("asks a real model for minutes; RUBRICS_REAL_MODEL=1 runs it")
    if not installed():
        pytest.skip("the packages of the dependency group real-model are not installed")
    with real_model() as running:
        yield running


def settings(model: RealModel, stream: bool = False) -> ModelSettings:
    return ModelSettings(model.name, model.url, max_tokens=200, temperature=0.7, seed=1, stream=stream, concurrency=2)


def question(schema: bool, repeat: int) -> Request:
    text = TEXT + json.dumps(SCHEMA)
    return Request(({"role": "user", "content": text},), (), SCHEMA if schema else None, "verdicts", repeat, "judge")


def judge(client: Client, asked: Request) -> str:
    """`usable`, or the class of the failure; a usable reply is the complete set, with evidence that resolves."""
    sources = Sources(PATCH, ())

    def read(reply: Reply) -> VerdictSet:
        return read_verdicts(reply.text, ASKS, sources.wrong)

    try:
        answer = client.run(client.ask(asked, read))
    except ModelError as error:
        return error.kind
    assert [verdict.criterion_id for verdict in answer.value.verdicts] == [c.id for c in CRITERIA]
    assert all(v.level in c.scale for v, c in zip(answer.value.verdicts, CRITERIA, strict=True))
    assert all(sources.wrong(p) is None for verdict in answer.value.verdicts for p in verdict.evidence)
    return "usable"


def test_what_it_says_is_a_complete_verdict_or_a_class_of_failure(model: RealModel, tmp_path: Path) -> None:
    with open_client(settings(model), tmp_path / "cache.db") as client:
        outcomes = Counter(judge(client, question(schema, repeat)) for schema in (True, False) for repeat in range(2))
        print(dict(outcomes), dict(client.counters.unusable))
        assert outcomes.total() == 4
        sent = client.counters.requests
        again = Counter(judge(client, question(schema, repeat)) for schema in (True, False) for repeat in range(2))
        assert again["usable"] >= outcomes["usable"]
        assert client.counters.from_cache == outcomes["usable"], "kept is exactly what was usable"
        assert outcomes["usable"] == 4 or client.counters.requests > sent


@pytest.mark.parametrize("stream", [False, True])
def test_a_schema_is_honoured_by_the_server_and_the_reply_says_what_it_took(model: RealModel, stream: bool) -> None:
    schema = {
        "type": "object", "properties": {"reason": {"type": "string", "maxLength": 80}, "level": {"enum": ["a", "b"]}},
        "required": ["reason", "level"], "additionalProperties": False,
    }  # fmt: skip

    def read(reply: Reply) -> str:
        value = json.loads(reply.text)
        if set(value) != {"reason", "level"}:
            raise UnusableReply("shape", reply.text)
        return str(value["level"])

    asked = Request(({"role": "user", "content": "Pick a or b, say why first. JSON."},), (), schema)
    with open_client(settings(model, stream)) as client:
        answer = client.run(client.ask(asked, read))
        assert answer.value in ("a", "b")
        assert answer.reply.model == model.name
        assert (answer.reply.usage.prompt or 0) > 5
        assert (answer.reply.usage.completion or 0) > 5
        assert answer.reply.cost is None, "nobody knows its price"


def test_a_conversation_with_tools_ends_in_a_submission_or_a_class_of_failure(model: RealModel) -> None:
    submit = Tool("submit", "Submit the verdicts.", SCHEMA)
    sources = Sources(PATCH, ())

    def read(arguments: str) -> VerdictSet:
        return read_verdicts(arguments, ASKS, sources.wrong)

    with open_client(settings(model)) as client:
        try:
            talk = client.run(converse(client, question(False, 0), (), submit, read, Bounds(turns=3, faults=2)))
        except ModelError as error:
            ended = error.kind
        else:
            ended = "submitted" if talk.value is not None else ""
    print(ended)
    assert ended
    assert ended not in ("wrong_model", "authentication", "budget")
