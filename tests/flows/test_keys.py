"""An endpoint that repeats the key in everything it says, in many ways: none of it is stored, printed or logged."""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import Command, Ran
from model_server.everything import everything
from model_server.server import Raw, Said, completion, serving

KEY = "sk-live-4f9aZ8b7Qc6d5e4fXa2b1c0dH7uWm3"
SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
CACHE = Path(os.environ.get("RUBRICS_TEST_CACHE") or Path(tempfile.gettempdir()) / "rubrics-test-cache") / "user"
"""Where images are kept between runs: making the first takes half a minute."""
JSON = {"Content-Type": "application/json"}
WRITTEN: tuple[Callable[[str], str], ...] = (
    str, str.upper, str.swapcase, lambda key: key[::-1], " ".join, "\u200b".join, lambda key: key[:14],
    lambda key: key[12:], lambda key: f"{key[:9]}\n{key[9:]}", lambda key: key.encode().hex(),
    lambda key: base64.b64encode(key.encode()).decode(), lambda key: base64.b64encode(f"a: {key} b".encode()).decode(),
    lambda key: base64.urlsafe_b64encode(key.encode()).decode(), lambda key: "".join(f"%{ord(c):02X}" for c in key),
    lambda key: "".join(f"\\u{ord(c):04x}" for c in key), lambda key: "".join(f"&#{ord(c)};" for c in key),
    lambda key: json.dumps(json.dumps(key)), lambda key: '" + "'.join((key[:10], key[10:20], key[20:])),
    lambda key: key.encode()[::-1].hex().upper(), lambda key: key.lower().replace("-", "_"),
)  # fmt: skip
"""Twenty ways; a reply has one of them in each of its texts."""


class Parrot:
    """Answers soundly, but for the key: in reasons, names of models and calls, refusals, errors and headers."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._ways = itertools.cycle(WRITTEN)
        self._turn = itertools.count()
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Any:
        with self._lock:
            turn = next(self._turn)
        faults: tuple[Callable[[], Any], ...] = (
            lambda: Said("{}", model=self.key()),
            lambda: Said("{}", model=f"m-{self.key()}"),
            lambda: Said(None, refusal=f"I decline, {self.key()}"),
            lambda: Said(f"no JSON but {self.key()}"),
            lambda: Said(None, ((self.key(), {"a": self.key()}),)),
            lambda: Raw(
                401, json.dumps({"error": {"message": f"bad key {self.key()}", "code": self.key()}}).encode(), JSON
            ),
            lambda: Raw(400, f"<html>{self.key()}</html>".encode(), {"X-Key": KEY, "WWW-Authenticate": KEY}),
            lambda: Raw(200, f"not JSON: {self.key()}".encode()),
            lambda: Raw(200, json.dumps({"error": {"message": self.key(), "code": 400}}).encode(), JSON),
            lambda: Raw(500, self.key().encode(), {"Retry-After": "0"}),
        )
        if turn % 4 == 3:
            return faults[(turn // 4) % len(faults)]()
        return self.sound(body)

    def key(self) -> str:
        with self._lock:
            self.said.append(next(self._ways)(KEY))
            return self.said[-1]

    def sound(self, body: dict[str, Any]) -> Any:
        """A sound reply whose texts for people end in the key, and whose text comes in parts that break it."""
        if "answer" in json.dumps(body.get("response_format", "")):
            return Said('{"answer": 5}', model=self.key())
        found = everything(body)
        if isinstance(found, dict):
            found = Said(json.dumps(self.spoiled(found)))
        elif isinstance(found, Said):
            found = Said(found.text, tuple((name, self.spoiled(said)) for name, said in found.calls))
        answer = completion(body, found)
        answer |= {"id": self.key(), "system_fingerprint": self.key(), self.key(): 1}
        message = answer["choices"][0]["message"]
        message["reasoning_content"] = self.key()
        if isinstance(message["content"], str):
            text = message["content"]
            message["content"] = [{"type": "text", "text": text[i : i + 5]} for i in range(0, len(text), 5)]
        return Raw(200, json.dumps(answer).encode(), JSON)

    def spoiled(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: f"{item} {self.key()}" if name in ("reason", "note", "guidance") else self.spoiled(item)
                for name, item in value.items()
            }
        return [self.spoiled(item) for item in value] if isinstance(value, list) else value


def traces(text: str) -> set[str]:
    """Eight characters or more of the key, in any of the ways, in a text; the test's own look."""
    letters = re.sub("[^a-z0-9]+", "", text.lower())
    key = "".join(c for c in KEY.lower() if c.isalnum())
    forms = [(key, 8), (key[::-1], 8), (KEY.encode().hex(), 16), (KEY.encode()[::-1].hex(), 16)]
    forms.append(("".join(f"u{ord(c):04x}" for c in KEY), 24))
    forms.append(("".join(str(ord(c)) for c in KEY), 20))
    for before in range(3):
        coded = base64.b64encode(b"-" * before + KEY.encode()).decode().lower().rstrip("=")
        forms.append(("".join(c for c in coded[4:-2] if c.isalnum()), 12))
    return {
        form[i : i + size] for form, size in forms for i in range(len(form) - size + 1) if form[i : i + size] in letters
    }


