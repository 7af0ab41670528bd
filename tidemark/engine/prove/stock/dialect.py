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
CLOCKS = (exp.CurrentTimestamp, exp.CurrentDatetime, exp.CurrentDate, exp.Localtimestamp)
DAYS = ("curdate", "today")  # functions that sqlglot does not know
MOMENTS = (
    "now",
    "localtimestamp",
    "getdate",
    "sysdate",
    "systimestamp",
    "clock_timestamp",
    "statement_timestamp",
    "transaction_timestamp",
    "get_current_timestamp",
)
CLOCK = re.compile(
    rf"\b(current_\w+|{'|'.join((*DAYS, *MOMENTS))}|unix_timestamp\s*\(\s*\))|'(now|today)'", re.IGNORECASE
)
UNKNOWN_CLOCKS = ("currenttime", "unixtimestamp", "unix_timestamp", "current_time", "localtime")


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
    except RecursionError:
        raise UntranslatedError("its SQL is nested too deeply for sqlglot") from None
    assert tree is not None  # noqa: S101
    clocked = _clocked(tree)
    if own and not CLOCK.search(sql):
        return Query(sql, tree, clocked)
    fixed = tree.transform(_at_a_time).transform(_as_spark_writes)
    return Query(fixed.sql(dialect="spark", unsupported_level=ErrorLevel.IGNORE), fixed, clocked)


def _at_a_time(node: exp.Expr) -> exp.Expr:
    if not _is_clock(node):
        return node
    now = exp.cast(exp.Literal.string(NOW), "timestamp")
    is_day = isinstance(node, exp.CurrentDate) or _name(node) in DAYS
    if isinstance(node, exp.Cast):
        return exp.cast(now, node.to)
    return exp.cast(now, "date") if is_day else now


def _is_clock(node: exp.Expr) -> bool:
    """Return whether a part of a query is the time of the run.

    Raises:
        UntranslatedError: for a clock that is not put at the run's time.
    """
    if isinstance(node, exp.Cast):
        return isinstance(node.this, exp.Literal) and str(node.this.this).lower() in ("now", "today")
    name = _name(node)
    if name in UNKNOWN_CLOCKS and not list(node.iter_expressions()):
        raise UntranslatedError(f"its SQL reads the clock by {name}(), which is not put at the run's time")
    return isinstance(node, CLOCKS) or name in (*DAYS, *MOMENTS)


def _name(node: exp.Expr) -> str:
    """Return the name of a function, or of a word that may be one; empty for another part."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    if isinstance(node, exp.Column):  # some dialects write `sysdate` without parentheses
        return (
            node.name.lower() if not node.table and node.name.lower() in ("sysdate", "systimestamp") else ""
        )
    return type(node).__name__.lower() if isinstance(node, exp.Func) else ""


def _as_spark_writes(node: exp.Expr) -> exp.Expr:
    """Return `in (select …)` for the comparisons with `all` and `any` that Spark does not have."""
    for comparison, quantifier in ((exp.NEQ, exp.All), (exp.EQ, exp.Any)):
        other: Any = node.args.get("expression") if isinstance(node, comparison) else None
        if isinstance(other, quantifier):
            listed = exp.In(this=node.args["this"], query=exp.Subquery(this=other.args["this"].unnest()))
            return exp.Not(this=listed) if comparison is exp.NEQ else listed
    if isinstance(node, exp.Trunc) and node.find(exp.Literal) and NOW in node.this.sql():
        return exp.cast(node.this, "date")  # of a time, as in Redshift
    return node


def _clocked(tree: exp.Expr) -> frozenset[str]:
    """Return the names of columns that are the time of the run, not computed from it and other columns."""
    outputs = [
        (one.alias_or_name.lower(), one.unalias())
        for select in tree.find_all(exp.Select)
        for one in select.expressions
        if one.alias_or_name
    ]
    names = {
        name
        for name, one in outputs
        if any(map(_is_clock, one.walk())) and all(map(_is_clock, one.find_all(exp.Column)))
    }
    while True:
        more = {name for name, one in outputs if isinstance(one, exp.Column) and one.name.lower() in names}
        if more <= names:
            return frozenset(names)
        names |= more
