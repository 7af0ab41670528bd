"""A compiled query in Spark's SQL, with the time of its run as a value that the caller sets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

NOW = "@now@"
SPARK = ("spark", "tidemark")
CLOCKS = (exp.CurrentTimestamp, exp.CurrentDatetime, exp.CurrentDate, exp.CurrentTime)
CLOCK = re.compile(r"\b(current_\w+|now\s*\(|getdate|sysdate|localtimestamp|unix_timestamp\s*\(\s*\))", re.I)


class UntranslatedError(Exception):
    """A query that Spark cannot run; the end of a sentence about it."""


@dataclass(frozen=True)
class Query:
    """A query for Spark.

    Attributes:
        sql: its text.
        tree: its syntax tree; None if sqlglot cannot parse it.
        clocked: columns, by name, that hold the time of the run.
    """

    sql: str
    tree: exp.Expr | None
    clocked: frozenset[str] = frozenset()

    def at(self, now: str) -> str:
        """Return the text of a run at a time (`2025-01-31 00:00:00`)."""
        return self.sql.replace(NOW, now)


def translated(sql: str, dialect: str) -> Query:
    """Translate a query.

    Args:
        sql: the compiled query.
        dialect: the type of the adapter that it was compiled for.

    Raises:
        UntranslatedError: if it cannot be read.
    """
    own = dialect in SPARK
    try:
        tree: exp.Expr | None = sqlglot.parse_one(sql, read="spark" if own else dialect)
    except SqlglotError as error:
        if not own or CLOCK.search(sql):
            first = str(error).partition("\n")[0]
            raise UntranslatedError(f"sqlglot cannot read its SQL as {dialect}: {first[:120]}") from None
        return Query(sql, None)
    except ValueError:
        raise UntranslatedError(f"sqlglot does not know the dialect {dialect}") from None
    assert tree is not None  # noqa: S101
    clocked = _clocked(tree)
    if own and not CLOCK.search(sql):
        return Query(sql, tree, clocked)
    fixed = tree.transform(_at_a_time).transform(_as_spark_writes)
    return Query(fixed.sql(dialect="spark", unsupported_level=ErrorLevel.IGNORE), fixed, clocked)


def _at_a_time(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, CLOCKS):
        return node
    now = exp.cast(exp.Literal.string(NOW), "timestamp")
    return exp.cast(now, "date") if isinstance(node, exp.CurrentDate) else now


def _as_spark_writes(node: exp.Expr) -> exp.Expr:
    """Return `in (select …)` for the comparisons with `all` and `any` that Spark does not have."""
    for comparison, quantifier in ((exp.NEQ, exp.All), (exp.EQ, exp.Any)):
        other: Any = node.args.get("expression") if isinstance(node, comparison) else None
        if isinstance(other, quantifier):
            listed = exp.In(this=node.args["this"], query=exp.Subquery(this=other.args["this"].unnest()))
            return exp.Not(this=listed) if comparison is exp.NEQ else listed
    return node


def _clocked(tree: exp.Expr) -> frozenset[str]:
    """Return the names of columns that are computed from the time of the run."""
    outputs = [
        (one.alias_or_name.lower(), one)
        for select in tree.find_all(exp.Select)
        for one in select.expressions
        if one.alias_or_name
    ]
    names = {name for name, one in outputs if one.find(*CLOCKS)}
    while True:
        more = {
            name
            for name, one in outputs
            if any(column.name.lower() in names for column in one.find_all(exp.Column))
        }
        if more <= names:
            return frozenset(names)
        names |= more
