"""The queries of a report on tables: their files, and why rows of them were set aside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tidemark.lake.delta_statements import log_of
from tidemark.lake.table_format import DELTA, table_exists, table_format
from tidemark.operate.report.facts import Rejection, Size

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REASON = "rejection_reason"  # the column of a `rejected_*` table
MOST_REASONS = 200
OTHERS = "other reasons"


def sizes(spark: SparkSession, tables: Sequence[str]) -> tuple[Size, ...]:
    """Return number and bytes of the files of tables, as of their newest versions; the largest first.

    With Spark in the process, Delta's log is read without a statement; for Iceberg it is one statement.

    Args:
        spark: the session.
        tables: `schema.name`; all of them exist.
    """
    if table_format(spark) == DELTA:
        states = {table: log_of(spark, table).state() for table in tables}
        found = [Size(table, state["files"], state["bytes"]) for table, state in states.items()]
    elif tables:
        parts = [
            f"select '{table}' as name, count(*) as files, coalesce(sum(file_size_in_bytes), 0) as bytes "
            f"from {table}.files"
            for table in tables
        ]
        found = [Size(*row) for row in spark.sql(" union all ".join(parts)).collect()]
    else:
        found = []
    return tuple(sorted(found, key=lambda size: (-size.bytes, size.table)))


def with_reasons(spark: SparkSession, tables: Sequence[str]) -> list[str]:
    """Return the tables that have a reason for each row."""
    return [table for table in tables if REASON in spark.table(table).columns]


def rejections(spark: SparkSession, ops_schema: str, rejected_tables: Sequence[str]) -> tuple[Rejection, ...]:
    """Return what is set aside now, by reason, the most frequent first; in one statement.

    Of many reasons in one place, the rare ones are added up.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.
        rejected_tables: tables of rejected rows, `schema.name`, with the column REASON.
    """
    parts = []
    if table_exists(spark, f"{ops_schema}.ingested_files"):
        parts.append(
            "select 'file' as kind, feed as place, newest.reason, 0 as replayed, path as example from ("
            "select feed, path, max_by(struct(state, reason), _sequence) as newest "
            f"from {ops_schema}.ingested_files group by feed, path) where newest.state = 'rejected'"
        )
    if table_exists(spark, f"{ops_schema}.rejected_records"):
        parts.append(
            "select 'record', feed, reason, if(replayed_batch is null, 0, 1), path "
            f"from {ops_schema}.rejected_records"
        )
    # a reason may end with the value that broke the rule: `n is not a bigint: 7.5`
    rule = f"split_part({REASON}, ': ', 1)"
    parts += [f"select 'row', '{table}', {rule}, 0, null from {table}" for table in rejected_tables]
    if not parts:
        return ()
    rows = spark.sql(
        f"select kind, place, if(place_rank <= {MOST_REASONS}, reason, '{OTHERS}') as reason, "
        "sum(number) as number, sum(replayed) as replayed, min(example) as example from ("
        "select *, row_number() over (partition by kind, place order by number desc, reason) as place_rank "
        "from (select kind, place, coalesce(reason, 'no reason') as reason, count(*) as number, "
        "sum(replayed) as replayed, min(example) as example "
        f"from ({' union all '.join(parts)}) group by all)) "
        "group by all order by number desc, kind, place, reason"
    ).collect()
    return tuple(Rejection(*row) for row in rows)
