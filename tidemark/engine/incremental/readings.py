"""How a query reads a table: its present rows, its previous rows, or its changed rows.

The queries hold placeholders for the tables. `filled` puts the SQL in their place that reads a version or the
changes of a table, which depends on the table's format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sqlglot import exp

from tidemark.engine.incremental.canonical import quoted as one_quoted
from tidemark.engine.incremental.tree import Leaf

SIGN = "__tidemark_sign"  # 1 for an added row, -1 for a removed one
OWN = "__tidemark_"  # the beginning of the names of the engine's own columns
OF_CHANGES = ("_change_type", "_commit_version", "_commit_timestamp")  # columns of changed rows
PLACEHOLDER = re.compile(r"`__(present|previous|changes) ([^`]+)`")


def present(leaf: Leaf) -> exp.Select:
    """Return a table's rows at the version up to which the run reads."""
    return _rows(leaf, "present")


def previous(leaf: Leaf) -> exp.Select:
    """Return a table's rows at the version that the last run read: those of now if it did not change."""
    return _rows(leaf, "previous")


def changed_rows(leaf: Leaf, *, signed: bool = False) -> exp.Select:
    """Return the rows before and after each change since the last run, with their sign if asked for."""
    query = _rows(leaf, "changes")
    if signed:
        after = exp.column("_change_type", quoted=True).isin("insert", "update_postimage")
        sign = exp.If(this=after, true=exp.Literal.number(1), false=exp.Literal.number(-1))
        query = query.select(exp.alias_(sign, SIGN, quoted=True))
    return query


def _rows(leaf: Leaf, reading: str) -> exp.Select:
    table = exp.Table(this=exp.to_identifier(f"__{reading} {leaf.table}", quoted=True))
    return exp.select(*(exp.column(name, quoted=True) for name in leaf.names)).from_(table)


def clashing(leaf: Leaf) -> list[str]:
    """Return a table's columns whose names the engine gives to its own, or to those of changed rows."""
    return [name for name in leaf.names if name.startswith(OWN) or name in OF_CHANGES]


def filled(query: exp.Query, readings: Mapping[str, Mapping[str, str]]) -> str:
    """Return a query's SQL, with the SQL of each reading in place of its placeholder.

    Args:
        query: the query.
        readings: by table, what reads its `present` and `previous` rows and its `changes`.
    """
    return PLACEHOLDER.sub(lambda found: readings[found[2]][found[1]], query.sql("spark"))


def quoted(names: Iterable[str], prefix: str = "") -> str:
    """Return column names in backticks, separated by commas, each after a prefix such as `incoming.`."""
    return ", ".join(prefix + one_quoted(name) for name in names)
