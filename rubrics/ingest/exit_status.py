"""What an exit status says of an attempt (method 2.1): the provider or the environment broke, or a budget ended it.

Covered: the words of mini-swe-agent, SWE-agent, OpenHands, Harbor and terminal-bench, and the exception names of
litellm, openai, httpx, requests and the Docker SDK. Not covered: free text; `named_in` finds a known word in one.
"""

from __future__ import annotations

import re

from rubrics.records.outcomes import OutcomeName

INFRA = """
    APIError APIConnectionError APIStatusError APITimeoutError APIResponseValidationError AuthenticationError
    BadGatewayError BadRequestError ConflictError ContentPolicyViolationError InternalServerError NotFoundError
    OverloadedError PermissionDeniedError RateLimitError ServiceUnavailableError Timeout UnprocessableEntityError
    ConnectError ConnectionError ConnectTimeout ConnectionResetError ConnectionRefusedError PoolTimeout ReadError
    ReadTimeout RemoteProtocolError SSLError HTTPError HTTPStatusError JSONDecodeError
    ContainerError DockerException EnvironmentError ImageNotFound CalledProcessError TimeoutExpired OSError IOError
    MemoryError BrokenPipeError RuntimeError KeyboardInterrupt UserInterruption
    exit_api exit_error exit_environment_error
    AgentSetupTimeoutError EnvironmentStartTimeoutError VerifierTimeoutError RewardFileNotFoundError
    agent_installation_failed unknown_agent_error test_timeout
"""
"""The provider, the environment or the harness broke. `TimeoutExpired` is a container that did not start in time."""

TRUNCATED = """
    exit_cost exit_context exit_format exit_total_execution_time exit_command_timeout early_exit
    LimitsExceeded ContextWindowExceededError RepeatedFormatError TimeExceeded max_iterations max_turns
    max_tokens length token_limit message_limit time_limit AgentStuckInLoopError AgentTimeoutError agent_timeout
    truncated
"""
"""A turn, token, time or money budget of the agent ended the attempt."""

ENDED = "submitted submit exit_forfeit finished completed stop done success unset"
"""The agent ended the attempt itself: nothing is said of the outcome."""

PHRASES: tuple[tuple[str, str], ...] = (
    (r"rate.?limit|too many requests|\b429\b", "RateLimitError"),
    (r"overloaded|\b529\b|\b503\b|service unavailable", "ServiceUnavailableError"),
    (r"internal server error|\b500\b", "InternalServerError"),
    (r"bad gateway|\b502\b", "BadGatewayError"),
    (r"context.?(window|length)|maximum context", "ContextWindowExceededError"),
    (r"connection (error|refused|reset|aborted)", "APIConnectionError"),
    (r"timed? ?out|\b504\b", "Timeout"),
)
"""What an error text says, in words, and the status that it stands for; the first that is found counts."""

_WRAPPED = re.compile(r"submitted\s*\((.+)\)\s*", re.IGNORECASE | re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]{5,60}")


def _key(word: str) -> str:
    """A status without the module before it, case and punctuation."""
    return re.sub(r"[^a-z0-9]", "", word.rpartition(".")[2].lower())


_KNOWN: dict[str, OutcomeName | None] = {
    **{_key(word): None for word in ENDED.split()},
    **{_key(word): "infra" for word in INFRA.split()},
    **{_key(word): "truncated" for word in TRUNCATED.split()},
}


def classify_exit(status: str | None) -> OutcomeName | None:
    """`infra`, `truncated`, or null when the status says nothing of the outcome or is not known."""
    return None if status is None else _KNOWN.get(_key(_inner(status)))


def is_known(status: str | None) -> bool:
    """Whether the vocabulary holds the status. No status at all is known to say nothing."""
    return status is None or not status.strip() or _key(_inner(status)) in _KNOWN


def named_in(text: str) -> str | None:
    """The exception name or failure that an error text names, as an exit status; null when it names none."""
    head = text[:4000]
    for word in _WORD.findall(head):
        if word[0].isupper() and _KNOWN.get(_key(word)) is not None:
            return str(word)
    for pattern, status in PHRASES:
        if re.search(pattern, head, re.IGNORECASE):
            return status
    return None


def _inner(status: str) -> str:
    """`exit_cost` of `submitted (exit_cost)`: what ended an attempt whose changes were then submitted for it."""
    wrapped = _WRAPPED.fullmatch(status.strip())
    return wrapped.group(1) if wrapped else status.strip()
