"""Read values."""

import re

from confpath.split import split_path

_INDEX = re.compile("-?[0-9]+")
_MISSING = object()


def _step(node, part):
    """Return the child of `node` that `part` names, or `_MISSING`."""
    if isinstance(node, dict):
        return node.get(part, _MISSING)
    if isinstance(node, list) and _INDEX.fullmatch(part) and -len(node) <= int(part) < len(node):
        return node[int(part)]
    return _MISSING


def get(config, path, default=None):
    """Return the value at `path`, or `default` when there is none."""
    node = config
    for part in split_path(path):
        node = _step(node, part)
        if node is _MISSING:
            return default
    return node


def has(config, path):
    """Say whether `path` exists."""
    return get(config, path, _MISSING) is not _MISSING
