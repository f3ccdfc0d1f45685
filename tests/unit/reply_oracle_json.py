"""The oracle's own reading of JSON: one character after the other."""

from __future__ import annotations

import re
from typing import Any


class No(Exception):
    """The reply may not be used."""


def need(condition: bool, why: str = "") -> None:
    if not condition:
        raise No(why)


class Reader:
    """JSON by RFC 8259, without repeated names and half characters."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def blanks(self) -> None:
        while self.peek() and self.peek() in " \t\r\n":
            self.at += 1

    def take(self, what: str) -> None:
        need(self.text.startswith(what, self.at), f"{what!r} at {self.at}")
        self.at += len(what)

    def value(self, depth: int = 0) -> Any:
        need(depth < 200, "depth")
        self.blanks()
        first = self.peek()
        if first == "{":
            return self.object(depth)
        if first == "[":
            return self.list(depth)
        if first == '"':
            return self.string()
        for word, meaning in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meaning
        return self.number()

    def object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.take("{")
        self.blanks()
        while self.peek() != "}":
            if found:
                self.take(",")
                self.blanks()
            need(self.peek() == '"', "name")
            name = self.string()
            need(name not in found, "repeated")
            self.blanks()
            self.take(":")
            found[name] = self.value(depth + 1)
            self.blanks()
        self.take("}")
        return found

    def list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.take("[")
        self.blanks()
        while self.peek() != "]":
            if found:
                self.take(",")
            found.append(self.value(depth + 1))
            self.blanks()
        self.take("]")
        return found

    def string(self) -> str:
        self.take('"')
        units: list[str] = []
        while self.peek() != '"':
            letter = self.peek()
            need(letter != "" and letter >= " ", "string")
            self.at += 1
            if letter != "\\":
                need(not "\ud800" <= letter <= "\udfff", "half")
                units.append(letter)
                continue
            escape = self.peek()
            self.at += 1
            if escape == "u":
                digits = self.text[self.at : self.at + 4]
                need(len(digits) == 4 and all(digit in "0123456789abcdefABCDEF" for digit in digits), "escape")
                units.append(chr(int(digits, 16)))
                self.at += 4
            else:
                need(escape != "" and escape in '"\\/bfnrt', "escape")
                units.append({"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}.get(escape, escape))
        self.at += 1
        try:
            return "".join(units).encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise No("half") from None

    def number(self) -> int | float:
        start = self.at
        while self.peek() and self.peek() in "+-.0123456789eE":
            self.at += 1
        word = self.text[start : self.at]
        match = re.fullmatch("(-?(?:0|[1-9][0-9]*))([.][0-9]+)?([eE][+-]?[0-9]+)?", word)
        need(match is not None, "number")
        assert match is not None
        if match[2] is None and match[3] is None:
            need(len(word) < 4000, "digits")
            return int(word)
        return float(word)


def whole_object(text: str) -> dict[str, Any]:
    need(len(text) <= 1048576)
    text = text.strip(" \t\r\n")
    if text.startswith("```"):
        lines = text.split("\n")
        need(lines[0].rstrip(" \t\r") in ("```", "```json", "```JSON") and lines[0][-1:] != "\r\r")
        need(len(lines) > 2 and lines[-1].lstrip(" \t") == "```")
        text = "\n".join(lines[1:-1])
    reader = Reader(text)
    value = reader.value()
    reader.blanks()
    need(reader.at == len(text), "more")
    need(isinstance(value, dict), "object")
    return value  # type: ignore[no-any-return]
