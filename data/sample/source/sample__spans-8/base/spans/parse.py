"""Read spans from text."""


def parse(text):
    """Return the spans of a text such as `1-4,7-9`; the second number is not part of the span."""
    spans = []
    for part in text.split(","):
        start, end = part.split("-")
        spans.append((int(start), int(end)))
    return spans
