"""Small helpers for plain text."""

from textkit.shorten import shorten
from textkit.table import row

__all__ = ["row", "shorten"]
