"""Columns of a select: its sources, its conditions, and what the value of an expression tells."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

# Rows with another value may have the same result.
LOSSY = (
    exp.Predicate,
    exp.Not,
    exp.If,
    exp.Case,
    exp.AggFunc,
    exp.Window,
    exp.DateTrunc,
    exp.TimestampTrunc,
    exp.TsOrDsToDate,
    exp.Extract,
    exp.Year,
    exp.Quarter,
    exp.Month,
    exp.Week,
    exp.Day,
    exp.DayOfWeek,
    exp.DayOfYear,
    exp.LastDay,
    exp.Hour,
    exp.Minute,
    exp.Second,
    exp.Floor,
    exp.Ceil,
    exp.Round,
    exp.Abs,
    exp.Sign,
    exp.Mod,
    exp.IntDiv,
    exp.Length,
    exp.Substring,
    exp.Left,
    exp.Right,
    exp.Lower,
    exp.Upper,
    exp.Nullif,
    exp.Greatest,
    exp.Least,
    exp.Query,
)
WHOLE = exp.DataType.INTEGER_TYPES


def sources_of(select: exp.Select) -> Iterator[tuple[str, exp.Expr]]:
    """Yield the sources whose rows a select combines, by alias; not those of semi and anti joins."""
    first = select.args.get("from_") or select.args.get("from")
    if first is not None:
        yield first.this.alias_or_name, first.this
    for join in select.args.get("joins") or []:
        if not _only_filters(join):
            yield join.this.alias_or_name, join.this


def conditions(select: exp.Select) -> Iterator[tuple[tuple[str, str], exp.Expr]]:
    """Yield the parts of a select's conditions, with the side of the join and the alias that it joins."""
    for join in select.args.get("joins") or []:
        if _only_filters(join):
            continue
        side = (join.side or join.kind or "").lower(), join.this.alias_or_name
        on = join.args.get("on")
        yield from ((side, part) for part in _conjuncts(on))
        for name in join.args.get("using") or []:
            before = [alias for alias, _ in sources_of(select)]
            for alias in before[: before.index(side[1])][:1]:
                columns = [exp.column(name.name, table=one) for one in (alias, side[1])]
                yield side, exp.EQ(this=columns[0], expression=columns[1])
    for holder in ("where", "qualify"):
        where = select.args.get(holder)
        yield from ((("", ""), part) for part in _conjuncts(where and where.this))


def _only_filters(join: exp.Join) -> bool:
    return (join.kind or "").upper() in ("SEMI", "ANTI") or (join.side or "").upper() in ("SEMI", "ANTI")


def _conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    if isinstance(condition, exp.Paren):
        yield from _conjuncts(condition.this)
    elif isinstance(condition, exp.And):
        yield from (*_conjuncts(condition.left), *_conjuncts(condition.right))
    elif condition is not None:
        yield condition


def determined(expression: exp.Expr) -> Iterator[exp.Column]:
    """Yield the columns that rows with the same value of an expression have in common.

    An expression that is not known to lose anything, such as a hash or a cast to text, is taken to keep
    all: the checks must not refuse a sound model.
    """
    if isinstance(expression, exp.Column):
        yield expression
        return
    if isinstance(expression, LOSSY) or (isinstance(expression, exp.Cast) and _narrows(expression)):
        return
    if isinstance(expression, exp.Coalesce) and any(one.find(exp.Column) for one in expression.expressions):
        return
    is_sum = isinstance(expression, exp.Binary) and not isinstance(expression, (exp.PropertyEQ, exp.DPipe))
    if is_sum and len(list(expression.find_all(exp.Column))) > 1:
        return
    for part in expression.iter_expressions():
        yield from determined(part)


def _narrows(cast: exp.Cast) -> bool:
    return cast.to.this in (exp.DataType.Type.DATE, exp.DataType.Type.BOOLEAN) or (
        cast.to.this in WHOLE and not isinstance(cast.this, exp.Column)
    )


def same_name(one: str, other: str) -> bool:
    """Return whether two names mean the same: letter case does not count."""
    return one.lower() == other.lower()
