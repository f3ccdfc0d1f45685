"""From what an endpoint answered to a `Reply`, and whether it is one at all. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rubrics import jsonio
from rubrics.errors import UnusableReply
from rubrics.models.failures import Failure, of_status, scrub
from rubrics.models.prices import Price, cost
from rubrics.models.redaction import keys_of, redactor
from rubrics.records.models import Call, Reply, Usage


def completion(data: bytes, secrets: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """The body of an answer as a mapping. Raises `Failure`, without secrets, when it is none, or reports an error."""
    try:
        value = jsonio.loads(data)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        start = scrub(data.decode("utf-8", "replace"), secrets)[:80]
        raise Failure("server_error", f"the endpoint answered 200 with what is no JSON object: {start!r}", True)
    return without_keys(no_error(value, secrets), secrets)


def without_keys(answer: Mapping[str, Any], secrets: tuple[str, ...]) -> Mapping[str, Any]:
    """An answer with keys taken out of everything it says, the model's name too; texts that come in parts are joined
    before, so that no key hides in the seams."""
    for choice in _mappings(answer.get("choices")):
        message = choice.get("message")
        if isinstance(message, dict) and isinstance(message.get("content"), list):
            message["content"] = _content(message["content"])
    found: dict[str, Any] = redactor(keys_of(secrets)).value(answer)
    return found


def no_error(value: Mapping[str, Any], secrets: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """The value itself. Raises `Failure`, without the secrets, when it is an error under the status of success."""
    error = value.get("error")
    if not error or value.get("choices"):
        return value
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    raise of_status(status, scrub(jsonio.dumps(value), secrets), {}, 0.0)


def fold(chunks: Sequence[Mapping[str, Any]], secrets: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """The chunks of a stream as the one answer they are the parts of. Raises `Failure` when the stream broke off."""
    message: dict[str, Any] = {"content": None, "refusal": None}
    calls: dict[int, dict[str, str]] = {}
    whole: dict[str, Any] = {"choices": []}
    finish: str | None = None
    for chunk in (no_error(chunk, secrets) for chunk in chunks):
        whole["model"] = whole.get("model") or chunk.get("model")
        whole["usage"] = chunk.get("usage") or whole.get("usage")
        for choice in _mappings(chunk.get("choices"))[:1]:
            delta = _mapping(choice.get("delta"))
            finish = choice.get("finish_reason") or finish
            for name in message:
                if isinstance(delta.get(name), str):
                    message[name] = (message[name] or "") + delta[name]
            for call in _mappings(delta.get("tool_calls")):
                _add(calls, call)
            whole["choices"] = [{"message": message, "finish_reason": finish}]
    if not chunks:
        raise Failure("server_error", "the stream held nothing", True)
    if whole["choices"] and finish is None:
        raise Failure("connection", "the stream ended before its answer did", True)
    if calls:
        message["tool_calls"] = [{"id": c["id"], "function": c} for _, c in sorted(calls.items())]
    return without_keys(whole, secrets)


def _add(calls: dict[int, dict[str, str]], part: Mapping[str, Any]) -> None:
    index = part.get("index")
    call = calls.setdefault(index if isinstance(index, int) else len(calls), {"id": "", "name": "", "arguments": ""})
    function = _mapping(part.get("function"))
    for name, text in (("id", part.get("id")), ("name", function.get("name"))):
        call[name] = call[name] or (text if isinstance(text, str) else "")
    call["arguments"] += _text(function.get("arguments"))


def reply(answer: Mapping[str, Any], price: Price | None, seconds: float) -> tuple[Reply, UnusableReply | None]:
    """What was answered, and why it can be of no use whatever was asked; null when it may be."""
    choices = _mappings(answer.get("choices"))
    message = _mapping(choices[0].get("message")) if choices else {}
    finish = choices[0].get("finish_reason") if choices else None
    model, usage = answer.get("model"), _usage(_mapping(answer.get("usage")))
    made = Reply(
        text=_content(message.get("content")),
        calls=tuple(_call(i, call) for i, call in enumerate(_mappings(message.get("tool_calls")))),
        finish=finish if isinstance(finish, str) else None,
        model=model if isinstance(model, str) else "",
        usage=usage,
        cost=cost(price, usage),
        seconds=seconds,
    )
    return made, _complaint(made, message, bool(choices))


def _complaint(made: Reply, message: Mapping[str, Any], chosen: bool) -> UnusableReply | None:
    refusal = message.get("refusal")
    if refusal or made.finish == "content_filter":
        return UnusableReply("refused", f"the model declined: {_text(refusal)[:200] or 'content filter'}")
    if made.finish == "length":
        return UnusableReply("truncated", "the answer was cut at its limit of tokens; raise max_tokens")
    if not chosen:
        return UnusableReply("empty", "the answer holds no choice")
    if not made.calls and not made.text.strip():
        return UnusableReply("empty", "the answer holds neither text nor a call")
    return None


def _call(index: int, call: Mapping[str, Any]) -> Call:
    function = _mapping(call.get("function"))
    name, call_id = function.get("name"), call.get("id")
    return Call(
        call_id if isinstance(call_id, str) and call_id else f"call_{index}",
        name if isinstance(name, str) else "",
        _text(function.get("arguments")),
    )


def _usage(said: Mapping[str, Any]) -> Usage:
    details = _mapping(said.get("prompt_tokens_details"))
    return Usage(_count(said, "prompt_tokens"), _count(details, "cached_tokens"), _count(said, "completion_tokens"))


def _count(said: Mapping[str, Any], name: str) -> int | None:
    value = said.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _content(content: Any) -> str:
    """The text, also where an endpoint gives it in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in _mappings(content) if isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def _text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else "" if value is None else jsonio.dumps(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
