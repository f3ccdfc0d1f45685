"""Merge spans."""


def merge(spans):
    """Return the points of `spans` as sorted spans that neither overlap nor touch."""
    merged = []
    for start, end in sorted(tuple(span) for span in spans):
        if end < start:
            raise ValueError(f"span ends before it starts: {(start, end)}")
        if start == end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
