"""dbt plugins, found by this file's name: plain dbt commands hold the local lake and read Delta's log."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.spark.connections import SparkConnectionManager
from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.spark.session import Cursor
from dbt.flags import get_flags
from dbt.plugins.manager import dbtPlugin
from dbt_common.clients.agate_helper import table_from_data_flat
from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import AnalysisException

from python_ingest.console.interrupts import end
from python_ingest.lake.lock import hold, lake_folder
from python_ingest.project.build import plain_message

if TYPE_CHECKING:
    from dbt.adapters.base.relation import BaseRelation
    from pyspark.sql import SparkSession

    from python_ingest.lake.delta_log import DeltaLog

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


class OwnProcess(dbtPlugin):
    """Lets `dbt` end at Ctrl-C, and print an error of Spark once, without plan and stack trace."""

    def initialize(self) -> None:
        if self.project_name != PROJECT:
            return
        SparkConnectionManager.exception_handler = _short_messages  # type: ignore[assignment]
        # Spark's log of a query that fails: JSON with a stack trace, beside dbt's own message
        logging.getLogger("SQLQueryContextLogger").disabled = True
        program = Path(sys.argv[0])
        is_dbt = program.name == "dbt" or program.parts[-3:] == ("dbt", "cli", "main.py")
        if is_dbt and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, end)  # dbt's way waits for Spark


_exception_handler = SparkConnectionManager.exception_handler


@contextmanager
def _short_messages(manager: SparkConnectionManager, sql: str) -> Iterator[None]:
    try:
        with _exception_handler(manager, sql):  # writes the whole of it to dbt's log
            yield
    except DbtRuntimeError as error:
        error.msg = plain_message(error.msg)
        raise


class QuickStatements(dbtPlugin):
    """Gives Spark the profile's settings once; dbt-spark does before each statement, which takes 15 ms."""

    def initialize(self) -> None:
        if self.project_name == PROJECT and Cursor.execute is _execute:
            Cursor.execute = _execute_as_set  # type: ignore[method-assign, assignment]


_execute = Cursor.execute
_as_set: tuple[Any, dict[str, Any]] | None = None  # the session, and the settings that it was given last


def _execute_as_set(cursor: Cursor, sql: str, *parameters: Any) -> None:
    global _as_set  # noqa: PLW0603  # one JVM, one session
    from pyspark.sql import SparkSession

    session = getattr(SparkSession, "_instantiatedSession", None)  # none with Spark Connect
    if session is None or parameters or _as_set != (session, cursor.server_side_parameters):
        _execute(cursor, sql, *parameters)
        session = getattr(SparkSession, "_instantiatedSession", None)
        _as_set = session and (session, dict(cursor.server_side_parameters))
        return
    try:
        cursor._df = session.sql(sql)
    except AnalysisException as error:
        raise DbtRuntimeError(str(error)) from error


class AdapterMethods(dbtPlugin):
    """Gives macros methods of `adapter`: decisions 0019, 0022, 0023 and 0024."""

    def initialize(self) -> None:
        SparkAdapter.setting = _setting  # type: ignore[attr-defined]
        SparkAdapter.delta_log = _delta_log  # type: ignore[attr-defined]
        SparkAdapter.code_of = _code_of  # type: ignore[attr-defined]
        SparkAdapter.findings_of = _findings_of  # type: ignore[attr-defined]
        SparkAdapter.is_embedded = _is_embedded  # type: ignore[attr-defined]
        SparkAdapter.no_failures = _no_failures  # type: ignore[attr-defined]
        SparkAdapter.first_row = _first_row  # type: ignore[attr-defined]
        SparkAdapter.keep_once = _keep_once  # type: ignore[attr-defined]
        SparkAdapter.drop_view = _drop_view  # type: ignore[attr-defined]
        SparkAdapter.set_for_session = _set_for_session  # type: ignore[attr-defined]
        SparkAdapter.is_there = _is_there  # type: ignore[attr-defined]
        SparkAdapter._available_ |= {
            "setting", "delta_log", "code_of", "findings_of", "is_embedded", "no_failures", "first_row",
            "keep_once", "drop_view", "set_for_session", "is_there",
        }  # fmt: skip


