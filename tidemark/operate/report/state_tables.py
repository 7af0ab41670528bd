"""The queries of a report on the state tables: one statement each, with at most some thousand rows."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Any

from python_ingest.ops import STATE_TABLES
from python_ingest.ops.batch import REPLAY, RETRACTED
from tidemark.base.clock import utc_time
from tidemark.engine.checkpoints.layout import model_runs_query
from tidemark.lake.table_format import table_exists
from tidemark.operate.report.facts import (
    OUTCOMES,
    REJECTED,
    LostRows,
    ModelPeriod,
    Run,
    SchemaChange,
)
from tidemark.operate.report.periods import Periods

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_RUNS = 100_000  # one a minute for ten weeks
MOST_SHOWN = 100
RUN = (
    "invocation_id, command, unix_micros(started_at) as started, unix_micros(ended_at) as ended, succeeded, "
    "models_written, models_failed, models_skipped, tests_failed"
)
KEPT = " + ".join(f"coalesce(rows_{name}, 0)" for name in OUTCOMES if name != "rejected")
# a model's rows balance with those of its rejected_* model if both read the same versions in one command
MODEL_RUNS = """
    with model_runs as (
        {model_runs}
    ),
    compared as (
        select model_runs.*, model_runs.reads <=> other.reads as is_compared
        from model_runs left join model_runs as other
            on model_runs.invocation_id = other.invocation_id
            and replace(model_runs.model, '.', '.{rejected}') = other.model
    )
