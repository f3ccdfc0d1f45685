"""Errors, split by what the caller does next.

| class         | the caller                                                    |
|---------------|---------------------------------------------------------------|
| `UsageError`  | stops with exit code 2: the person asked for what cannot be   |
| `InputError`  | leaves this item out, records it in the census, goes on       |
| `StoreError`  | stops: the store cannot be read or written as it stands       |
| `RubricError` | stops: a rubric file says something that it may not           |
| `InfraError`  | records outcome `infra` for this rollout, goes on             |
| `AttemptError` | records outcome `failed` for this rollout, goes on           |
| `ModelError`  | leaves the verdict null with the error's class, goes on       |
| `UnusableReply` | asks again a bounded number of times, then as `ModelError`  |

Every message names the value, the place and the remedy.
"""

from __future__ import annotations


class RubricsError(Exception):
    """Base of every error this package raises on purpose."""


class UsageError(RubricsError):
    """The command line or the configuration asks for something that cannot be done."""


class StoreError(RubricsError):
    """A store is missing, broken, of another format version, or would be left inconsistent."""


class RubricError(RubricsError):
    """A rubric file or a rule expression is not valid; the message names file, line and remedy."""


class InputError(RubricsError):
    """One input item (a file, a line, a row) cannot be used.

    `kind` is a short closed word for the census (for instance `truncated`, `encoding`,
    `shape`, `size`, `unsafe_path`); `place` names the file and the line or key.
    """

    def __init__(self, kind: str, place: str, found: str, wanted: str, remedy: str) -> None:
        self.kind = kind
        self.place = place
        self.found = found
        self.wanted = wanted
        self.remedy = remedy
        super().__init__(f"{place}: found {found}; wanted {wanted}. {remedy}")


class InfraError(RubricsError):
    """An environment, engine or image broke; the rollout is not to blame and gets no number.

    `kind` is a short closed word: `no_engine`, `no_image`, `disk_full`, `engine_died`, `no_rung`, `limits`, ...
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


class AttemptError(RubricsError):
    """What the attempt itself did keeps its state from being rebuilt or worked with: its own failure, never `infra`.

    `kind` is a short closed word: those of `PatchRefused`, or `write`.
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


class PatchRefused(AttemptError):
    """The attempt's patch is not put on.

    `kind`: `git_folder` (it names a `.git`), `outside` (a path that leaves the working folder), `misfit` (it fits in
    no way), `limit` (putting it on took more than a rollout may use).
    """


class ModelError(RubricsError):
    """A model gave no answer that can be used; what was asked stays unknown, under the class `kind`.

    `kind` is a short closed word: `rate_limited`, `server_error`, `timeout`, `connection`, `authentication`,
    `bad_request`, `context_too_long`, `budget`, `wrong_model`, or the kind of the last `UnusableReply`.
    """

    def __init__(self, kind: str, message: str, calls: int = 0) -> None:
        self.kind = kind
        self.calls = calls
        """Requests that were sent for nothing."""
        super().__init__(message)


class UnusableReply(RubricsError):
    """A reply came, and a strict reader refuses it.

    `kind` is a short closed word: `empty`, `refused`, `truncated`, `not_json`, `shape`, `missing_criterion`,
    `unknown_criterion`, `repeated_criterion`, `off_scale`, `unresolved_evidence`, ...
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)
