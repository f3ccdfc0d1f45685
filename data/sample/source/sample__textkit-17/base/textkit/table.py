"""Rows of fixed width."""

from textkit.shorten import shorten


def row(cells, widths):
    """Return the cells side by side, each padded or shortened to its width."""
    if len(cells) != len(widths):
        raise ValueError(f"{len(cells)} cells for {len(widths)} widths")
    return " | ".join(shorten(cell, width).ljust(width) for cell, width in zip(cells, widths)).rstrip()
