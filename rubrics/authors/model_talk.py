"""The conversation of an author: study, draft, one report of what is wrong, and the draft again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from rubrics.agents.loop import Bounds, Conversation, Handled, converse
from rubrics.authors.lint_records import Finding
from rubrics.authors.model_draft import Drafts, Work
from rubrics.authors.model_prompt import revision, submit_tool
from rubrics.errors import ModelError
from rubrics.models.model import Model
from rubrics.records.models import Request
from rubrics.replies.drafts import read_drafts

STUDY = Bounds(turns=40, seconds=1800.0, faults=4)
REVISION = Bounds(turns=12, seconds=900.0, faults=3)
Submission = tuple[str, Drafts]
"""What was submitted, as written and as read."""
Examine = Callable[[Drafts], Awaitable[list[Finding]]]


async def talk(
    model: Model, opening: Request, tools: Sequence[Handled], labels: Sequence[str], examine: Examine
) -> Work:
    """Raises `ModelError` when one of the two submissions does not come to be, `InfraError` when a tool breaks."""

    def read(text: str) -> Submission:
        return text, read_drafts(text, labels)

    submit = submit_tool(labels)
    first = await converse(model, opening, tools, submit, read, STUDY)
    draft, drafts = _value(first)
    found = await examine(drafts)
    replies, again = list(first.replies), None
    if found:
        messages = tuple(answered(first.messages, revision(found)))
        second = await converse(
            model, Request(messages, purpose=opening.purpose, schema_name=opening.schema_name), tools, submit, read,
            REVISION,
        )  # fmt: skip
        again = _value(second)[0]
        replies += second.replies
        if len(models := {reply.model for reply in replies}) > 1:
            raise ModelError("wrong_model", f"the turns were answered by {', '.join(sorted(models))}; one has to")
    return Work(draft, again, replies[-1].model, len(replies))


def answered(messages: Sequence[Mapping[str, Any]], said: str) -> list[Mapping[str, Any]]:
    """The messages of a conversation that ended with a submission, every call answered, and what is said to it."""
    last = max(place for place, message in enumerate(messages) if message["role"] == "assistant")
    have = {message.get("tool_call_id") for message in messages[last + 1 :]}
    left = [call["id"] for call in messages[last].get("tool_calls", ()) if call["id"] not in have]
    content = "not carried out: it stands after the submission"
    answers = [{"role": "tool", "tool_call_id": name, "content": content} for name in left]
    return [*messages, *answers, {"role": "user", "content": said}]


def _value(conversation: Conversation[Submission]) -> Submission:
    assert conversation.value is not None  # `converse` returns with a value or raises
    return conversation.value
