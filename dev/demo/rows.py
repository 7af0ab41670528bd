"""Print the rows of a query as a small table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from tidemark.base.output import output

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def show_rows(rows: DataFrame, title: str | None = None) -> None:
    """Print all rows; numbers and dates are aligned right.

    Args:
        rows: the rows to print; only a few.
        title: a line above the table.
    """
    found = rows.collect()
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2))
    for name, type_name in rows.dtypes:
        table.add_column(name, no_wrap=True, justify="left" if type_name == "string" else "right")
    for row in found:
        table.add_row(*(str(value) for value in row))
    output.console.print(table)
    output.console.print()
