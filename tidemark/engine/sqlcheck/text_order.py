"""Refuse text that stands for a time: in the order of versions, and in casts that fill in today's date.

As text, `9/30/2024` comes after `10/1/2024`. Spark's cast to a timestamp reads `08:15` as a time of today.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from tidemark.engine.sqlcheck.finding import Finding, Tables
from tidemark.engine.sqlcheck.lineage import Lineage, line_of, tables_of
from tidemark.engine.sqlcheck.parsing import LANDING_ORDER, ModelSql

RULE = "text_order"
TEXT = re.compile(r"(string|text|char|varchar)\b", re.IGNORECASE)
ORDERED = re.compile(r"(date|double|float|decimal|numeric|timestamp|(tiny|small|big)?int|long|short|byte)\w*")
# A text column with such a name holds times or version numbers; other text may be sorted by its letters.
NAMES = re.compile(
    r"(.*_)?(at|on|ts|date|datetime|day|month|year|time|timestamp|created|modified|changed|updated|version"
    r"|revision|sequence|seq)(_(utc|tz|local))?|last_\w+",
    re.IGNORECASE,
)
WITHOUT_FORMAT = ("try_to_timestamp", "to_timestamp_ltz", "to_timestamp_ntz")
CHOOSING = (exp.RowNumber, exp.FirstValue, exp.LastValue, exp.First, exp.Last)
KEEPS_TEXT = (exp.Trim, exp.Lower, exp.Upper, exp.Substring, exp.Replace, exp.Concat, exp.RegexpReplace)
BECAUSE = "as text, 9/30/2024 comes after 10/1/2024, and 10:00+02:00 after 09:30+00:00."
FIX = "Cast it to a date, a time or a number first, such as {{ as_timestamp('%s', 'M/d/yyyy') }}."


def declared_types(columns: Mapping[str, Any]) -> dict[str, str]:
    """Return the declared type of each column of a dbt node, in lower case; without undeclared ones."""
    return {column.name: column.data_type.lower() for column in columns.values() if column.data_type}


def text_columns(types: Mapping[str, str]) -> frozenset[str]:
    """Return the columns whose type is text."""
    return frozenset(name for name, of in types.items() if TEXT.match(of))


def text_that_orders(newest_by: Sequence[str], types: Mapping[str, str]) -> str | None:
    """Return the first column of `newest_by` that is text, if nothing before it orders the versions.

    A text column behind a date, a time or a number only breaks ties.

    Args:
        newest_by: the columns, in order of priority.
        types: SQL types by column; columns without a known type are taken as an order.
    """
    for column in newest_by:
        of = types.get(column)
        if of is None or ORDERED.fullmatch(re.sub(r"\(.*", "", of)):
            return None
        if TEXT.match(of):
            return column
    return None


def newest_by_text(newest_by: Sequence[str], types: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a finding if a model's `newest_by` is declared as text."""
    if column := text_that_orders(newest_by, types):
        yield Finding(RULE, 1, f"newest_by is `{column}`, which is text: {BECAUSE}", FIX % column)


def text_order(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    """Yield a finding for each choice among rows whose first order is a text column that names a time."""
    expressions = {cte.alias: cte.this for cte in model.tree.find_all(exp.CTE)}
    for function, order in _choices(model.tree):
        select = order.parent_select
        if not isinstance(order, exp.Column) or not NAMES.fullmatch(order.name) or select is None:
            continue
        if _is_text(order, select, (model, expressions, tables)):
            problem = f"{function} is ordered by `{order.name}`, which is text: {BECAUSE}"
            yield Finding(RULE, line_of(order), problem, FIX % order.name)


def partial_time(model: ModelSql, lineage: Lineage, tables: Tables) -> Iterator[Finding]:
    """Yield a finding for each cast of a feed's text to a timestamp without a format."""
    expressions = {cte.alias: cte.this for cte in model.tree.find_all(exp.CTE)}
    feeds = {name: table for name, table in tables.items() if table.grain == (LANDING_ORDER,)}
    for value in _casts(model.tree):
        select = value.parent_select
        if select is not None and _is_text(value, select, (model, expressions, feeds)):
            column = next((found.name for found in value.find_all(exp.Column)), "updated_at")
            yield Finding(
                "partial_time",
                line_of(value),
                f"a cast reads `08:15` in `{column}` as that time of today: a rebuild on another day would "
                "give other rows.",
                f"Use {{{{ as_timestamp('{column}') }}}}, which accepts only complete times.",
            )


def _casts(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the values that are cast to a timestamp without a format."""
    for cast in tree.find_all(exp.Cast):
        if cast.to.this.name.startswith("TIMESTAMP"):
            yield cast.this
    for function in tree.find_all(exp.Anonymous):
        if function.name.lower() in WITHOUT_FORMAT and len(function.expressions) == 1:
            yield function.expressions[0]


Known = tuple[ModelSql, Mapping[str, exp.Expr], Tables]


def _choices(tree: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    """Yield each function that chooses among rows, with the first term of its order."""
    for window in tree.find_all(exp.Window):
        order = window.args.get("order")
        if order and isinstance(window.this, CHOOSING):
            yield f"{window.this.key}()", order.expressions[0].this
    for function in tree.find_all(exp.ArgMax, exp.ArgMin):
        yield "max_by()" if isinstance(function, exp.ArgMax) else "min_by()", function.expression


def _is_text(value: exp.Expr | None, select: exp.Expr, known: Known, depth: int = 0) -> bool:
    """Return whether a value is certainly text, by the declared types of the columns that it comes from."""
    if value is None or depth > 50:
        return False
    if isinstance(value, exp.Cast):
        return bool(TEXT.match(value.to.sql("spark")))
    if isinstance(value, (exp.Alias, exp.Paren, exp.Nullif, exp.Coalesce, *KEEPS_TEXT)):
        return _is_text(value.this, select, known, depth + 1)
    if isinstance(value, exp.Column) and isinstance(select, exp.Select):
        read = [t for t in tables_of(select) if value.table in ("", t.alias_or_name)]
        return len(read) == 1 and _column_is_text(value.name, read[0], known, depth + 1)
    return False


def _column_is_text(name: str, table: exp.Expr, known: Known, depth: int) -> bool:
    model, expressions, tables = known
    if reading := model.readings.get(table.name):
        found = tables.get(reading.relation)
        return reading.is_direct and found is not None and name in found.texts
    query = table.this if isinstance(table, exp.Subquery) else expressions.get(table.name)
    if not isinstance(query, exp.Select):
        return False
    column = next((one for one in query.expressions if one.alias_or_name == name), None)
    if column is None and any(isinstance(one, exp.Star) for one in query.expressions):
        column = exp.column(name)
    return _is_text(column, query, known, depth + 1)
