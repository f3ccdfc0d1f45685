"""What a tool shows of untrusted text."""

from rubrics.prompting.fences import fence, shown


def fenced(label: str, text: str) -> str:
    """Untrusted text made safe and put into a fence. The label is ours: plain words and numbers."""
    return fence(label, shown(text))