"""
NO_FILE = f"path in ('{REPLAY}', '{RETRACTED}')"
# the source time of a table or topic is that of the newest row of a batch
LANDED = {
    "ingested_files": "feed, state, recorded_at, row_count, "
    f"if({NO_FILE}, 0, 1) as files, if({NO_FILE}, null, modified_at) as source_at",
    "ingested_batches": "feed, state, recorded_at, row_count, 0 as files, last_processed_at as source_at",
}
MICROS = "(unix_micros(recorded_at) - unix_micros(source_at))"


class StateTables:
    """The state tables of a lake; those that do not exist have no rows.

    Args:
        spark: the session, which may be on a server.
        schema: their schema.
        since: where the report's time begins, UTC.
    """

    def __init__(self, spark: SparkSession, schema: str, since: datetime) -> None:
        self._spark, self._schema = spark, schema
        self._since = f"timestamp_micros({int(since.timestamp() * 1_000_000)})"
        self.present: Collection[str] = [t for t in STATE_TABLES if table_exists(spark, f"{schema}.{t}")]

    def first_time(self) -> datetime | None:
        """Return when the first run or landing in the report's time was."""
        times = {"runs": "started_at", "ingested_files": "recorded_at", "ingested_batches": "recorded_at"}
        parts = [
            f"select unix_micros(min({column})) as at from {self._schema}.{table} "
            f"where {column} >= {self._since}"
            for table, column in times.items()
            if table in self.present
        ]
        rows = self._rows(f"select min(at) from ({' union all '.join(parts)})") if parts else [[None]]
        return utc_time(rows[0][0]) if rows[0][0] is not None else None

    def runs(self) -> tuple[tuple[Run, ...], int]:
        """Return the newest runs, newest first, and the number of all in the report's time."""
        if "runs" not in self.present:
            return (), 0
        rows = self._rows(
            f"select {RUN}, count(*) over () as total from {self._schema}.runs "
            f"where started_at >= {self._since} order by started_at desc, invocation_id limit {MOST_RUNS}"
        )
        runs = tuple(Run(row[0], row[1], utc_time(row[2]), utc_time(row[3]), *row[4:9]) for row in rows)
        return runs, rows[0]["total"] if rows else 0

    def model_periods(self, periods: Periods) -> tuple[ModelPeriod, ...]:
        """Return the runs of models by period, ordered by period and model."""
        if "runs" not in self.present:
            return ()
        recorded = model_runs_query(f"{self._schema}.runs", f"started_at >= {self._since}")
        with_runs = MODEL_RUNS.format(model_runs=recorded, rejected=REJECTED)
        sums = ", ".join(f"coalesce(sum(rows_{name}), 0) as {name}" for name in OUTCOMES[:-1])
        rows = self._rows(
            f"{with_runs} select model, unix_seconds(started_at) div {periods.seconds} as period, "
            "count(*) as runs, count_if(status = 'error') as failed, coalesce(sum(seconds), 0) as seconds, "
            f"coalesce(max(seconds), 0) as longest, coalesce(sum(rows_read), 0) as rows_read, {sums}, "
            "coalesce(sum(rows_rejected) filter (where is_compared), 0) as rejected, "
            f"coalesce(sum(rows_read - ({KEPT}) - coalesce(rows_rejected, 0)) "
            "filter (where is_compared), 0) as unaccounted, "
            f"coalesce(sum(rows_read - ({KEPT})) filter (where not is_compared), 0) as uncompared, "
            "max_by(struct(unix_micros(started_at) as at, status, message), started_at) as newest "
            "from compared group by all order by period, model"
        )
        return tuple(
            ModelPeriod(
                row["model"],
                row["period"],
                runs=row["runs"],
                failed=row["failed"],
                seconds=row["seconds"],
                longest=row["longest"],
                rows_read=row["rows_read"],
                rows={name: row[name] for name in OUTCOMES},
                unaccounted=row["unaccounted"],
                uncompared=row["uncompared"],
                last_at=utc_time(row["newest"]["at"]),
                last_status=row["newest"]["status"],
                last_message=row["newest"]["message"],
            )
            for row in rows
        )

    def landed(self, periods: Periods) -> list[Any]:
        """Return sums over what landed: for each feed, and for each feed and period of the report's time.

        Returns:
            Rows with `feed`, `period`, `is_total`, `rows`, `files`; for a total, which is over all times,
            also `newest` in microseconds since 1970, and over the report's time `measured`, `least`, `most`
            and the percentiles `middle` (median and 90th), in microseconds.
        """
        parts = [
            f"select {columns} from {self._schema}.{table}"
            for table, columns in LANDED.items()
            if table in self.present
        ]
        if not parts:
            return []
        late = f"filter (where recorded_at >= {self._since})"
        return self._rows(
            "select feed, period, grouping(period) = 1 as is_total, coalesce(sum(row_count), 0) as rows, "
            "sum(files) as files, unix_micros(max(recorded_at)) as newest, "
            f"count(source_at) {late} as measured, "
            f"min({MICROS}) {late} as least, max({MICROS}) {late} as most, "
            f"percentile_approx({MICROS}, array(0.5, 0.9)) {late} as middle from (select *, if(recorded_at "
            f">= {self._since}, unix_seconds(recorded_at) div {periods.seconds}, null) as period "
            f"from ({' union all '.join(parts)})) where state = 'landed' "
            "group by feed, period grouping sets ((feed), (feed, period)) order by period, feed"
        )

    def unfinished(self) -> tuple[str, ...]:
        """Return the feeds with a planned batch that neither landed nor was abandoned."""
        parts = [
            f"select feed, batch_id, state from {self._schema}.{table}"
            for table in LANDED
            if table in self.present
        ]
        if not parts:
            return ()
        rows = self._rows(
            "select distinct feed from (select feed, count_if(state = 'planned') as planned, "
            f"count_if(state in ('landed', 'abandoned')) as closed from ({' union all '.join(parts)}) "
            "group by feed, batch_id) where planned > 0 and closed = 0 order by feed"
        )
        return tuple(row["feed"] for row in rows)

    def schema_changes(self) -> tuple[tuple[SchemaChange, ...], int]:
        """Return the newest changes of bronze tables, newest first, and the number of all."""
        if "schema_changes" not in self.present:
            return (), 0
        rows = self._rows(
            "select feed, change, column_name, from_type, to_type, path, unix_micros(recorded_at) as at, "
            f"count(*) over () as total from {self._schema}.schema_changes "
            f"order by recorded_at desc, feed, column_name limit {MOST_SHOWN}"
        )
        changes = tuple(SchemaChange(utc_time(row["at"]), *row[:6]) for row in rows)
        return changes, rows[0]["total"] if rows else 0

    def lost_rows(self) -> tuple[LostRows, ...]:
        """Return the losses that were noticed in the report's time, newest first."""
        if "bronze_checks" not in self.present:
            return ()
        rows = self._rows(
            "select feed, decision, cause, "
            "aggregate(lost, 0l, (total, one) -> total + one.landed - one.found) as rows, "
            "unix_micros(recorded_at) as at "
            f"from {self._schema}.bronze_checks where size(lost) > 0 and recorded_at >= {self._since} "
            f"order by recorded_at desc, feed limit {MOST_SHOWN}"
        )
        return tuple(LostRows(utc_time(row["at"]), *row[:4]) for row in rows)

    def _rows(self, statement: str) -> list[Any]:
        return self._spark.sql(statement).collect()
