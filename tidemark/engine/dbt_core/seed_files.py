"""The rows of a seed's file, as `dbt seed` reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dbt_common.clients import agate_helper


def seed_file(node: Any) -> tuple[list[str], list[tuple[str | None, ...]]]:
    """Return the names of a seed's columns, and its rows as text.

    Args:
        node: its node.
    """
    path = Path(node.root_path or ".") / node.original_file_path
    table = agate_helper.from_csv(
        str(path), text_columns=node.config.column_types or {}, delimiter=node.config.delimiter
    )
    rows = [tuple(None if value is None else str(value) for value in row) for row in table.rows]
    return list(table.column_names), rows
