"""Read values."""

from confpath.split import split_path


def get(config, path, default=None):
    """Return the value at `path`, or `default` when there is none."""
    node = config
    for part in split_path(path):
        if not isinstance(node, dict) or part not in node:
            return default
        node = node[part]
    return node


def has(config, path):
    """Say whether `path` exists."""
    return get(config, path) is not None
