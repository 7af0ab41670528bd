"""What a run records about itself: what it ran with, what it read, and its lineage."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt.adapters.spark.impl import SparkAdapter
from dbt_common.exceptions import DbtRuntimeError

from tidemark.engine.adapter.connections import QuickCursor, is_open

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class RecordingAdapter(SparkAdapter):
    """The part of the adapter that macros call for `ops.runs`, with the session that all of it uses."""

    @available
    def provenance(self) -> dict[str, Any]:
        """Return what this command ran with, for its row in `ops.runs`."""
        from tidemark.engine.runs.provenance import provenance

        return provenance(Path(self.config.project_root), self.config.cli_vars)

    @available
    def measure_reads(self, name: str) -> None:
        """Measure what the statements of this thread read, until the thread measures for another name."""
        self._session().sparkContext.setJobGroup(name, name)

    @available
    def bytes_read(self, name: str) -> int:
        """Return the bytes that Spark's tasks have read for a name of `measure_reads`."""
        from tidemark.engine.adapter.reads import bytes_read

        return bytes_read(self._session(), name)

    @available
    def report_lineage(self, run: dict[str, Any], results: Any) -> None:
        """Send the lineage of a command, if the environment names a place for it.

        Args:
            run: the command's row in `ops.runs`.
            results: dbt's results.
        """
        from tidemark.engine.runs.lineage.sending import is_on, send

        if not is_on():
            return

        def events() -> Any:
            from tidemark.engine.runs.lineage.datasets import Tables
            from tidemark.engine.runs.lineage.events import run_events

            return run_events(self.get_macro_resolver(), run, results, Tables(self._location))

        send(events)

    @available
    def is_embedded(self) -> bool:
        """Return whether Spark runs in this process."""
        return bool(self.config.credentials.is_embedded)

    def _location(self, table: str) -> str | None:
        """Return where a table (`schema.table`) is, or None if there is none."""
        with suppress(DbtRuntimeError):
            rows = self._rows(f"describe table extended {table}")
            return next((str(row["data_type"]) for row in rows if row["col_name"] == "Location"), None)
        return None

    def _rows(self, sql: str) -> list[dict[str, Any]]:
        """Run a statement and return its rows."""
        return [row.dict() for row in self.execute(sql, fetch=True)[1].rows]

    def _session(self) -> SparkSession:
        """Return the session of all statements. `getOrCreate` would restore the first target's settings."""
        from tidemark.lake.delta_log import make_active

        if not is_open(QuickCursor.given[0]):
            self.execute("select 1")  # opens the session from the profile
        session: SparkSession = QuickCursor.given[0]
        if self.is_embedded():
            make_active(session)
        return session
