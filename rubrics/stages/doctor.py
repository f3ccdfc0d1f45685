"""Whether what the commands need is there."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from rubrics import __version__
from rubrics.environments.choose import available
from rubrics.errors import RubricsError, UnusableReply
from rubrics.models.client import Client, open_client
from rubrics.models.endpoint import find_price
from rubrics.records.models import Reply, Request
from rubrics.replies.json_text import read_object
from rubrics.stages.models import model_settings
from rubrics.stages.options import Options

QUESTION = 'Reply with the JSON object {"answer": 4} where 4 stands for the sum of two and three.'
SCHEMA = {
    "type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"],
    "additionalProperties": False,
}  # fmt: skip
LIBRARIES = ("prefect", "duckdb", "pyarrow", "pandas", "litellm", "openai", "docker")


def examine(options: Options) -> list[dict[str, Any]]:
    """One row per thing: `what`, `state` (ok, absent, broken), `detail`. Only what was asked for can be broken."""
    rows = [_row("rubrics", "ok", f"{__version__}, Python {platform.python_version()}, {sys.platform}")]
    rows.append(_row("libraries", "ok", ", ".join(f"{name} {version(name)}" for name in LIBRARIES)))
    for name, usable, why in available():
        missing = "broken" if options.env == name else "absent"
        rows.append(_row(f"environment {name}", "ok" if usable else missing, why))
    if options.model:
        rows += _model(options)
    return rows


def _model(options: Options) -> Iterator[dict[str, Any]]:
    try:
        settings = model_settings(options)
        price = find_price(settings)
        yield _row("price", "ok" if price else "absent", _price(price) or "not known: costs are null; give --price")
        with open_client(settings) as client:
            yield _answered(client)
    except RubricsError as error:
        yield _row(f"model {options.model}", "broken", str(error))


def _answered(client: Client) -> dict[str, Any]:
    request = Request(({"role": "user", "content": QUESTION},), (), SCHEMA, "answer", 0, "doctor")
    try:
        answer = client.run(client.ask(request, _read))
    except RubricsError as error:
        return _row(f"model {client.name}", "broken", str(error))
    reply = answer.reply
    said = f"{reply.model} answered {answer.value} in {reply.seconds:.1f} s, {reply.usage.prompt} tokens of prompt"
    return _row(f"model {client.name}", "ok", said)


def _read(reply: Reply) -> int:
    value = read_object(reply.text).get("answer")
    if not isinstance(value, int):
        raise UnusableReply("shape", f"answer is {value!r}; wanted a whole number")
    return value


def _price(price: Any) -> str:
    if price is None:
        return ""
    return f"{price.input * 1e6:g} in, {price.output * 1e6:g} out, {price.cached * 1e6:g} cached, dollars per million"


def _row(what: str, state: str, detail: str) -> dict[str, Any]:
    return {"what": what, "state": state, "detail": detail}
