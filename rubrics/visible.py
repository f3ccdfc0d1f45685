"""Untrusted text made safe to look at: what could move a cursor or turn letters around is shown as an escape. Pure."""

from __future__ import annotations

import re

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_INVISIBLE = "\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
_HIDDEN = re.compile(f"[{_CONTROLS}{_INVISIBLE}\ud800-\udfff]")
_BREAKS = {"\n": "\\n", "\t": "\\t"}


def visible(text: str) -> str:
    """The text with control, bidi and zero-width characters as `\\x1b` or `\\u202e`; line ends and tabs stay."""
    return _HIDDEN.sub(lambda match: _escape(match.group()), text)


def one_line(text: str) -> str:
    """The same on one line: line ends and tabs are escapes too."""
    return re.sub(r"[\n\t]", lambda match: _BREAKS[match.group()], visible(text))


def shortened(text: str, width: int) -> str:
    """At most `width` characters, then how many were left out."""
    return text if len(text) <= width else f"{text[:width]}... ({len(text) - width} characters more)"


def _escape(character: str) -> str:
    code = ord(character)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
