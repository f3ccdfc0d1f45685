"""Rows for people, at any width: a table where it fits, else a line per name and value."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import click

from rubrics.visible import one_line

WIDTH = 240
"""Columns of what goes to a file or a pipe: ids are not broken there. The variable COLUMNS says otherwise."""
CELL = 400
"""Characters of a value that are shown; `--json` and `--output` give all."""
NARROW = 16
"""Characters that a column gets at least, if its values are so long, before rows become lines."""
BETWEEN = 3
"""Characters between two columns of a table."""


def shown(value: Any) -> str:
    """One value: null is a dash, floats have three digits, control characters are made visible, and what is longer than
    `CELL` is cut."""
    if value is None:
        return "-"
    if isinstance(value, float) or (isinstance(value, Decimal) and value != int(value)):
        return f"{value:.3f}"
    text = str(value)
    text = one_line(text if len(text) <= CELL else f"{text[:CELL]}... ({len(text)} characters)")
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def width_of_output() -> int:
    """Columns of the terminal that standard output goes to, else `WIDTH`."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Rows on standard output, no line longer than it is wide."""
    from rich.cells import cell_len
    from rich.console import Console

    width = width_of_output()
    names = list(rows[0])
    cells = [[shown(row[name]) for name in names] for row in rows]
    natural = [max(cell_len(shown(name)), *(cell_len(row[i]) for row in cells)) for i, name in enumerate(names)]
    widths = fitted(natural, width - BETWEEN * (len(names) - 1) - 2)
    if widths is None:
        click.echo("\n\n".join(_lines(names, row, width) for row in cells))
    else:
        numbers = [_is_number(rows[0][name]) for name in names]
        Console(width=width, highlight=False).print(_table(names, numbers, widths, cells))


def fitted(natural: Sequence[int], room: int) -> list[int] | None:
    """The width of each column where all fit into `room`, the longest ones cut down first; null where they would have
    less than `NARROW`."""
    widths = [min(wanted, NARROW) for wanted in natural]
    left = room - sum(widths)
    if left < 0:
        return None
    for i in sorted(range(len(natural)), key=lambda i: natural[i]):
        more = min(natural[i] - widths[i], left)
        widths[i] += more
        left -= more
    return widths


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _table(names: Sequence[str], numbers: Sequence[bool], widths: Sequence[int], cells: Sequence[Sequence[str]]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, number, width in zip(names, numbers, widths, strict=True):
        justify = "right" if number else "left"
        table.add_column(Text(shown(name)), justify=justify, overflow="fold", width=width)  # type: ignore[arg-type]
    for row in cells:
        table.add_row(*map(Text, row))
    return table


def _lines(names: Sequence[str], cells: Sequence[str], width: int) -> str:
    """One row: a line per name and value, long ones broken."""
    from rich.cells import cell_len, chop_cells

    names = [shown(name) for name in names]
    aside = max(map(cell_len, names)) + 2
    lines = []
    for name, cell in zip(names, cells, strict=True):
        if width - aside < NARROW:  # the value stands under its name
            lines += [*chop_cells(name, width), *(f"  {part}" for part in chop_cells(cell, max(2, width - 2)))]
            continue
        first = f"{name}{' ' * (aside - cell_len(name))}"
        for part in chop_cells(cell, width - aside) or [""]:
            lines.append(f"{first}{part}".rstrip())
            first = " " * aside
    return "\n".join(lines)
