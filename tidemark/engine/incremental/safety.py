"""Expressions that no value makes fail. A run computes them for rows that the query leaves out, too."""

from __future__ import annotations

from sqlglot import exp

from tidemark.engine.incremental.unsupported import Unsupported, as_written

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
)
OF_MOMENTS = (
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
NAMED = {"hour", "minute", "second", "weekday", "weekofyear", "dayofmonth", "last_day", "date_sub"}

TEXTUAL = {"lcase", "ucase", "len", "char_length", "character_length", "substr"}


def require_safe(expression: exp.Expr) -> exp.Expr:
    """Return an expression.

    Raises:
        Unsupported: if a value may make it fail, such as a cast of a text to a number.
    """
    for part in expression.walk():
        if not _is_safe(part):
            raise Unsupported(_why(part), part)
    return expression


def _why(part: exp.Expr) -> str:
    remedy = ": use try_cast" if isinstance(part, exp.Cast) else ""
    return f"{as_written(part)} may fail for some values{remedy}"


def _is_safe(part: exp.Expr) -> bool:
    if isinstance(part, exp.Cast):
        return bool(part.args.get("safe")) or _is_safe_cast(part)
    if isinstance(part, exp.Mod):
        divisor = part.expression
        return isinstance(divisor, exp.Literal) and divisor.this.strip("0.") != ""
    if isinstance(part, OF_MOMENTS):
        return _is_moment(part.expression if isinstance(part, exp.Extract) else part.this)
    if isinstance(part, exp.Func) and not isinstance(part, SAFE):
        name = part.name if isinstance(part, exp.Anonymous) else part.sql_name()
        given = part.expressions[0] if isinstance(part, exp.Anonymous) and part.expressions else part.this
        is_pattern = name.lower() == "date_format" and isinstance(part.expressions[-1], exp.Literal)
        return name.lower() in TEXTUAL or ((is_pattern or name.lower() in NAMED) and _is_moment(given))
    return isinstance(part, SAFE)


def _is_moment(expression: exp.Expr) -> bool:
    """Return whether an expression is a date or a time, and not a text that may be one."""
    if isinstance(
        expression, (exp.TimestampTrunc, exp.DateTrunc, exp.TsOrDsToDate, exp.DateAdd, exp.DateSub)
    ):
        return True
    if isinstance(expression, exp.Paren):
        return _is_moment(expression.this)
    return isinstance(expression.type, exp.DataType) and expression.type.this in MOMENTS


def _is_safe_cast(cast: exp.Cast) -> bool:
    given = cast.this.type.this if isinstance(cast.this.type, exp.DataType) else None
    wanted = cast.to.this
    if wanted == TYPE.TEXT or (given == wanted and not cast.to.expressions):
        return True
    if _is_moment(cast.this) and wanted in MOMENTS:
        return True
    if isinstance(cast.this, exp.Literal) and cast.this.is_string and wanted in MOMENTS:
        return True  # date '2025-01-01'
    return given in WHOLE and wanted in WHOLE and WHOLE.index(wanted) >= WHOLE.index(given)
