"""Connections like dbt-spark's, with faster statements and error messages without a stack trace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from dbt.adapters.contracts.connection import Connection
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import SparkConnectionManager, SparkCredentials
from dbt.adapters.spark.session import Connection as StockConnection
from dbt.adapters.spark.session import Cursor, SessionConnectionWrapper
from dbt.flags import get_flags
from dbt_common.exceptions import DbtConfigError, DbtRuntimeError
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tidemark.base.messages import plain_message, text_of
from tidemark.engine.adapter.locks import as_errors_of_dbt
from tidemark.lake.cached_view import create_cached_view
from tidemark.lake.delta_log import has_jvm
from tidemark.spark.connect import REMOTE, check_server, connect_session
from tidemark.spark.session import embedded_session
from tidemark.spark.settings import FORMATS, embedded_settings

logger = AdapterLogger("Tidemark")
# statements by which dbt-spark looks up relations; it treats some errors as "not found"
LOOKS_UP = re.compile(
    r"\s*(/\*.*?\*/\s*)?(show tables?|describe extended"
    r"|macro (\w+_without_caching|get_columns_in_relation_raw))\b",
    re.IGNORECASE | re.DOTALL,
)
# these statements create a view of cached rows: tidemark/lake/cached_view.py
CACHES = re.compile(r"\s*(/\*.*?\*/\s*)?cache lazy table (?P<name>\w+) as (?P<query>.*)", re.DOTALL)
FIELDS = "spark.sql.debug.maxToStringFields"  # else a plan shows 25 columns


@dataclass
class TidemarkCredentials(SparkCredentials):
    """The profile's target: the settings of dbt-spark's targets, and the table format.

    Attributes:
        table_format: `delta` or `iceberg`. An embedded Spark gets its settings; a server must have them.
        embedded_target: if Spark is on a server, the target for commands that need it in the process.
    """

    table_format: str = "delta"
    embedded_target: str = ""

    def __post_init__(self) -> None:
        if getattr(get_flags(), "USE_V2_PARSER", False):  # type: ignore[no-untyped-call]
            raise DbtConfigError(
                "--use-v2-parser: dbt's v2 parser loads no adapters in Python, and so not `tidemark`. "
                "Leave out the flag, and unset DBT_ENGINE_USE_V2_PARSER."
            )
        if self.method == "session":
            self.host = self.host or "localhost"  # which dbt-spark wants, and does not use
        if self.table_format not in FORMATS:
            raise DbtConfigError(
                f"profiles.yml: table_format is '{self.table_format}'. Use one of: {', '.join(FORMATS)}."
            )
        if self.is_embedded:
            self.server_side_parameters = embedded_settings(self.table_format, self.server_side_parameters)
        else:
            self.server_side_parameters = {FIELDS: "100000"} | self.server_side_parameters
        super().__post_init__()

    @property
    def type(self) -> str:
        return "tidemark"

    def _connection_keys(self) -> tuple[str, ...]:
        """Return what `target` has in macros. Packages make relations with `target.database`: none."""
        return (*super()._connection_keys(), "database")

    @property
    def is_embedded(self) -> bool:
        """Whether Spark runs in this process."""
        return self.has_one_session and not self.remote

    @property
    def has_one_session(self) -> bool:
        """Whether all statements of this process go through one session; else each thread has its own."""
        return self.method == "session"

    @property
    def remote(self) -> str:
        """The address of the Spark Connect server; empty without one."""
        return (self.server_side_parameters or {}).get(REMOTE, "")

    def settings_of_server(self) -> dict[str, str]:
        """Return the settings for a server that opens the lake as an embedded Spark does."""
        if self.is_embedded:
            return dict(self.server_side_parameters)
        return embedded_settings(self.table_format)


class TidemarkConnectionManager(SparkConnectionManager):
    """Opens connections."""

    TYPE = "tidemark"

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        credentials: Any = connection.credentials
        if credentials.remote:
            with as_errors_of_dbt():
                check_server(credentials.remote)
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
            error.msg = message_of(error.msg, sql)
            raise error from None


class SessionConnection(StockConnection):
    """A connection to an embedded Spark or to a Spark Connect server."""

    def cursor(self) -> Cursor:
        return QuickCursor(server_side_parameters=self.server_side_parameters)


class QuickCursor(Cursor):
    """Applies the profile's settings once; dbt-spark applies them before each statement, which takes 15 ms.

    Attributes:
        given: the session and the settings last applied to it; a process has one session.
        statement: the statement whose rows can be read.
    """

    given: ClassVar[tuple[Any, dict[str, Any]]] = (None, {})
    statement = ""

    def execute(self, sql: str, *parameters: Any) -> None:
        session, settings = QuickCursor.given
        if settings != self.server_side_parameters or not is_open(session):
            session = session_of(self.server_side_parameters)
            QuickCursor.given = (session, dict(self.server_side_parameters))
        self.statement = sql
        with in_plain_words(sql):
            if has_jvm(session) and (view := CACHES.match(sql)):
                create_cached_view(session.sql(view["query"]), view["name"])
            else:
                self._df = session.sql(sql % parameters if parameters else sql)

    def fetchall(self) -> Any:
        """Return all rows; dbt-spark reads them where no handler of errors is."""
        with in_plain_words(self.statement):
            return super().fetchall()


@contextmanager
def in_plain_words(sql: str) -> Iterator[None]:
    """Raise an error of Spark or Java as one of dbt's, with its whole text in dbt's log."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = text_of(error)
        logger.debug(text)
        raise DbtRuntimeError(message_of(text, sql)) from error


def message_of(text: str, sql: str) -> str:
    """Return the message of an error in words; unchanged if dbt-spark looks for words of Spark in it."""
    return text if LOOKS_UP.match(sql) else plain_message(text, sql)


def session_of(settings: Mapping[str, str]) -> SparkSession:
    """Return the session of this process with the settings of a target."""
    if REMOTE in settings:
        return connect_session(settings)
    with as_errors_of_dbt():
        return embedded_session(settings, _logs())


def _logs() -> Path | None:
    """Return the folder of dbt's log; None if no dbt command runs."""
    flags: Any = get_flags()  # type: ignore[no-untyped-call]
    found = getattr(flags, "LOG_PATH", None)
    return Path(found) if found else None


def is_open(session: Any) -> bool:
    """Return whether a session can still run statements; None stands for no session."""
    if isinstance(session, SparkSession) and has_jvm(session):
        return session is SparkSession._instantiatedSession
    return session is not None and not session.is_stopped
