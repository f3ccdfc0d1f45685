"""What exit statuses say: infra, truncated, nothing."""

from __future__ import annotations

import pytest

from rubrics.ingest.exit_status import classify_exit, is_known, named_in


@pytest.mark.parametrize(
    "status",
    [
        "InternalServerError",
        "Timeout",
        "RateLimitError",
        "APIError",
        "APIConnectionError",
        "ServiceUnavailableError",
        "ContainerError",
        "EnvironmentError",
        "litellm.Timeout",
        "litellm.exceptions.RateLimitError",
        "exit_api",
        "exit_environment_error",
    ],
)
def test_failures_of_the_provider_or_the_environment_are_infra(status: str) -> None:
    assert classify_exit(status) == "infra"


@pytest.mark.parametrize(
    "status",
    ["exit_cost", "exit_context", "LimitsExceeded", "early_exit", "exit_format", "max_turns", "submitted (exit_cost)"],
)
def test_budgets_that_ended_the_attempt_truncate_it(status: str) -> None:
    assert classify_exit(status) == "truncated"


@pytest.mark.parametrize("status", ["Submitted", "submitted", "", "  ", None])
def test_an_ordinary_end_says_nothing_and_is_known(status: str | None) -> None:
    assert classify_exit(status) is None
    assert is_known(status)


def test_an_unknown_word_says_nothing_and_is_told_apart() -> None:
    assert classify_exit("WentHome") is None
    assert not is_known("WentHome")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("litellm.RateLimitError: too fast", "RateLimitError"),
        ("Error code: 429 - too many requests", "RateLimitError"),
        ("The request timed out.", "Timeout"),
        ("HTTP 502 from upstream", "BadGatewayError"),
        ("something odd", None),
    ],
)
def test_error_texts_name_their_failure(text: str, status: str | None) -> None:
    assert named_in(text) == status
