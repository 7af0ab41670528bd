"""Data tests whose query looks at each row of a table by itself, whatever package they come from.

A query that is linear in a table gives for its new rows what it gave for the old ones, less the removed ones,
plus what it gives for the added ones (deltas.py). After a test that passed, it gave nothing for the old
rows: what the whole table would give is what the added rows give.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from tidemark.engine.incremental.analysis import Spark, checked
from tidemark.engine.incremental.deltas import delta
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.readings import clashing, filled, present
from tidemark.engine.incremental.tree import leaves, render

FEW_BYTES = 16 * 1024**2  # Spark reads them faster than this module analyses a query


def over_gained_rows(
    spark: Spark, sql: str, gained: Mapping[str, str], others: Mapping[str, str], size: int | None = None
) -> str:
    """Return a test's query over the rows that one of its tables gained; empty if it needs the other rows.

    Args:
        spark: describes tables, functions and queries.
        sql: the query of a test that has passed without a failing row.
        gained: by `schema.table`, what reads the rows gained by the only table that has changed since.
        others: the same for the other tables, with all their rows.
        size: the bytes of the table that has changed, if known. A small one is read as a whole.
    """
    if size is not None and size < FEW_BYTES:
        return ""
    with suppress(Exception):  # at worst the test reads whole tables
        parsed = parse(sql, spark)
        (changed,) = (leaf for leaf in leaves(parsed.tree) if leaf.table in gained)
        if clashing(changed):
            return ""
        delta(parsed.tree, [changed.table])
        checked(spark, parsed)
        readings = {table: {"present": rows} for table, rows in {**others, **gained}.items()}
        return filled(render(parsed.tree, present), readings)
    return ""
