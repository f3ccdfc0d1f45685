"""Split a path into its parts."""


def split_path(path):
    """Return the parts of a dotted path."""
    return path.split(".")
