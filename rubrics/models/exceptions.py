"""What an exception of the openai SDK or of litellm means. Both raise the SDK's classes; told apart by name, so that
neither is imported here."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping

from rubrics import jsonio
from rubrics.models.failures import LONGEST_TEXT, Failure, of_status, scrub
from rubrics.visible import one_line, shortened

_TIMED_OUT = {"APITimeoutError"}
"""The SDK also says so of a connection that was closed on it: believed only where nothing stands behind it."""
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)S?$")


def failure_of(error: Exception, where: str, timeout: float, secrets: tuple[str, ...]) -> Failure:
    """What an exception of either library means, without a word of the key."""
    causes = list(_causes(error))
    names = {kind.__name__ for cause in causes for kind in type(cause).__mro__}
    status = getattr(error, "status_code", None)
    broken = {"ClientError", "TransportError", "APIConnectionError"} & names
    if any(isinstance(cause, TimeoutError) for cause in causes) or (broken and len(causes) == 1 and _TIMED_OUT & names):
        return Failure("timeout", f"{where} did not answer within {timeout:g} s", True)
    if broken:
        return Failure("connection", _told(where, causes[-1], secrets), True)
    if isinstance(status, int):
        own = getattr(getattr(error, "response", None), "headers", None)
        headers = dict(getattr(error, "litellm_response_headers", None) or own or {})
        body = getattr(error, "body", None)
        text = f"{getattr(error, 'message', error)}" if body is None else jsonio.dumps(body)
        return of_status(status, scrub(text, secrets), headers, time.time())
    return Failure("server_error", _told(where, error, secrets), True)


def _told(where: str, error: BaseException, secrets: tuple[str, ...]) -> str:
    return shortened(one_line(scrub(f"{where}: {type(error).__name__}: {error}", secrets)), LONGEST_TEXT)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def secrets_of(key: str | None, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The key first, then everything in the environment that looks like one: never to be seen in a message."""
    others = {value for name, value in environment.items() if _SECRET_NAME.search(name) and len(value) >= 8}
    return (*([key] if key else []), *sorted(others, key=len, reverse=True))
