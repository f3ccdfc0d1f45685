"""Shorten a text to a width."""

from textkit.words import squeeze


def shorten(text, width, mark="..."):
    """Return `text` in at most `width` characters, with `mark` at the end when something was cut."""
    text = squeeze(text)
    if len(text) <= width:
        return text
    return text[:width] + mark
