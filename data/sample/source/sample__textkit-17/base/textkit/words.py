"""Words and the blanks between them."""


def squeeze(text):
    """Return `text` with every run of white space as one blank."""
    return " ".join(text.split())


def last_space(text, end):
    """Return the position of the last blank at or before `end`, or -1."""
    return text.rfind(" ", 0, end + 1)
