"""Connections like dbt-spark's, with faster statements and error messages without a stack trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from dbt.adapters.contracts.connection import Connection
from dbt.adapters.spark.connections import SparkConnectionManager, SparkCredentials
from dbt.adapters.spark.session import Connection as StockConnection
from dbt.adapters.spark.session import Cursor, SessionConnectionWrapper
from dbt_common.exceptions import DbtConfigError, DbtRuntimeError
from pyspark.errors import AnalysisException

from python_ingest.adapter.settings import FORMATS, embedded_settings
from python_ingest.project.build import plain_message


@dataclass
class TidemarkCredentials(SparkCredentials):
    """The profile's target: the settings of dbt-spark's targets, and the table format.

    Attributes:
        table_format: `delta` or `iceberg`. An embedded Spark gets its settings; a server must have them.
    """

    table_format: str = "delta"

    def __post_init__(self) -> None:
        if self.method == "session":
            self.host = self.host or "localhost"  # which dbt-spark wants, and does not use
        if self.table_format not in FORMATS:
            raise DbtConfigError(
                f"profiles.yml: table_format is '{self.table_format}'. Use one of: {', '.join(FORMATS)}."
            )
        if self.is_embedded:
            self.server_side_parameters = embedded_settings(self.table_format, self.server_side_parameters)
        super().__post_init__()

    @property
    def type(self) -> str:
        return "tidemark"

    @property
    def is_embedded(self) -> bool:
        """Whether Spark runs in this process, with one session for all statements."""
        return self.method == "session" and "spark.remote" not in (self.server_side_parameters or {})


class TidemarkConnectionManager(SparkConnectionManager):
    """Opens connections."""

    TYPE = "tidemark"

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        super().open(connection)
        handle = connection.handle
        if isinstance(handle, SessionConnectionWrapper):
            handle.handle = SessionConnection(server_side_parameters=handle.handle.server_side_parameters)
        return connection

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        """Shorten an error of Spark to its message, without plan and stack trace; dbt's log has all of it."""
        try:
            with super().exception_handler(sql):
                yield
        except DbtRuntimeError as error:
            error.msg = plain_message(error.msg)
            raise


class SessionConnection(StockConnection):
    """A connection to an embedded Spark."""

    def cursor(self) -> Cursor:
        return QuickCursor(server_side_parameters=self.server_side_parameters)


class QuickCursor(Cursor):
    """Applies the profile's settings once; dbt-spark applies them before each statement, which takes 15 ms.

    Attributes:
        given: the session and the settings last applied to it; a process has one JVM and one session.
    """

    given: ClassVar[tuple[Any, dict[str, Any]] | None] = None

    def execute(self, sql: str, *parameters: Any) -> None:
        from pyspark.sql import SparkSession

        session = getattr(SparkSession, "_instantiatedSession", None)  # None with Spark Connect
        if session is None or parameters or QuickCursor.given != (session, self.server_side_parameters):
            super().execute(sql, *parameters)
            session = getattr(SparkSession, "_instantiatedSession", None)
            QuickCursor.given = session and (session, dict(self.server_side_parameters))
            return
        try:
            self._df = session.sql(sql)
        except AnalysisException as error:
            raise DbtRuntimeError(str(error)) from error
