"""How much of what is asked a provider's prefix cache can serve."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def served_share(requests: Iterable[Mapping[str, Any]]) -> float:
    """Share of the prompt, from 0 to 1, that is an exact prefix of an earlier request.

    `requests` are bodies in the OpenAI form, in the order in which they were sent: those of one task, all conversations
    together. A prompt is its tools and messages as JSON, tools first, as templates lay them out; characters stand for
    tokens, and the cache forgets nothing. Providers serve somewhat less: whole blocks, and for some minutes.
    """
    texts = [_text(body) for body in requests]
    whole = sum(map(len, texts))
    served = sum(
        max((_common(text, before) for before in texts[:place]), default=0) for place, text in enumerate(texts)
    )
    return served / whole if whole else 0.0


def _text(body: Mapping[str, Any]) -> str:
    messages = json.dumps(body["messages"], ensure_ascii=False)
    return json.dumps(body.get("tools", []), ensure_ascii=False) + messages.removesuffix("]")


def _common(text: str, before: str) -> int:
    """Characters with which both begin."""
    low, high = 0, min(len(text), len(before))
    while low < high:
        middle = (low + high + 1) // 2
        if text[low:middle] == before[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