def everything_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file of a folder as text: Parquet and SQLite with their values, everything else as its bytes."""
    for file in sorted(folder.rglob("*")):
        if not file.is_file():
            continue
        if file.suffix != ".parquet":
            yield file.name, file.read_bytes().decode("utf-8", "replace")
        if file.suffix == ".parquet":
            yield file.name, json.dumps(pq.read_table(file).to_pylist(), default=str, ensure_ascii=False)
        elif file.suffix == ".sqlite":
            with sqlite3.connect(file) as connection:
                for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                    for row in connection.execute(f"SELECT * FROM {table}"):
                        yield (
                            file.name,
                            " ".join(
                                item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)
                                for item in row
                            ),
                        )


@pytest.fixture(scope="module")
def parroted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Ran], Parrot]]:
    """A folder with a store that the parrot had a part in, and what the commands said."""
    folder = tmp_path_factory.mktemp("parrot")
    command, parrot = Command(folder / "home", None), Parrot()
    (folder / "home").mkdir()
    with serving(parrot) as server:
        asked = ("--model", "m", "--base-url", server.url, "--api-key-env", "MY_KEY", "--concurrency", "2")
        dumps = [SAMPLE / name for name in ("tasks.jsonl", "runs", "outcomes.json")]
        store = ("--store", "store")
        ran = [
            command(*words, cwd=folder, MY_KEY=KEY, TMPDIR=str(folder), XDG_CACHE_HOME=str(CACHE))
            for words in (
                ("run", *dumps, *store),
                ("synthesize", *store, "--author", "model", "--data", SAMPLE, "--tasks", "*textkit*", *asked),
                ("score", *store, "--judge", "single", *asked),
                ("score", *store, "--judge", "single", *asked),
                ("audit", *store, *asked),
                ("rank", *store, "--rank-mode", "single", *asked),
                ("reward", *store),
                ("doctor", *asked),
                ("audit", *store, *asked, "--stream", "--json"),
                ("status", *store, "--models"),
                ("report", *store),
                ("query", "FROM census", *store, "--format", "jsonl"),
                ("query", "FROM judgements", *store, "--format", "csv"),
            )
        ]
        yield folder, ran, parrot


def test_the_parrot_was_heard(parroted: tuple[Path, list[Ran], Parrot]) -> None:
    folder, ran, parrot = parroted
    assert len(parrot.said) > 100
    assert all(way(KEY) in parrot.said for way in WRITTEN)
    assert all(traces(said) for said in parrot.said), "what the test looks for is what was said"
    assert any("[key]" in text for name, text in everything_in(folder / "store") if name.endswith(".parquet"))
    assert any("[key]" in one.out for one in ran)


def test_nothing_of_the_key_is_in_any_file(parroted: tuple[Path, list[Ran], Parrot]) -> None:
    """A key that an endpoint returned as its model name reached output, census and report, parts of it `audits`."""
    folder, _, _ = parroted
    found = {(name, trace) for name, text in everything_in(folder) for trace in traces(text)}
    assert found == set()


def test_nothing_of_the_key_is_in_what_the_commands_say(parroted: tuple[Path, list[Ran], Parrot]) -> None:
    _, ran, _ = parroted
    assert [traces(one.out + one.err) for one in ran] == [set()] * len(ran)
    assert all(one.code in (0, 1, 2) for one in ran), [one.err for one in ran]
