"""Figures about spans."""

from spans.merge import merge


def total(spans):
    """Return the number of points that the spans cover."""
    return sum(end - start for start, end in merge(spans))


def gaps(spans):
    """Return the spans between the merged spans."""
    merged = merge(spans)
    return [(left[1], right[0]) for left, right in zip(merged, merged[1:])]
