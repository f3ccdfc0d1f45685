"""Half-open spans of whole numbers."""

from spans.merge import merge
from spans.parse import parse
from spans.report import gaps, total

__all__ = ["gaps", "merge", "parse", "total"]
