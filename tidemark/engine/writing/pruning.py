"""`meta.prune_by`: the values of a column in the batch let Delta skip files of the table.

This is only safe if a key always has the same value. So it must be a column of the key, or come with an
expression that computes it from the key.
"""

from __future__ import annotations

from tidemark.engine.incremental.readings import quoted
from tidemark.engine.writing.executor import Executor
from tidemark.engine.writing.sql_parts import escaped
from tidemark.engine.writing.target import Refused, Target


def declared_pruning(target: Target) -> tuple[str, str]:
    """Return the column of `meta.prune_by`, and its expression or nothing.

    Args:
        target: the table, which declares the setting.

    Raises:
        Refused: if pruning is not safe.
    """
    column, expression = target.prune_by, target.prune_expression
    if column not in target.types:
        raise Refused(f"{target.name}: prune_by names `{column}`, which is not one of its columns.")
    if not expression and column not in target.keys:
        keys = ", ".join(target.keys)
        raise Refused(
            f"{target.name}: prune_by `{column}` is not in unique_key, so a row whose value changes would be "
            f"in the table twice. Add it to unique_key, or compute it from the key: "
            f"prune_by: {{{column}: 'expression of {keys}'}}."
        )
    return column, expression


def determined(target: Target) -> str:
    """Return the condition that stops the creation of a table at a row that the expression does not give.

    Args:
        target: the table.

    Raises:
        Refused: if pruning is not safe.
    """
    if not target.prune_by:
        return ""
    column, expression = declared_pruning(target)
    if not expression:
        return ""
    message = f"{target.name}: prune_by says that `{column}` is {expression}, but a row differs."
    return f"assert_true(({expression}) <=> {quoted([column])}, '{escaped(message)}') is null"


def check_determined(executor: Executor, target: Target, rows: str, column: str, expression: str) -> None:
    """Check that the expression, which only sees the columns of the key, gives the value of each row.

    Args:
        executor: runs the query.
        target: the table.
        rows: the view `batch`.
        column: the column.
        expression: its expression; empty for a column of the key.

    Raises:
        Refused: if a row differs.
    """
    if not expression:
        return
    wrong = executor.rows(
        f"select count(*) as rows from (select {quoted(target.keys)}, {quoted([column])} "
        f"as __tidemark_declared from {rows}) where not (({expression}) <=> __tidemark_declared)"
    )[0]["rows"]
    if int(wrong):
        executor.drop_view("batch")
        raise Refused(
            f"{target.name}: prune_by says that `{column}` is {expression}, "
            f"but {int(wrong)} of this run's rows differ."
        )
