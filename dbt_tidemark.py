"""dbt plugins, found by this file's name: plain dbt commands hold the local lake and read Delta's log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.spark.impl import SparkAdapter
from dbt.flags import get_flags
from dbt.plugins.manager import dbtPlugin

from python_ingest.lock import hold, lake_folder

if TYPE_CHECKING:
    from python_ingest.delta_log import DeltaLog

PROJECT = "tidemark"
WITHOUT_SPARK = ("parse", "list", "ls", "deps", "clean", "debug", "init")
EMBEDDED = (None, "local", "iceberg")


class LakeLock(dbtPlugin):
    """Stops a command at once, in one sentence, while another process holds the lake.

    Commands that use Spark hold it, `compile` and `show` too: the embedded catalog serves one process.
    """

    def initialize(self) -> None:
        flags: Any = get_flags()  # type: ignore[no-untyped-call]
        uses_spark = flags.WHICH not in WITHOUT_SPARK and getattr(flags, "TARGET", None) in EMBEDDED
        if self.project_name == PROJECT and uses_spark:
            # dbt changes into the project's folder only later
            hold(Path(flags.PROJECT_DIR) / lake_folder())


class AdapterMethods(dbtPlugin):
    """Gives macros `adapter.delta_log(table)` and `adapter.code_of(unique_id)`: decisions 0019 and 0022."""

    def initialize(self) -> None:
        SparkAdapter.delta_log = _delta_log  # type: ignore[attr-defined]
        SparkAdapter.code_of = _code_of  # type: ignore[attr-defined]
        SparkAdapter._available_ |= {"delta_log", "code_of"}


def _delta_log(adapter: SparkAdapter, table: str) -> DeltaLog | None:
    """Return a table's log, or None for a target whose Spark is not in this process."""
    credentials = adapter.config.credentials
    parameters = credentials.server_side_parameters or {}
    if credentials.method != "session" or "spark.remote" in parameters:
        return None
    from pyspark.sql import SparkSession

    from python_ingest.delta_log import DeltaLog

    return DeltaLog(SparkSession.builder.getOrCreate(), table)


def _code_of(adapter: SparkAdapter, unique_id: str) -> dict[str, Any]:
    from python_ingest.model_code import code_of

    return code_of(adapter.get_macro_resolver(), unique_id)


plugins = [LakeLock, AdapterMethods]
