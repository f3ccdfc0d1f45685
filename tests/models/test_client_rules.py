"""The pure rules of the client: failures, retries, names, prices, tokens, bodies and keys."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubrics.models.bodies import body, key
from rubrics.models.exceptions import failure_of, secrets_of
from rubrics.models.failures import Failure, of_status, refuses_format, retry_after, scrub
from rubrics.models.names import answers_for
from rubrics.models.prices import Price, cost, from_map, per_million
from rubrics.models.retries import LONGEST, LONGEST_ASKED, again, delay
from rubrics.models.settings import ModelSettings
from rubrics.models.tokens import tokens
from rubrics.records.models import Request, Tool, Usage

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("status", "text", "kind", "retryable"),
    [
        (400, "bad", "bad_request", False),
        (400, "This model's maximum context length is 8192 tokens", "context_too_long", False),
        (400, '{"error": {"type": "exceed_context_size_error", "message": "x"}}', "context_too_long", False),
        (401, "no", "authentication", False),
        (403, "no", "authentication", False),
        (404, "no", "bad_request", False),
        (408, "late", "timeout", True),
        (409, "busy", "server_error", True),
        (413, "prompt is too long", "context_too_long", False),
        (422, "field", "bad_request", False),
        (429, "slow", "rate_limited", True),
        (429, '{"error": {"code": "insufficient_quota"}}', "rate_limited", False),
        (500, "oops", "server_error", True),
        (529, "overloaded", "server_error", True),
        (302, "moved", "bad_request", False),
    ],
)
def test_every_status_has_a_class(status: int, text: str, kind: str, retryable: bool) -> None:
    failure = of_status(status, text, {}, NOW)
    assert (failure.kind, failure.retryable, failure.status) == (kind, retryable, status)
    assert str(status) in failure.message
    assert not failure.perhaps_paid


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"Retry-After": "Fri, 15 Jan 2027 08:01:40 GMT"}, 100.0),
        ({"Retry-After": "Fri, 15 Jan 2021 08:01:40 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "9" * 400}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_delays_grow_are_bounded_and_never_undercut_what_was_asked_for() -> None:
    delays = [delay(tried, "a") for tried in range(1, 12)]
    assert all(0.5 * min(LONGEST, 2.0**i) <= one <= min(LONGEST, 2.0**i) for i, one in enumerate(delays))
    assert delays == [delay(tried, "a") for tried in range(1, 12)], "deterministic"
    assert len({delay(1, str(name)) for name in range(50)}) > 25, "spread"
    assert delay(1, "a", 7.0) >= 7.0
    assert 7.0 <= delay(9, "a", 7.0) <= 8.0


def test_a_request_is_sent_again_while_that_may_help() -> None:
    assert again(True, 4, 5, None)
    assert again(True, 1, 5, LONGEST_ASKED)
    assert not again(True, 5, 5, None)
    assert not again(False, 1, 5, None)
    assert not again(True, 1, 5, LONGEST_ASKED + 1.0)


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("gpt-x", "gpt-x", True),
        ("openai/gpt-x", "gpt-x", True),
        ("gpt-x", "openai/gpt-x", True),
        ("gpt-x", "gpt-x-2026-01-01", True),
        ("gpt-x", "gpt-x-0613", True),
        ("anthropic/opus-9", "opus-9-20260101", True),
        ("opus-9-latest", "opus-9-20260101", True),
        ("together_ai/meta/Llama-9", "meta/llama-9", True),
        ("gpt-x", "gpt-x-mini", False),
        ("gpt-x-mini", "gpt-x", False),
        ("gpt-x", "gpt-x-mini-2026-01-01", False),
        ("gpt-x-2026-01-01", "gpt-x-2026-06-01", False),
        ("opus-4", "opus-4-1", False),
        ("gpt-x", "", False),
        ("a.b", "aXb", False),
    ],
)
def test_only_the_model_that_was_asked_may_answer(asked: str, answered: str, same: bool) -> None:
    assert answers_for(asked, answered) is same


def test_a_name_that_was_listed_may_answer() -> None:
    assert answers_for("azure/deployed", "gpt-x-2026-01-01", ("gpt-x",))


def test_cached_tokens_cost_what_cached_tokens_cost() -> None:
    price = per_million((2.0, 8.0, 0.5))
    assert cost(price, Usage(1_000_000, 0, 0)) == pytest.approx(2.0)
    assert cost(price, Usage(1_000_000, 900_000, 100_000)) == pytest.approx(0.2 + 0.45 + 0.8)
    assert cost(price, Usage(1_000_000, None, 0)) == pytest.approx(2.0)
    assert cost(price, Usage(100, 900, 0)) == pytest.approx(100 * 0.5e-6), "never less than nothing is fresh"


def test_an_unknown_price_or_count_is_an_unknown_cost() -> None:
    assert cost(None, Usage(1, 1, 1)) is None
    assert cost(per_million((1.0, 1.0, 1.0)), Usage(None, None, 5)) is None
    assert cost(per_million((0.0, 0.0, 0.0)), Usage(1, 0, 1)) == 0.0
    assert from_map(None) is None
    assert from_map({"input_cost_per_token": 1e-6}) is None
    assert from_map({"litellm_provider": "x", "mode": "chat"}) is None


def test_the_map_is_read_with_its_dearer_half_above_a_threshold() -> None:
    entry = {
        "input_cost_per_token": 1e-6, "output_cost_per_token": 1e-5, "cache_read_input_token_cost": 1e-7,
        "input_cost_per_token_above_200k_tokens": 2e-6, "output_cost_per_token_above_200k_tokens": 2e-5,
        "input_cost_per_token_above_200k_tokens_priority": 9.0,
    }  # fmt: skip
    price = from_map(entry)
    assert price == Price(1e-6, 1e-5, 1e-7, (200_000, 2e-6, 2e-5, 1e-7))
    assert cost(price, Usage(200_000, 0, 10)) == pytest.approx(0.2 + 1e-4)
    assert cost(price, Usage(200_001, 0, 10)) == pytest.approx(0.400002 + 2e-4)
    assert from_map({"input_cost_per_token": 1e-6, "output_cost_per_token": 0}) == Price(1e-6, 0, 1e-6)


@given(st.text())
def test_a_count_of_tokens_grows_with_the_text(text: str) -> None:
    assert tokens(text) == tokens(text.encode("utf-8", "surrogatepass"))
    assert (tokens(text) == 0) is (text == "")
    assert tokens(text * 3) >= tokens(text)


def test_tokens_are_counted_by_the_kind_of_their_bytes() -> None:
    assert tokens("word " * 400) == 500
    assert tokens("\u4e2d" * 100) == 120
    assert tokens("\u0434\u0430" * 100) == 160


def question(**more: object) -> Request:
    return Request(**{"messages": ({"role": "user", "content": "q"},), **more})  # type: ignore[arg-type]


def test_everything_that_decides_the_answer_is_in_the_key() -> None:
    base = ModelSettings("m", "http://127.0.0.1/v1")
    schema = {"type": "object", "properties": {"a": {}, "b": {}}}
    turned = {"type": "object", "properties": {"b": {}, "a": {}}}
    tool = Tool("t", "d", {"type": "object"})
    keys = [
        key(question(), base), key(question(repeat=1), base), key(question(schema=schema), base),
        key(question(schema=turned), base), key(question(tools=(tool,)), base), key(question(), base, ("image",)),
        key(question(tools=(Tool("t", "other", {"type": "object"}),)), base),
        key(question(messages=({"role": "system", "content": "q"},)), base),
        key(question(), ModelSettings("n", "http://127.0.0.1/v1")), key(question(), ModelSettings("m")),
        key(question(), ModelSettings("m", "http://127.0.0.1/v1", temperature=0.5)),
        key(question(), ModelSettings("m", "http://127.0.0.1/v1", extra=(("top_k", 1),))),
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)


def test_what_does_not_decide_the_answer_is_not_in_the_key() -> None:
    base, other = ModelSettings("m"), ModelSettings("m", stream=True, timeout=1.0, concurrency=1, max_cost=1.0)
    turned = question(messages=({"content": "q", "role": "user"},))
    assert key(question(), base) == key(question(purpose="judge"), base) == key(turned, base) == key(question(), other)


def test_json_is_asked_for_in_three_ways() -> None:
    asked = question(schema={"type": "object"})
    forms = [body(asked, ModelSettings("m"), form).get("response_format") for form in range(3)]
    assert [form and form["type"] for form in forms] == ["json_schema", "json_object", None]
    assert "response_format" not in body(question(), ModelSettings("m"))


def test_only_a_refusal_of_the_form_is_one() -> None:
    assert refuses_format(of_status(400, "'response_format' of type json_schema is not supported", {}, NOW))
    assert refuses_format(of_status(400, "Unknown name \"$ref\" at 'generation_config.response_schema'", {}, NOW))
    assert not refuses_format(of_status(400, "temperature is out of range", {}, NOW))
    assert not refuses_format(of_status(500, "response_format", {}, NOW))


def test_the_endpoints_words_are_short_plain_and_without_the_key() -> None:
    text = json.dumps(
        {"error": {"message": "Key sk-secret-1 \x1b[31m\u202e is wrong " + "x" * 5000, "code": "invalid"}}
    )
    failure = of_status(401, scrub(text, ("sk-secret-1",)), {}, NOW)
    assert "sk-secret" not in failure.message
    assert "\x1b" not in failure.message
    assert "\u202e" not in failure.message
    assert len(failure.message) < 600


def test_what_looks_like_a_secret_in_the_environment_is_one() -> None:
    found = secrets_of("main", {"OPENAI_API_KEY": "k" * 20, "HOME": "h" * 20, "HF_TOKEN": "t" * 9, "X_KEY": "short"})
    assert found == ("main", "k" * 20, "t" * 9)


def test_an_exception_of_an_unknown_sort_is_a_failure_of_the_server_without_secrets() -> None:
    failure = failure_of(RuntimeError("boom sk-1234567890"), "there", 1.0, ("sk-1234567890",))
    assert (failure.kind, failure.retryable) == ("server_error", True)
    assert "sk-" not in failure.message
    assert isinstance(failure, Failure)
