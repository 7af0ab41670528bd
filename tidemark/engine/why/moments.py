"""Which runs changed rows of a table: from what to what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from tidemark.base.errors import TidemarkError
from tidemark.engine.checkpoints.rows import Run
from tidemark.engine.checkpoints.state import State
from tidemark.engine.why.asked import Asked, chosen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_ROWS = 20
Rows = tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Moment:
    """A run after which the rows are others than before.

    Attributes:
        run: the run in words.
        state: how it read: `incremental`, `code changed` and so on; `undo` for one that set the table back.
        before, after: the rows, by their values; None if that version of the table is gone. Of runs one after
            the other whose versions are gone, the last one stands for all.
    """

    run: str
    state: str
    before: Rows | None
    after: Rows | None


def moments(spark: SparkSession, state: State, asked: Asked) -> Iterator[Moment]:
    """Yield the runs that changed the rows of a table that meet conditions, the oldest first.

    The table is read at the version that each recorded run left. Changes without a record, such as one by
    hand, appear with the next run that wrote the table.

    Args:
        spark: the session.
        state: the recorded runs.
        asked: the table as `schema.name`, and the values that choose its rows.

    Raises:
        TidemarkError: if a value is not one of its column's type, or more than MAX_ROWS rows have the values.
    """
    chosen(spark.table(asked.table), asked)  # an error if a value is none of its column's type
    states = state.states_of(asked.table)
    before: Rows | None = ()
    gone: Moment | None = None
    for run, version in _versions(state.runs(), asked.table):
        after = _rows(spark, asked, version)
        found = Moment(run.label, states.get(run.id, run.command), before, after)
        if after is None:
            gone = found
            continue
        if gone is not None:
            yield gone
            found, gone = replace(found, before=None), None
        if found.after != found.before:
            yield found
        before = after
    if gone is not None:
        yield gone


def _versions(runs: list[Run], table: str) -> list[tuple[Run, int]]:
    """Return the runs that wrote the table as it is now, each with the version that it left."""
    found: list[tuple[Run, int, str]] = []
    for run in runs:
        found += [(run, one.after, one.table_id) for one in run.written if one.table == table]
    return [(run, version) for run, version, table_id in found if table_id == found[-1][2]]


def _rows(spark: SparkSession, asked: Asked, version: int) -> Rows | None:
    """Return the rows at a version, in the order of their values; None if it is gone."""
    try:
        rows = chosen(spark.sql(f"select * from {asked.table} version as of {version}"), asked)
        found = [row.asDict(recursive=True) for row in rows.limit(MAX_ROWS + 1).collect()]
    except TidemarkError:  # it had no such column then
        return ()
    except PySparkException:
        return None
    if len(found) > MAX_ROWS:
        message = f"More than {MAX_ROWS} rows of {asked.table} have these values."
        raise TidemarkError(message, "Give values of more columns.")
    return tuple(sorted(found, key=lambda row: str(sorted(row.items()))))
