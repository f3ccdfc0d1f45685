"""Durations such as `1h30m`."""

from durations.parse import parse
from durations.write import format_seconds

__all__ = ["format_seconds", "parse"]
