"""Look up values in nested configurations by a dotted path."""

from confpath.lookup import get, has
from confpath.split import split_path
from confpath.update import set_value

__all__ = ["get", "has", "set_value", "split_path"]
