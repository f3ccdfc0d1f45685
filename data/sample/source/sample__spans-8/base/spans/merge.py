"""Merge spans."""


def merge(spans):
    """Return the points of `spans` as sorted spans that neither overlap nor touch."""
    spans.sort()
    merged = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged
