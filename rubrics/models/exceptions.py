"""What an exception of the openai SDK or of litellm means. Both raise the SDK's classes; told apart by name, so that
neither is imported here."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping

from rubrics import jsonio
from rubrics.models.failures import Failure, of_status, scrub

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)S?$")


def failure_of(error: Exception, where: str, timeout: float, secrets: tuple[str, ...]) -> Failure:
    """What an exception of either library means, without a word of the key."""
    names = {type(cause).__name__ for cause in _causes(error)}
    status = getattr(error, "status_code", None)
    if any(isinstance(cause, TimeoutError) for cause in _causes(error)) or names == {"APITimeoutError"}:
        return Failure("timeout", f"{where} did not answer within {timeout:g} s", True)
    if "APIConnectionError" in names or "APITimeoutError" in names or "ClientError" in names:
        return Failure("connection", scrub(f"{where}: {_innermost(error)}", secrets), True)
    if isinstance(status, int):
        response = getattr(error, "response", None)
        headers = dict(getattr(response, "headers", None) or {})
        body = getattr(error, "body", None)
        text = f"{getattr(error, 'message', error)}" if body is None else jsonio.dumps(body)
        return of_status(status, scrub(text, secrets), headers, time.time())
    return Failure("server_error", scrub(f"{where}: {type(error).__name__}: {error}"[:400], secrets), True)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _innermost(error: BaseException) -> str:
    *_, last = _causes(error)
    return f"{type(last).__name__}: {last}"[:400]


def secrets_of(key: str | None, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The key first, then everything in the environment that looks like one: never to be seen in a message."""
    others = {value for name, value in environment.items() if _SECRET_NAME.search(name) and len(value) >= 8}
    return (*([key] if key else []), *sorted(others, key=len, reverse=True))
