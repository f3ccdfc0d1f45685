"""Words, names and tests of code, read line by line. Every pattern is linear in the text."""

from __future__ import annotations

import re
from collections import Counter

_FIRST = re.compile(
    r"^[ \t}]*+(?:(?:export|default|public|private|protected|static|async|pub|abstract|final)[ \t]++)*+(@|\w++)",
    re.MULTILINE,
)
_DEFINITION = re.compile(
    r"^[ \t]*+(?:(?:export|default|public|private|protected|static|async|pub|abstract|final)[ \t]++)*+"
    r"(def|class|function|func|fn|interface|struct|trait|enum|module)[ \t]++([^\W\d][\w.]*+)([^\n]*+)",
    re.MULTILINE,
)
_ASSIGNED = re.compile(
    r"^[ \t]*+(?:(?:const|let|var|final|static)[ \t]++)?([^\W\d][\w.]*+(?:[ \t]*+,[ \t]*+[^\W\d][\w.]*+)*+)"
    r"[ \t]*+(?::[^=\n]*+)?(?:[-+*/%&|^@]|//|\*\*|>>|<<)?=(?!=)",
    re.MULTILINE,
)
_CALL = re.compile(r"\b([^\W\d]\w*+)[ \t]*+\(")
_ATTRIBUTE = re.compile(r"\.([^\W\d]\w*+)")
_TOKEN_HASH = re.compile(r"""#[^\n]*+|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|[^\W\d]\w*+|\d[\w.]*+""")
_TOKEN_SLASH = re.compile(
    r"""//[^\n]*+|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|`[^`\n]*+`?|[^\W\d]\w*+|\d[\w.]*+"""
)
_CONDITION = re.compile(
    r"^[ \t}]*+(?:else[ \t]++)?(?:if|elif|while|assert|unless|elsif|case|switch|match)\b[ \t]*+([^\n]*+)", re.MULTILINE
)
_IMPORT = re.compile(r"^[ \t]*+(?:import|use|using|#include|require|require_relative)\b[ \t]*+([^\n;]++)", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*+from[ \t]++([\w.]++)[ \t]++import\b[ \t]*+([^\n#]*+)", re.MULTILINE)
_NOT_CALLS = frozenset(
    {
        "if", "elif", "while", "for", "return", "and", "or", "not", "in", "is", "assert", "except", "with", "yield",
        "await", "lambda", "else", "del", "raise", "from", "import", "switch", "catch", "case",
        "new", "typeof", "elsif",
        "unless",
    }
)  # fmt: skip
LONGEST_TOKEN = 200


def count(pattern: re.Pattern[str], text: str, hints: tuple[str, ...]) -> int:
    """How often the pattern is found in a text. Tried only where a hint occurs, which costs little."""
    return len(pattern.findall(text)) if has_any(text, hints) else 0


def count_lines(pattern: re.Pattern[str], text: str, hints: tuple[str, ...]) -> int:
    """In how many lines of the text the pattern is found."""
    if not has_any(text, hints):
        return 0
    return sum(pattern.search(line) is not None for line in text.split("\n") if has_any(line, hints))


def has_any(text: str, hints: tuple[str, ...]) -> bool:
    """Whether one of the hints occurs in the text."""
    for hint in hints:  # noqa: SIM110 - any() with a generator costs three times as much, and this runs often
        if hint in text:
            return True
    return False


def first_words(code: str) -> Counter[str]:
    """How often each word begins a line; `@` for decorators."""
    return Counter(_FIRST.findall(code)) if code else Counter()


def definitions(code: str) -> tuple[tuple[str, str, str], ...]:
    """Keyword, name and the rest of the line of each function and class that begins."""
    return tuple(_DEFINITION.findall(code)) if code else ()


def assigned(code: str) -> set[str]:
    """Names that lines assign to. A keyword argument on a line of its own (`name=value,`) is none."""
    names: set[str] = set()
    for match in _ASSIGNED.finditer(code):
        if code[match.end() - 2 : match.end() - 1] not in (" ", "\t") and _is_argument(code, match.end()):
            continue
        names.update(name.strip() for name in match[1].split(","))
    return names


def _is_argument(code: str, at: int) -> bool:
    end = code.find("\n", at)
    return code[at : end if end >= 0 else len(code)].rstrip().endswith((",", ")"))


def calls(code: str) -> set[str]:
    """Last names of what is called or defined."""
    return set(_CALL.findall(code)) - _NOT_CALLS


def attributes(code: str) -> set[str]:
    return set(_ATTRIBUTE.findall(code))


def tokens(text: str, hash_comments: bool) -> set[str]:
    """Identifiers, numbers and strings (in double quotes) of code; comments are left out."""
    found = set((_TOKEN_HASH if hash_comments else _TOKEN_SLASH).findall(text))
    result = set()
    for token in found:
        mark = token[0]
        if mark in "\"'`":
            inside = token[1:-1] if len(token) > 1 and token[-1] == mark else token[1:]
            if inside:
                result.add(f'"{inside[:LONGEST_TOKEN]}"')
        elif mark not in "#/":
            result.add(token[:LONGEST_TOKEN])
    return result


def condition_lines(text: str) -> list[str]:
    """The tests of lines that begin with if, elif, while, assert, case and the like, once per line."""
    return [" ".join(test.split()).rstrip("{ ").removesuffix(":") for test in _CONDITION.findall(text)]


def conditions(text: str) -> set[str]:
    """Tests of if, elif, while, assert, case and of conditional expressions, blanks collapsed."""
    found = set(condition_lines(text))
    if " else " in text:
        for line in text.split("\n"):
            start, end = line.find(" if "), line.rfind(" else ")
            if 0 < start < end:
                found.add(" ".join(line[start + 4 : end].split()))
    found.discard("")
    return found


def imported(text: str) -> set[str]:
    """Dotted names that lines import: `a.b` for `import a.b`, `a.b` for `from a import b`."""
    found: set[str] = set()
    if "import" in text and "from" in text:
        for module, names in _FROM.findall(text):
            listed = [name.split(" as ")[0].strip(" ()\t\\") for name in names.split(",")]
            found.update(f"{module}.{name}" if name else module for name in listed[:1] + [n for n in listed[1:] if n])
    for names in _IMPORT.findall(text):
        found.update(name.split(" as ")[0].strip(" \t\"'<>(){}") for name in names.split(","))
    found.discard("")
    return {name[:LONGEST_TOKEN] for name in found}
