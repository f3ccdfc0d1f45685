"""What a failed request means: its class, whether to send it again, and after how long. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from rubrics import jsonio
from rubrics.models.redaction import MARK, keys_of, redactor
from rubrics.visible import one_line, shortened

LONGEST_TEXT = 400
"""Characters of an endpoint's own words that go into a message."""
_TOO_LONG = re.compile(
    r"context[ _](length|window|size)|maximum context|(prompt|input) is too long|too many (input )?tokens",
    re.I,
)
_NO_FORMAT = re.compile(
    r"response_format|response_schema|json_schema|json_object|structured output|grammar|guided|\$(ref|defs)", re.I
)
_NO_STREAM_OPTIONS = re.compile(r"stream_options|include_usage", re.I)


class Failure(Exception):
    """One request failed. `kind` is one of `ModelError`; the client decides what comes of it."""

    def __init__(
        self, kind: str, message: str, retryable: bool = False, after: float | None = None, status: int | None = None
    ) -> None:
        self.kind = kind
        self.message = message
        self.retryable = retryable
        self.after = after
        """Seconds that the endpoint asked to wait."""
        self.status = status
        super().__init__(message)

    @property
    def perhaps_paid(self) -> bool:
        """The endpoint may have done the work although no answer came."""
        return self.status is None and self.kind in ("timeout", "connection")


def of_status(status: int, text: str, headers: Mapping[str, str], now: float) -> Failure:
    """What an HTTP status other than success means; `now` in seconds of the epoch, for dates in Retry-After."""
    said = f"the endpoint answered {status}: {_words(text)}"
    after = retry_after(headers, now)
    if status in (400, 413, 422, 500) and _TOO_LONG.search(text):
        return Failure("context_too_long", f"{said}. Give the model less, or take one with more room", status=status)
    if status == 429 and "insufficient_quota" in text:
        return Failure("rate_limited", f"{said}. The account has no money left", status=status)
    if status == 429:
        return Failure("rate_limited", f"{said}. Lower --concurrency or set --requests-per-minute", True, after, status)
    if status in (401, 403):
        return Failure("authentication", f"{said}. Check the key and what it may use", status=status)
    if status == 408:
        return Failure("timeout", said, True, after, status)
    if status == 409 or status >= 500 or status < 300:
        return Failure("server_error", said, True, after, status)
    return Failure("bad_request", f"{said}. Check the model's name and the settings", status=status)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait by `Retry-After` (seconds or a date) or `retry-after-ms`; null when there is none to be read."""
    lower = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = lower.get(name, "").strip()
        if re.fullmatch(r"\d{1,12}(\.\d{1,9})?", value):
            return float(value) * unit
    try:
        return max(0.0, parsedate_to_datetime(lower["retry-after"]).timestamp() - now)
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def refuses_format(failure: Failure) -> bool:
    """The endpoint does not know the way in which JSON was asked for."""
    return failure.kind == "bad_request" and failure.status in (400, 422) and bool(_NO_FORMAT.search(failure.message))


def refuses_stream_options(failure: Failure) -> bool:
    """The endpoint does not know that usage can be asked for in a stream."""
    return failure.kind == "bad_request" and bool(_NO_STREAM_OPTIONS.search(failure.message))


def scrub(text: str, secrets: tuple[str, ...]) -> str:
    """The text with every secret taken out: keys also in pieces and encodings (`rubrics.models.redaction`)."""
    text = redactor(keys_of(secrets))(text)
    for secret in secrets:
        text = text.replace(secret, MARK)
    return text


def _words(text: str) -> str:
    """The endpoint's own message: the field `message` where the body is JSON, cut to a length."""
    try:
        value = jsonio.loads(text)
    except ValueError:
        value = None
    error = value.get("error", value) if isinstance(value, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    kept = message if isinstance(message, str) and message else text
    code = error.get("code") if isinstance(error, dict) else None
    kept = f"{kept} ({code})" if isinstance(code, str) and code not in kept else kept
    return shortened(one_line(" ".join(kept.split())), LONGEST_TEXT)
