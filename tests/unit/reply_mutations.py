"""Replies that went wrong: one sound reply, and a seed that decides what happens to it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import reply_helpers as world

from rubrics.replies import examples


class Pairs(list[tuple[str, Any]]):
    """An object as pairs: names may stand twice."""


def opened(value: Any) -> Any:
    if isinstance(value, dict):
        return Pairs((name, opened(item)) for name, item in value.items())
    return [opened(item) for item in value] if isinstance(value, list) else value


def written(value: Any, chance: random.Random) -> str:
    """JSON, with blanks and escapes as it happens."""
    blank = chance.choice(["", "", "", " ", "\n  "])
    if isinstance(value, Pairs):
        inner = f",{blank}".join(f"{json.dumps(name)}:{blank}{written(item, chance)}" for name, item in value)
        return f"{{{blank}{inner}{blank}}}"
    if isinstance(value, list):
        return "[" + f",{blank}".join(written(item, chance) for item in value) + "]"
    if isinstance(value, Literal):
        return value.text
    return json.dumps(value, ensure_ascii=chance.random() < 0.7)


class Literal:
    """Written as it is."""

    def __init__(self, text: str) -> None:
        self.text = text


LITERALS = (
    "NaN", "Infinity", "-Infinity", "1e999", "-0", "0", "6", "3.0", "3e0", "03", "+3", "9" * 5000, "9" * 30,
    "true", "false", "null", '"true"', '"false"', '"3"', '"met"', '""', '" "', "[]", "{}", "[[]]", '"\\ud800"',
    '"\\ud83d\\ude00 fine"', '"\\u0000\\u0000"',
    "'x'", "tru", '"a\nb"', '"<what you saw and where, in one or two sentences>"', "1e-400", "10.0000001", "0.5",
    '{"place": "patch:src/app.py:3", "quote": "def tidy"}', '["A"]', '[{"place": "run:0", "quote": "pytest"}]',
)  # fmt: skip
LOOKALIKES = str.maketrans({"a": "\u0430", "e": "\u0435", "o": "\u043e", "i": "\u0456", "-": "\u2010", "s": "\u0455"})
TEXTS = (
    "", " ", "ok", "met", "unmet", "no", "yes", "first", "never", "true", "x" * 300, "\u202eevil", "confirmed",
    "rejected", examples.REASON, examples.REASON.upper(), examples.QUOTE.strip("<>"), examples.LEVEL,
    "\u826f\u3044\u3067\u3059", "...", "A", "B", "A1", "reason", "remove", "none", "answer_copy", "spec", "small",
    "run:0", "run:1", "run:2", "transcript:4", "transcript:1", "pytest -q", "import os", "patch:src/app.py:1",
    "A:patch:src/app.py:1", "D:run:0", "src/app.py:0", "src/app.py:9",
)  # fmt: skip
PLACE_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    lambda place, _: place.replace("patch:", "patch:b/"),
    lambda place, _: place.replace("patch:", "patch:/"),
    lambda place, _: place + "0",
    lambda place, _: place[:-1] + "0" + place[-1:],
    lambda place, chance: place[:-1] + str(chance.randrange(9)),
    lambda place, _: place[:-1] + "\u0663",
    lambda place, _: place + " ",
    lambda place, _: place.upper(),
    lambda place, _: place.replace(":", ": "),
    lambda place, _: place + "-9",
    lambda place, _: "A:" + place,
    lambda place, _: place.split(":", 1)[-1],
    lambda place, _: place[:-1] + "-1",
)
QUOTE_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    lambda quote, _: quote.replace(" ", "  "),
    lambda quote, _: quote.replace(" ", "\n"),
    lambda quote, _: quote.replace("\n", "\r\n"),
    lambda quote, _: quote.replace("\n", " "),
    lambda quote, _: f"  {quote}\t",
    lambda quote, _: quote.upper(),
    lambda quote, _: f"+{quote}",
    lambda quote, _: f"-{quote}",
    lambda quote, _: "\n".join(f"+{line}" for line in quote.split("\n")),
    lambda quote, _: quote.replace("\u202e", "\\u202e"),
    lambda quote, _: quote.replace("\\", ""),
    lambda quote, chance: quote[: chance.randrange(len(quote) + 1)],
    lambda quote, chance: quote[chance.randrange(len(quote) + 1) :],
    lambda quote, _: f"{quote}.",
    lambda quote, _: f"{quote}\n",
    lambda quote, _: f"{quote}\n+",
    lambda quote, _: quote.split("\n")[-1],
    lambda quote, _: quote.split("\n")[-1].replace(" ", "\n"),
    lambda quote, _: quote.translate(LOOKALIKES),
)


POINTERS = [{"place": place, "quote": quote} for place, quote in (*world.SOUND_POINTERS, *world.FALSE_POINTERS)]
CHECK_VALUES = [1, 2, 3, 4, 5, 0, 6, True, "4", Literal("4.0"), Literal("NaN"), None]
LEVELS = ["met", "unmet", "Met", "MET ", "m\u0435t", "never", "late", "1", "4", 4, True, examples.LEVEL]
REASONS = [
    "met", "MET", " Unmet ", "never", "reason", "A", "confirmed", "ok", "--- !", "\u2026\u2026\u2026", "Why not?",
    examples.REASON, examples.REASON.strip("<>").upper(), examples.REASON.replace(" ", "\n"), examples.COMPARISON,
    True, ["why"],
]  # fmt: skip
AIMS: dict[str, list[Any]] = {
    "evidence": [
        [],
        [],
        [],
        *([pointer] for pointer in POINTERS),
        *([{**p, "place": f"A:{p['place']}"}] for p in POINTERS),
    ],
    "found": [True, False, "true", "false", 1, 0, None],
    "no_clear_difference": [True, False, "false", 0, None],
    "level": LEVELS,
    "reason": REASONS,
    "note": REASONS,
    "detail": [*REASONS, "answer_copy", "/src/app.py"],
    "text": REASONS,
    "verdict": ["confirmed", "rejected", "unclear", "Confirmed", "", True],
    "kind": ["spec", "file", "none", "other", "network", "Network", "git_history ", None],
    "place": [
        "/root/a b",
        "refs/heads/x",
        "a\nb",
        "a\u202eb",
        "x" * 5000,
        "src/app.py:3",
        "src/app.py:0",
        "a\n:3",
        None,
    ],
    "quote": ["def tidy", "10 passed", None, examples.QUOTE],
    "remedy": ["remove", "none", "rewrite", None],
    "method": ["rule", "judge", "run", None],
    "rule": ["a < 3", "", None, 3],
    "id": ["small", "a-b", "a--b", "A", "x" * 61, "caf\u00e9", examples.CRITERION],
    "scale": [["no", "yes"], ["no"], ["no", "NO"], ["no", " no"], list("abcdef"), ["0", "1", "2"], [0, 1], [], "met"],
    "gate": [True, False, "false", 0, None],
    "weight": [1, 10, 10.0, 0, -1, 0.001, "3", True, Literal("1e999"), Literal("1e-999"), Literal("NaN"), 11, None],
    "rests_on": [[], ["A"], ["A", "A"], ["D"], ["a"], [1], "A", None],
    **dict.fromkeys(("approach", "precision", "minimality", "side_effects", "craftsmanship"), CHECK_VALUES),
}
"""Fields that readers decide by, and what may stand there."""
CHANGES = {"place": PLACE_CHANGES, "quote": QUOTE_CHANGES}


def aimed(tree: Any, chance: random.Random) -> None:
    """A change of one field that readers decide by, in place."""
    known = [
        (node, at) for node in nodes(tree) if isinstance(node, Pairs) for at in range(len(node)) if node[at][0] in AIMS
    ]
    if not known:
        return
    wanted = chance.choice(sorted({node[at][0] for node, at in known}))
    node, at = chance.choice([(node, at) for node, at in known if node[at][0] == wanted])
    value = chance.choice(AIMS[wanted])
    if wanted in CHANGES and isinstance(node[at][1], str) and chance.random() < 0.7:
        value = chance.choice(CHANGES[wanted])(node[at][1], chance)
    node[at] = (wanted, opened(value))


def nodes(value: Any) -> list[Any]:
    """Every list and object within, the value first."""
    found = [value] if isinstance(value, list) else []
    for item in value if isinstance(value, list) else ():
        found += nodes(item[1] if isinstance(value, Pairs) else item)
    return found


def change(tree: Any, chance: random.Random) -> None:
    """One change somewhere in the tree, in place."""
    node = chance.choice(nodes(tree))
    if not node:
        node.append(("more", 1) if isinstance(node, Pairs) else chance.choice(["more", 1, Pairs()]))
        return
    at = chance.randrange(len(node))
    what = chance.random()
    if what < 0.12:
        del node[at]
    elif what < 0.2:
        node.insert(chance.randrange(len(node) + 1), node[at])
    elif what < 0.28:
        chance.shuffle(node)
    elif not isinstance(node, Pairs):
        node[at] = Literal(chance.choice(LITERALS)) if what < 0.7 else node[at]
    elif what < 0.42:
        names = (
            str.upper,
            str.title,
            lambda n: n.translate(LOOKALIKES),
            lambda n: n + " ",
            lambda n: n[:-1],
            lambda n: n,
        )
        node[at] = (chance.choice(names)(node[at][0]), node[at][1])  # type: ignore[operator]
    elif what < 0.46:
        node[at] = (chance.choice([examples.CRITERION, "solution/tests-first", "tests-first", "D", ""]), node[at][1])
    else:
        node[at] = (node[at][0], changed(*node[at], chance))


def changed(name: str, value: Any, chance: random.Random) -> Any:
    if isinstance(value, str) and chance.random() < 0.6:
        if name == "place":
            return chance.choice(PLACE_CHANGES)(value, chance)
        if name == "quote":
            return chance.choice(QUOTE_CHANGES)(value, chance)
        return chance.choice(TEXTS)
    if isinstance(value, bool) and chance.random() < 0.3:
        return not value
    if isinstance(value, int | float) and chance.random() < 0.3:
        return chance.choice([1, 2, 3, 4, 5, 0, 10, -1, 2.5])
    return Literal(chance.choice(LITERALS))


def spoiled(text: str, chance: random.Random) -> str:
    """One change of the text itself."""
    at = chance.randrange(len(text) + 1)
    fence = chance.choice(["```json\n", "```\n", "```JSON \n", "```python\n", "``` \r\n", "~~~\n", "```json\n\n"])
    ways: tuple[Callable[[], str], ...] = (
        lambda: text[:at],
        lambda: text[at:],
        lambda: text[:at] + chr(chance.choice([0, 9, 10, 34, 44, 92, 123, 125, 0x202E, 0xD800, 65, 48])) + text[at:],
        lambda: text[:at] + text[at + 1 :],
        lambda: text[:at] + chr(ord(text[at : at + 1] or " ") ^ 1 << chance.randrange(7)) + text[at + 1 :],
        lambda: fence + text + chance.choice(["\n```", "\n```\n", "```", "\n  ```", "\n````", ""]),
        lambda: chance.choice(["\n", " ", "\ufeff", "\u00a0", "Here it is: ", "<think>hm</think>", "\x0c"]) + text,
        lambda: text + chance.choice(["\n", " ", ".", "\n\nI hope this helps.", "}", text, "\u2028", ",", "{}"]),
        lambda: chance.choice(["", "[]", "null", "{}", '"x"', "[" * 5000, "```json\n```", '{"a":' * 3000, f"[{text}]"]),
        lambda: text.replace('"', "'"),
        lambda: text.replace("}", ",}", 1),
        lambda: text[:at] + "/* why */" + text[at:],
        lambda: f"Sure.\n```json\n{text}\n```",
        lambda: f"```json\n{text}\n```\n```json\n{text}\n```",
        lambda: json.dumps(text),
        lambda: "Well, let me think about it. " * 7000,
        lambda: text * 2,
    )  # fmt: skip
    return chance.choice(ways)()


def mutant(sound: dict[str, Any], chance: random.Random) -> str:
    """A reply after none, one or a few changes."""
    tree = opened(sound)
    changes = chance.choices([0, 1, 2, 3], [2, 10, 3, 1])[0]
    for _ in range(changes):
        chance.choice((change, aimed, aimed))(tree, chance)
    text = written(tree, chance)
    return spoiled(text, chance) if chance.random() < (0.3 if changes else 0.8) else text
