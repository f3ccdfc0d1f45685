"""Which form printed test output has."""

from __future__ import annotations

from typing import Any

from rubrics.errors import InfraError
from rubrics.testing.readers import go_output, pytest_output, tap, unittest_output
from rubrics.testing.results import Results

READERS: tuple[Any, ...] = (pytest_output, go_output, unittest_output, tap)
"""Readers of printed output, tried in this order."""


def read_output(text: str, exit_code: int | None) -> Results:
    """Results of printed output alone, by the form that it has."""
    for reader in READERS:
        if reader.looks_like(text):
            found: Results = reader.read(text)
            return found
    if exit_code is None:
        raise InfraError("no_results", "no exit code and no known form of output")
    return Results("exit", {}, None if exit_code in (0, 1) else f"exit code {exit_code}")
