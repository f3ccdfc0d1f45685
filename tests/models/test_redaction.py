"""Keys in what an endpoint says: found in pieces and encodings, and nothing else is taken for one."""

from __future__ import annotations

import base64
import codecs
import html
import json
import random
import re
import string
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.models.answers import without_keys
from rubrics.models.failures import scrub
from rubrics.models.redaction import keys_of, redactor

ROOT = Path(__file__).resolve().parents[2]
KEYS = (
    "sk-live-4f9aZ8b7Qc6d5e4fXa2b1c0d9",
    "sk-ant-api03-Rf7_xK2p-Lm9Qz4Tn8Vb1Yc6Wd3Ge5Hj0SuAo-qEiXkAA",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "0123456789abcdef0123456789abcdef",
    "sk-very-secret-key-0123456789",
    "pa+ss/wo=rd1A9x",
)
WRITTEN: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "upper case": str.upper,
    "lower case": str.lower,
    "swapped case": str.swapcase,
    "reversed": lambda key: key[::-1],
    "blanks between": " ".join,
    "line ends between": "\n".join,
    "zero-width spaces between": "\u200b".join,
    "soft hyphens in the middle": lambda key: key[:11] + "\u00ad\u200d" + key[11:],
    "broken over two lines": lambda key: f"{key[:9]}\n    {key[9:]}",
    "as a sum of strings": lambda key: f'"{key[:7]}" + "{key[7:]}"',
    "as a list of letters": lambda key: json.dumps(list(key), ensure_ascii=False),
    "in backticks, letter by letter": lambda key: "".join(f"`{c}`" for c in key),
    "full-width letters": lambda key: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in key),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 for URLs": lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
    "base64 without the end": lambda key: base64.b64encode(key.encode()).decode().rstrip("="),
    "base64 of a header, one before": lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
    "base64 of a header, two before": lambda key: base64.b64encode(f"x-key: {key} and more".encode()).decode(),
    "base64 over lines": lambda key: "\n".join(_chunks(base64.b64encode(key.encode()).decode(), 10)),
    "base64 of it reversed": lambda key: base64.b64encode(key.encode()[::-1]).decode(),
    "base64 reversed": lambda key: base64.b64encode(key.encode()).decode()[::-1],
    "base32": lambda key: base64.b32encode(key.encode()).decode(),
    "hex": lambda key: key.encode().hex(),
    "hex in upper case": lambda key: key.encode().hex().upper(),
    "hex with colons": lambda key: key.encode().hex(":"),
    "hex of it reversed": lambda key: key.encode()[::-1].hex(),
    "hex escapes": lambda key: "".join(f"\\x{ord(c):02x}" for c in key),
    "escapes of JSON": lambda key: "".join(f"\\u{ord(c):04x}" for c in key),
    "some escapes of JSON": lambda key: "".join(f"\\u{ord(c):04X}" if i % 3 else c for i, c in enumerate(key)),
    "escapes of JavaScript": lambda key: "".join(f"\\u{{{ord(c):x}}}" for c in key),
    "a string in a string of JSON": lambda key: json.dumps(json.dumps(key)),
    "escaped as in a URL": lambda key: urllib.parse.quote(key, safe=""),
    "every letter escaped as in a URL": lambda key: "".join(f"%{byte:02X}" for byte in key.encode()),
    "escapes of HTML": lambda key: "".join(f"&#{ord(c)};" for c in key),
    "hex escapes of HTML": lambda key: "".join(f"&#x{ord(c):x};" for c in key),
    "escaped for HTML": html.escape,
    "octal escapes": lambda key: "".join(f"\\{byte:o}" for byte in key.encode()),
    "codes": lambda key: ", ".join(str(byte) for byte in key.encode()),
    "turned by 13": lambda key: codecs.encode(key, "rot13"),
}  # fmt: skip


def _chunks(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def left_of(text: str, key: str) -> list[str]:
    """Pieces of 8 letters and digits of the key that stand in the text, however it is broken; the test's own look."""
    compared = "".join(c for c in text.lower() if c.isascii() and c.isalnum())
    letters = "".join(c for c in key.lower() if c.isascii() and c.isalnum())
    return [letters[i : i + 8] for i in range(len(letters) - 7) if letters[i : i + 8] in compared]


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_found_however_it_is_written(key: str, written: str) -> None:
    """A key that the endpoint returned as its model name reached output, census and report; parts reached `audits`."""
    said = WRITTEN[written](key)
    text = redactor(keys_of((key,)))(f"I was called with {said}, thank you.")
    assert text.startswith("I was called with ")
    assert text.endswith(", thank you.")
    middle = text[18:-12]
    assert "[key]" in middle
    assert left_of(middle, key) == []
    if not written.startswith(("base64 of a header", "base64 without", "base64 reversed")):
        rest = "".join(c for c in middle.replace("[key]", "") if c.isalnum())
        assert len(rest) <= 8, f"{rest} is left of {said}"


@pytest.mark.parametrize("key", KEYS[:5])
def test_every_piece_of_eight_characters_is_found(key: str) -> None:
    redact = redactor(keys_of((key,)))
    letters = [i for i, c in enumerate(key) if c.isascii() and c.isalnum()]
    for first, last in zip(letters, letters[7:], strict=False):
        piece = key[first : last + 1]
        if re.fullmatch("(?i:[a-z]{8})|[a-zA-Z][a-z]{5,}[0-9]*|[0-9]*[A-Za-z][a-z]{5,}|[0-9]*[A-Z]{6,}[0-9]*", piece):
            continue  # as a word is
        assert redact(f"<{piece}>") == "<[key]>", piece
        assert left_of(redact(f"<{piece[::-1]}>"), key[::-1]) == []


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_any_key_in_any_text_is_taken_out_and_the_text_around_it_stays(data: st.DataObject) -> None:
    alphabet = string.ascii_letters + string.digits
    seed, length = data.draw(st.integers(0, 10**6)), data.draw(st.integers(16, 50))
    key = "".join(random.Random(seed).choices(alphabet, k=length))
    around = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="%\\&"), max_size=40)
    before, after = data.draw(around), data.draw(around)
    written = data.draw(st.sampled_from(["as it is", "reversed", "hex", "base64", "blanks between", "escapes of JSON"]))
    text = redactor(keys_of((key,)))(f"{before} {WRITTEN[written](key)} {after}")
    assert "[key]" in text
    assert text.startswith(before[:-1])
    assert text.endswith(after[1:])