def _is_embedded(adapter: SparkAdapter) -> bool:
    """Return whether Spark is in this process, where all statements go through one session."""
    credentials = adapter.config.credentials
    parameters = credentials.server_side_parameters or {}
    return credentials.method == "session" and "spark.remote" not in parameters


def _session(adapter: SparkAdapter) -> SparkSession:
    """Return the embedded session; `getOrCreate` would give it the settings of the target that made it."""
    from pyspark.sql import SparkSession

    from python_ingest.lake.delta_log import make_active

    if SparkSession._instantiatedSession is None:
        adapter.execute("select 1")  # opens it by the profile
    session = SparkSession._instantiatedSession
    assert session is not None  # noqa: S101
    make_active(session)
    return session


def _setting(adapter: SparkAdapter, name: str) -> str | None:
    """Return a setting of Spark as the profile has it, or None where the profile leaves it out."""
    return (adapter.config.credentials.server_side_parameters or {}).get(name)


def _delta_log(adapter: SparkAdapter, table: str) -> DeltaLog | None:
    """Return a table's log, or None for a target whose Spark is not in this process."""
    if not _is_embedded(adapter):
        return None
    from python_ingest.lake.delta_log import DeltaLog

    return DeltaLog(_session(adapter), table)


def _set_for_session(adapter: SparkAdapter, name: str, value: str | None = None) -> None:
    """Set a setting of an embedded Spark for the statements of this command, or take it back."""
    settings = _session(adapter).conf
    if value is None:
        settings.unset(name)
    else:
        settings.set(name, value)


def _is_there(adapter: SparkAdapter, relation: BaseRelation) -> bool:
    """Return whether the catalog has a table or view: dbt looks at its list of all tables of the schema."""
    if not _is_embedded(adapter):
        place = (relation.database, relation.schema, relation.identifier)
        return adapter.get_relation(*place) is not None  # type: ignore[arg-type]
    from python_ingest.lake.table_format import table_exists

    return table_exists(_session(adapter), f"{relation.schema}.{relation.identifier}")


def _code_of(adapter: SparkAdapter, unique_id: str) -> dict[str, Any]:
    from python_ingest.project.model_code import code_of

    return code_of(adapter.get_macro_resolver(), unique_id)


def _findings_of(adapter: SparkAdapter, unique_id: str) -> list[str]:
    from python_ingest.sqlcheck.models import findings_of

    return [str(finding) for finding in findings_of(adapter.get_macro_resolver(), unique_id)]


def _no_failures(adapter: SparkAdapter) -> Any:
    """Return what dbt's query for a test gives where no row fails."""
    none = {"failures": 0, "should_warn": False, "should_error": False}
    return table_from_data_flat([none], list(none))


@dataclass
class _Once:
    """What is done once in a command, by the first thread that asks for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    done: bool = False
    found: Any = None


def _once(known: dict[str, _Once], key: str, action: Callable[[], Any]) -> Any:
    once = known.setdefault(key, _Once())
    with once.lock:
        if not once.done:
            once.found = action()
            once.done = True
    return once.found


def _first_row(adapter: SparkAdapter, known: dict[str, _Once], sql: str) -> dict[str, Any] | None:
    """Return the first row of a query, which runs once for all who ask for it; None where it fails.

    Args:
        adapter: the one of the thread that asks.
        known: what was asked for in this command.
        sql: the query.
    """

    def look() -> dict[str, Any] | None:
        with suppress(DbtRuntimeError):
            row: dict[str, Any] = adapter.execute(sql, fetch=True)[1].rows[0].dict()
            return row
        return None

    row: dict[str, Any] | None = _once(known, sql, look)
    return row


def _keep_once(adapter: SparkAdapter, known: dict[str, _Once], name: str, sql: str) -> str:
    """Make a view whose rows Spark computes once, unless it is made already; return its name.

    Args:
        adapter: the one of the thread that asks.
        known: what is kept in this command, by name.
        name: of the view.
        sql: its query.
    """
    _once(known, name, lambda: adapter.execute(f"cache lazy table {name} as {sql}"))
    return name


def _drop_view(adapter: SparkAdapter, name: str) -> None:
    """Drop a temporary view, and the rows that are kept for it; none is no error."""
    if _is_embedded(adapter):
        _session(adapter).catalog.dropTempView(name)
    else:
        adapter.execute(f"drop view if exists {name}")


plugins = [LakeLock, OwnProcess, QuickStatements, AdapterMethods]
