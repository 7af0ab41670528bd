"""The state of the lake as metrics for Prometheus, in a file that its textfile collector reads."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, write_to_textfile

from tidemark.operate.status.lake import LakeStatus


def write_metrics(path: Path, lake: LakeStatus) -> None:
    """Write the metrics; the file is replaced atomically.

    Args:
        path: the file, `*.prom` for the textfile collector.
        lake: the state.
    """
    registry = CollectorRegistry()

    def gauge(
        name: str, message: str, label: str, values: Iterable[tuple[str, float | datetime | None]]
    ) -> None:
        metric = Gauge(f"tidemark_{name}", message, [label] if label else [], registry=registry)
        for key, value in values:
            if value is not None:
                number = value.timestamp() if isinstance(value, datetime) else float(value)
                (metric.labels(key) if label else metric).set(number)

    for name, attribute, message in FEED:
        gauge(name, message, "feed", ((feed.feed, getattr(feed, attribute)) for feed in lake.feeds))
    for name, attribute, message in TABLE:
        gauge(name, message, "table", ((table.table, getattr(table, attribute)) for table in lake.tables))
    if share := lake.proved:
        gauge("table_proved_slices", "Of a hundred, proved within 7 days.", "table", share.slices.items())
        gauge("proved_rows_percent", "Rows proved within 7 days.", "", [("", share.percent)])
        gauge(
            "table_differs",
            "1 if rows differed at the newest proof.",
            "table",
            [(table, table in share.differing) for table in share.slices],
        )
    if run := lake.run:
        gauge("run_started_timestamp_seconds", "Start of the last run.", "", [("", run.started_at)])
        gauge("run_duration_seconds", "Duration of the last run.", "", [("", run.seconds)])
        gauge("run_nodes", "Models and tests of the last run.", "outcome", run.counts.items())
    gauge("level", "0: well, 1: warnings, 2: errors.", "", [("", lake.level)])
    write_to_textfile(str(path), registry)


FEED = (
    ("feed_landed_timestamp_seconds", "landed_at", "When rows of the feed last landed."),
    (
        "feed_processed_timestamp_seconds",
        "last_processed_at",
        "The source's time up to which the feed landed.",
    ),
    ("feed_rows", "rows", "Rows landed."),
    ("feed_messages_behind", "messages_behind", "Messages of the topic that have not landed."),
    ("feed_rejected_records", "rejected_records", "Broken records that have not been replayed."),
    ("feed_rejected_files", "rejected_files", "Files set aside."),
    ("feed_level", "level", "0: well, 1: warning, 2: error."),
)
TABLE = (
    ("table_run_timestamp_seconds", "last_run_at", "When a run last read something for the table."),
    ("table_rows_written", "rows_written", "Rows that this run inserted, updated and deleted."),
    ("table_rows_rejected", "rows_rejected", "Rows that the table's rules rejected in this run."),
    ("table_versions_behind", "versions_behind", "Versions of the sources that the table has not read."),
    ("table_seconds_behind", "seconds_behind", "Age of the oldest of these versions."),
    ("table_files", "files", "Data files of the present version."),
    ("table_bytes", "bytes", "Bytes of these files."),
    ("table_level", "level", "0: well, 1: warning, 2: error."),
)
