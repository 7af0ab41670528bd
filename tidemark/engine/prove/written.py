"""The table that a proof writes, by the statements of a run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.engine.incremental.plan import Plan, Readings
from tidemark.engine.incremental.readings import quoted
from tidemark.engine.prove.lifting import HISTORY
from tidemark.engine.writing.plans import prepare
from tidemark.engine.writing.target import Target
from tidemark.lake.cached_view import create_cached_view, drop_cached_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "tidemark_prove"
TABLE = f"{SCHEMA}.written"
IN_KEY = re.compile(rf'"{HISTORY}":(\d+)')  # as a statement that stops shows a key


@dataclass(frozen=True)
class SessionExecutor:
    """Runs queries in a session.

    Attributes:
        spark: the session.
    """

    spark: SparkSession

    def rows(self, sql: str) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a query by column."""
        return [row.asDict() for row in self.spark.sql(sql).collect()]

    def cached_view(self, name: str, sql: str) -> str:
        """Create a view whose rows are computed once, and return its full name."""
        create_cached_view(self.spark.sql(sql), f"prove_{name}")
        return f"prove_{name}"

    def drop_view(self, name: str) -> None:
        """Drop a view of `cached_view`."""
        drop_cached_view(self.spark, f"prove_{name}")

    def columns(self) -> Sequence[str]:
        """Return the columns of the table, in its order."""
        return self.spark.table("prove_table").columns


@dataclass(frozen=True)
class Written:
    """A table of many histories after a run.

    Attributes:
        query: the rows of the table.
        stopped: the history at which the statements stop, because they find two rows of one key; None if they
            do not. The table then is as it was.
    """

    query: str
    stopped: int | None = None


@contextmanager
def written(
    spark: SparkSession, name: str, plan: Plan, readings: Readings, *, commits: bool
) -> Iterator[Written]:
    """Write a table as a run does, for many histories at once; its views are dropped when the context ends.

    The key of the table ends with the history of a row, so each history is a table of its own. The statements
    are those of `engine/writing`. No condition of one history hides an error of another, because

    - rows are compared, matched and grouped with the history as one more column,
    - conditions on touched values and on partitions are a history's own, each for the rows of this history,
    - the groups that folding loses are looked for in the histories whose own changes ask for it,
    - a clause of the MERGE acts on rows with its outcome alone. A run of one history has the clause if the
      history has such a row.

    One choice is made for all: a run that only inserts rows has an INSERT, here if all histories only insert.

    Args:
        spark: the session.
        name: the model, for messages.
        plan: a plan for many histories, of another way than `full`.
        readings: what reads the tables of the query.
        commits: whether the statement is run, on a table of the lake's format. Else the rows are those that
            an audit reads before it: of the same outcomes and conditions, without the statement.
    """
    request, executor = plan.request, SessionExecutor(spark)
    partitions = (request.partition,) if request.partition else ()
    table = _create(spark, partitions) if commits else "prove_table"
    keys = request.key if request.key != (HISTORY,) else ()  # rows of a model without a key may repeat
    target = Target(
        name, table, request.types, keys, table,
        partitions=partitions, overwrites=bool(partitions), apart=HISTORY,
    )  # fmt: skip
    try:
        yield _run(executor, target, plan, readings, commits=commits)
    finally:
        for view in ("outcomes", "batch", "folded", "touched"):
            executor.drop_view(view)


def _run(
    executor: SessionExecutor, target: Target, plan: Plan, readings: Readings, *, commits: bool
) -> Written:
    as_it_was = "select * from prove_table"
    try:
        change = prepare(executor, target, plan, readings)
        if not change.statement or not change.audit:
            return Written(as_it_was)
        if not commits:
            return Written(change.audit.whole)
        executor.spark.sql(change.statement)
        return Written(f"select * from {target.relation}")
    except Exception as error:
        stopped = IN_KEY.search(str(error))
        if not stopped:
            raise
        return Written(as_it_was, int(stopped[1]))


def _create(spark: SparkSession, partitions: Sequence[str]) -> str:
    """Create a table with the rows of `prove_table`, and return its name."""
    table_format = spark.conf.get("spark.sql.sources.default")
    by = f"partitioned by ({quoted([*partitions, HISTORY])})" if partitions else ""
    spark.sql(f"create schema if not exists {SCHEMA}")
    spark.sql(f"create or replace table {TABLE} using {table_format} {by} as select * from prove_table")
    return TABLE
