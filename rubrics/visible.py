"""Untrusted text made safe to look at: what could move a cursor or turn letters around is shown as an escape. Pure.

For a model `defused` also breaks what could pass for a mark of ours or of a chat template. Not covered: letters that
only look like others, and meaning: a sentence that gives orders stays that sentence.
"""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]+")
_INVISIBLE = (
    "\x80-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800"
    "\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_LONE_SELECTOR = "(?<![\u203c-\u3299\u00a9\u00ae\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
"""A selector of text or picture form that follows no sign with two such forms: letters can be hidden in these."""
_HIDDEN = re.compile(f"[{_INVISIBLE}]|{_LONE_SELECTOR}")
_BREAKS = {"\n": "\\n", "\t": "\\t"}

MARKS = ("begin", "end", "turn", "reasoning", "call", "observation", "file", "note")
"""First words of the marks that prompts set: `[[turn 3 assistant]]`, and `[[[begin patch ...]]]` for fences."""
_TAGS = (
    "system|user|assistant|human|developer|tool|tools|function|functions|ipython|model|instructions?|prompt|context"
    "|documents?|attempts?|candidates?|patch|patches|transcripts?|rubrics?|criteria|criterion|verdicts?|grades?|grader"
    "|judge|judge?ments?|evaluation|score|answer|reply|response|result|think|thinking|reasoning|invoke|parameter|s|bos"
    r"|eos|(?:tool|function)_(?:calls?|use|results?|responses?)|(?:start|end)_of_turn|eot|im_start|im_end|reserved_\w+"
)
_TAG = re.compile(
    r"<(?=[|\uff5c][^<>\n]{1,40}[|\uff5c]>|<\s?/?SYS>>"
    rf"|\s?/?\s?(?:\w{{1,20}}:)?(?:{_TAGS})(?:[\s/>]|\Z))",
    re.IGNORECASE,
)
"""`<` where a tag of a chat template or of a prompt begins. The patterns begin with one letter each: searched fast."""
_BRACKET = re.compile(
    r"\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT|SYS|SYSTEM|USER|ASSISTANT)\]"
    rf"|[ \t]?\[[ \t]?\[?[ \t]?/?(?:{'|'.join(MARKS)})\b)",
    re.IGNORECASE,
)
"""`[` where such a tag, or a mark of ours, begins."""
_SPEAKER = re.compile(
    r"\n(?=[#*hasudir])(?:\#{1,6}[ ]?)?(?:\*\*)?"
    r"(?:human|assistant|system|user|developer|instructions?|response)(?=(?:\*\*)?:)",
    re.IGNORECASE,
)


def visible(text: str) -> str:
    """The text with control, bidi and zero-width characters as `\\x1b` or `\\u202e`; line ends and tabs stay."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text  # most text, at a tenth of the time
    text = _CONTROL.sub(_escape, text)
    return text if text.isascii() else _BEYOND_ASCII.sub(lambda match: _HIDDEN.sub(_escape, match.group()), text)


def one_line(text: str) -> str:
    """The same on one line: line ends and tabs are escapes too."""
    return re.sub(r"[\n\t]", lambda match: _BREAKS[match.group()], visible(text))


def defused(text: str) -> str:
    """The visible text with a backslash inside everything that could pass for the start of a mark: `[\\[turn`,
    `<\\|im_start|>`, `<\\/system>`, `Human\\:`. A second time changes nothing; only backslashes are added."""
    text = visible(text)
    if "<" in text:
        text = _TAG.sub(_broken, text)
    if "[" in text:
        text = _BRACKET.sub(_broken, text)
    return _SPEAKER.sub(_broken, f"\n{text}")[1:] if ":" in text else text


def shortened(text: str, width: int) -> str:
    """At most `width` characters, then how many were left out."""
    return text if len(text) <= width else f"{text[:width]}... ({len(text) - width} characters more)"


def _broken(match: re.Match[str]) -> str:
    return match.group() + "\\"


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