def ordinary() -> list[str]:
    texts = [
        file.read_text("utf-8")
        for folder in ("docs", "rubrics", "tests/unit")
        for file in (ROOT / folder).rglob("*.*")
        if file.suffix in (".md", ".py")
    ]
    published = sorted((ROOT.parent / "shared" / "real").rglob("*.json"))  # none where they are absent
    return texts + [file.read_text("utf-8", "replace")[:200_000] for file in published[:40]]


def test_ordinary_text_is_never_taken_for_a_key() -> None:
    """Words, paths, digests, code and transcripts, against keys of every form, and keys that are made of words."""
    chance = random.Random(0)
    alphabet = string.ascii_letters + string.digits + "-_"
    keys = [f"sk-proj-{''.join(chance.choices(alphabet, k=40))}" for _ in range(20)]
    keys += ["".join(chance.choices("0123456789abcdef", k=40)) for _ in range(20)]
    keys += [
        "sk-live-secretpassword-environment-4f9aZ8b7Qc6d",
        "my-company-developer-token-2f8e1b7c",
        "lm-studio",
        "not-needed",
        "EMPTY",
        "none",
    ]
    redact = redactor(keys_of(keys))
    for text in ordinary():
        found = redact(text)
        if found != text:
            place = next(i for i, (a, b) in enumerate(zip(found, text, strict=False)) if a != b)
            raise AssertionError(f"{text[place - 40 : place + 40]!r} became {found[place - 40 : place + 40]!r}")


def test_what_may_be_words_counts_when_it_is_long_or_has_the_keys_punctuation() -> None:
    redact = redactor(keys_of(("AKIAIOSFODNN7EXAMPLE", "my-company-developer-token-2f8e1b7c")))
    assert redact("AKIAIOSFODNN is") == "[key] is"
    assert redact("the company-developer-token of it") == "the [key] of it"
    assert redact("the company developer and the token") == "the company developer and the token"
    assert redact("developers, an example, a company token") == "developers, an example, a company token"


def test_words_that_stand_for_no_key_and_paths_are_none() -> None:
    assert (
        keys_of(("EMPTY", "none", "dummy", "lm-studio", "not-needed", "/root/.ssh/id_rsa_2024_prod", "~/.key1234567"))
        == ()
    )
    assert keys_of(("sk-1234567", "token-abc123")) == ("sk-1234567", "token-abc123")


def test_short_secrets_are_still_taken_out_of_errors_as_they_are() -> None:
    assert scrub("wrong key: abc-12", ("abc-12",)) == "wrong key: [key]"


def test_the_time_is_linear_in_hostile_text() -> None:
    key = "a1" * 30
    redact = redactor(keys_of((key, "ab1" * 15, KEYS[0])))
    for text in (
        "a1" * 50_000,
        ("a1" * 29 + "x") * 2_000,
        "%61" * 40_000,
        "\\u0061" * 20_000,
        "\u0301" * 100_000,
        "&#" * 90_000,
    ):
        times = []
        for size in (len(text) // 4, len(text)):
            began = time.process_time()
            redact(text[:size])
            times.append(time.process_time() - began)
        assert times[1] < 16 * times[0] + 0.5, text[:20]


def test_every_text_of_an_answer_is_looked_at_and_parts_are_joined_before() -> None:
    key = KEYS[0]
    answer = {
        "id": key, "model": key, "usage": {"prompt_tokens": 3}, key: 1,
        "choices": [
            {
                "finish_reason": key,
                "message": {
                    "content": [{"type": "text", "text": key[:6]}, {"type": "text", "text": key[6:]}],
                    "refusal": key,
                    "tool_calls": [{"id": key, "function": {"name": key, "arguments": json.dumps({"a": key})}}],
                },
            }
        ],
    }  # fmt: skip
    found = without_keys(answer, (key,))
    assert left_of(json.dumps(found), key) == []
    assert found["choices"][0]["message"]["content"] == "[key]"
    assert found["usage"] == {"prompt_tokens": 3}
    assert json.loads(found["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]) == {"a": "[key]"}


def test_an_answer_of_any_depth_ends() -> None:
    deep: object = KEYS[0]
    for _ in range(5_000):
        deep = [deep]
    assert left_of(repr(redactor(keys_of(KEYS)).value({"deep": deep})), KEYS[0]) == []
