"""Expressions that no value makes fail. A run computes them for rows that the query leaves out, too."""

from __future__ import annotations

from sqlglot import exp

from python_ingest.incremental.unsupported import Unsupported

TYPE = exp.DataType.Type
WHOLE = [TYPE.TINYINT, TYPE.SMALLINT, TYPE.INT, TYPE.BIGINT]  # narrow to wide
MOMENTS = {TYPE.DATE, TYPE.TIMESTAMP, TYPE.TIMESTAMPTZ, TYPE.TIMESTAMPNTZ, TYPE.TIMESTAMPLTZ}
SAFE = (
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Paren,
    exp.Var,
    exp.Interval,
    exp.DataType,
    exp.Coalesce,
    exp.If,
    exp.Case,
    exp.Lower,
    exp.Upper,
    exp.Trim,
    exp.Length,
    exp.EQ,
    exp.NEQ,
    exp.NullSafeEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.And,
    exp.Or,
    exp.Not,
    exp.Is,
    exp.In,
    exp.Between,
    exp.Add,
    exp.Sub,
    exp.Substring,
    exp.Mul,
    exp.Neg,
    exp.TimestampTrunc,
    exp.DateTrunc,
    exp.Extract,
    exp.Year,
    exp.Quarter,
    exp.Month,
    exp.Week,
    exp.WeekOfYear,
    exp.Day,
    exp.DayOfMonth,
    exp.DayOfWeek,
    exp.DayOfYear,
    exp.TsOrDsToDate,
    exp.DateAdd,
    exp.DateSub,
)
NAMED = {"hour", "minute", "second", "weekday", "weekofyear", "dayofmonth", "last_day"}


def require_safe(expression: exp.Expr) -> exp.Expr:
    """Return an expression.

    Raises:
        Unsupported: if a value may make it fail, such as a cast of a text to a number.
    """
    for part in expression.walk():
        if not _is_safe(part):
            raise Unsupported("an expression that may fail", part)
    return expression


def _is_safe(part: exp.Expr) -> bool:
    if isinstance(part, exp.Cast):
        return bool(part.args.get("safe")) or _is_safe_cast(part)
    if isinstance(part, exp.Mod):
        divisor = part.expression
        return isinstance(divisor, exp.Literal) and divisor.this.strip("0.") != ""
    if isinstance(part, exp.Func) and not isinstance(part, SAFE):
        name = part.name if isinstance(part, exp.Anonymous) else part.sql_name()
        return name.lower() in NAMED
    return isinstance(part, SAFE)


def _is_safe_cast(cast: exp.Cast) -> bool:
    given = cast.this.type.this if isinstance(cast.this.type, exp.DataType) else None
    if isinstance(cast.this, (exp.TimestampTrunc, exp.DateTrunc)):
        given = TYPE.TIMESTAMP
    wanted = cast.to.this
    if wanted == TYPE.TEXT or (given == wanted and not cast.to.expressions):
        return True
    if given in MOMENTS and wanted in MOMENTS:
        return True
    if isinstance(cast.this, exp.Literal) and cast.this.is_string and wanted in MOMENTS:
        return True  # date '2025-01-01'
    return given in WHOLE and wanted in WHOLE and WHOLE.index(wanted) >= WHOLE.index(given)
