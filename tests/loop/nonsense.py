"""A share of a server's replies replaced by nonsense, whatever role is asked."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from typing import Any

from benchmarks.judge_server import FAULTS
from model_server.everything import role_of
from model_server.faults import CALLS, CONTENT, PROTOCOL
from model_server.server import Raw, Said, Script

Spoil = Callable[[Any], Any]
ANYTHING: dict[str, Spoil] = {
    **{name: spoil for name, (spoil, _) in PROTOCOL.items()},
    "other model": lambda good: Said(json.dumps(good), model="somebody-else"),
}
"""For questions and for turns."""
VERDICTS = ("invented_quote", "text_for_bool", "nan", "renamed_criterion", "finish_length", "number_for_level")
"""Of the benchmark's faults, those that only verdicts can have."""
ONCE: dict[str, Spoil] = {
    "429": lambda good: Raw(429, b'{"error": {"message": "slow down"}}', {"Retry-After": "0"}),
    "cut": lambda good: Said(json.dumps(good), cut=True),
}
"""The transport's: sent again, the request is answered well."""


class Nonsense:
    """A script that spoils the replies to a share of the requests, drawn by a digest of what is asked: the same
    question is answered by the same nonsense every time, but for what the transport did.

    Without `turns` those of conversations are left alone: who was kept from looking may well say something else.
    """

    def __init__(self, script: Script, share: float, seed: int = 0, turns: bool = True) -> None:
        self._script, self._share, self._seed, self._turns = script, share, seed, turns
        self._seen: set[bytes] = set()
        self._lock = threading.Lock()
        self.spoilt: dict[str, int] = {}
        """Replies that were spoilt, by role."""

    def __call__(self, body: dict[str, Any]) -> Any:
        good = self._script(body)
        drawn = hashlib.sha256(f"{self._seed}{json.dumps(body['messages'])}".encode()).digest()
        if drawn[0] >= self._share * 256 or (isinstance(good, Said) and not self._turns):
            return good
        role = role_of(body)
        said = _spoilt(good, role, int.from_bytes(drawn[1:5]))
        with self._lock:
            if isinstance(said, Raw) or (isinstance(said, Said) and said.cut):
                if drawn in self._seen:
                    return good
                self._seen.add(drawn)
            self.spoilt[role] = self.spoilt.get(role, 0) + 1
        return said


def _spoilt(good: Any, role: str, drawn: int) -> Any:
    """The good reply as one of the ways to go wrong that fit it."""
    if isinstance(good, Said):
        name, arguments = good.calls[-1]
        ways = [*ANYTHING.values(), *ONCE.values(), *CALLS.values()]
        if name.startswith("submit_"):
            ways += [_submitted(name, spoil) for spoil in CONTENT.values()]
        return ways[drawn % len(ways)](arguments)
    ways = [*ANYTHING.values(), *ONCE.values(), *CONTENT.values()]
    if role == "judge":
        ways += [FAULTS[name] for name in VERDICTS]
    return ways[drawn % len(ways)](good)


def _submitted(name: str, spoil: Spoil) -> Spoil:
    return lambda arguments: Said(None, ((name, spoil(arguments)),))
