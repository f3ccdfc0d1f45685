"""Shorten a text to a width."""

from textkit.words import last_space, squeeze


def shorten(text, width, mark="..."):
    """Return `text` in at most `width` characters, with `mark` at the end when something was cut."""
    text = squeeze(text)
    if len(text) <= width:
        return text
    room = width - len(mark)
    if room < 0:
        raise ValueError(f"width {width} has no room for the mark {mark!r}")
    end = last_space(text, room)
    head = text[:end] if end > 0 else text[:room]
    return head.rstrip(" ,;:") + mark
