"""Change values."""

from confpath.split import split_path


def set_value(config, path, value):
    """Set the value at `path`, making dicts on the way."""
    *parents, last = split_path(path)
    node = config
    for part in parents:
        node = node.setdefault(part, {})
    node[last] = value
