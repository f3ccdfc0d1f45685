"""A judge behind HTTP for benchmarks: answers soundly, and breaks a share of its replies where asked to."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from model_server.server import Raw, Said, serving
from model_server.sound import sound_verdicts

Fault = Callable[[dict[str, Any]], Any]


def _spoil(change: Callable[[dict[str, Any]], Any]) -> Fault:
    """A reply of the right form, changed."""

    def said(reply: dict[str, Any]) -> Any:
        copy = json.loads(json.dumps(reply))
        return change(copy) or copy

    return said


def _first(reply: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(iter(reply["verdicts"].values()))
    return found


def _set(name: str, value: Any) -> Fault:
    return _spoil(lambda reply: _first(reply).__setitem__(name, value))


def _rename(reply: dict[str, Any]) -> None:
    name = next(iter(reply["verdicts"]))
    reply["verdicts"][name.replace("s", "\u0455", 1)] = reply["verdicts"].pop(name)


def _twice(reply: dict[str, Any]) -> str:
    text = json.dumps(reply)
    name, value = next(iter(reply["verdicts"].items()))
    return text.replace('"verdicts": {', f'"verdicts": {{{json.dumps(name)}: {json.dumps(value)}, ', 1)


FAULTS: dict[str, Fault] = {
    "truncated": lambda reply: json.dumps(reply)[: len(json.dumps(reply)) // 2],
    "finish_length": lambda reply: Said(json.dumps(reply)[:200], finish="length"),
    "prose_around": lambda reply: f"Here is my verdict: {json.dumps(reply)} I hope it helps.",
    "missing_criterion": _spoil(lambda reply: reply["verdicts"].pop(next(iter(reply["verdicts"]))) and None),
    "extra_criterion": _spoil(lambda reply: reply["verdicts"].__setitem__("also", _first(reply))),
    "renamed_criterion": _spoil(_rename),
    "repeated_criterion": _spoil(_twice),
    "off_the_scale": _set("level", "excellent"),
    "number_for_level": _set("level", 7.5),
    "text_for_bool": _spoil(lambda reply: reply["addressed_to_grader"].__setitem__("found", "false")),
    "nan": lambda reply: json.dumps(reply).replace('"found": false', '"found": NaN'),
    "invented_quote": _set("evidence", [{"place": "patch:src/nowhere.py:1", "quote": "return everything"}]),
    "refusal": lambda reply: Said(None, finish="content_filter"),
    "empty": lambda reply: Said(""),
    "other_model": lambda reply: Said(json.dumps(reply), model="somebody-else"),
    "rambling": lambda reply: "Let me think about that. " * 8_000,
    "429": lambda reply: Raw(429, b'{"error": {"message": "slow down"}}', {"Retry-After": "0"}),
    "500": lambda reply: Raw(500, b"oops"),
    "cut_connection": lambda reply: Raw(200, json.dumps(reply).encode(), cut_after=100),
}
"""What a reply becomes. The last three are the transport's: sent again at once, they go right."""
ONCE = ("other_model", "429", "500", "cut_connection")
"""Not asked again for a better reply: broken once."""


def script(fault: str, share: float) -> Callable[[dict[str, Any]], Any]:
    """Breaks the replies about a share of the attempts. A fault of the reply comes twice, which is how often the
    client asks."""
    seen: dict[bytes, int] = {}
    lock = threading.Lock()
    times = 1 if fault in ONCE else 2

    def answer(body: dict[str, Any]) -> Any:
        if "response_format" not in body:
            return "hello"
        reply = sound_verdicts(body)
        if fault == "none":
            return reply
        key = hashlib.sha256(body["messages"][-1]["content"].encode()).digest()
        if key[0] >= share * 256:
            return reply
        with lock:
            seen[key] = seen.get(key, 0) + 1
            broken = seen[key] <= times
        return FAULTS[fault](reply) if broken else reply

    return answer


def main(latency: str, fault: str, share: str) -> None:
    with serving(script(fault, float(share))) as server:
        server.latency = float(latency)
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
