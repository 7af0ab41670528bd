"""Locks of dbt commands: of the whole lake, or of single tables if the catalog is shared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

from dbt_common.exceptions import DbtRuntimeError
from pyspark import SparkContext

from tidemark.base.errors import TidemarkError
from tidemark.lake import table_locks
from tidemark.lake.lock import hold
from tidemark.lake.place import lake_folder
from tidemark.spark.hive_schema import prepare_catalog
from tidemark.spark.jars import check_jars

WITHOUT_SPARK = ("parse", "list", "ls", "deps", "clean", "debug", "init")


def hold_lake(settings: Mapping[str, str]) -> None:
    """Hold the lake if the command uses Spark, and stop if Spark would start without the jars it needs.

    Args:
        settings: Spark's settings.

    Raises:
        DbtRuntimeError: if another process holds the lake, or Spark would not find its jars.
    """
    from dbt.flags import get_flags

    flags: Any = get_flags()  # type: ignore[no-untyped-call]
    folder = getattr(flags, "PROJECT_DIR", None)  # dbt does not change into it; none: no dbt command
    if folder is None or flags.WHICH in WITHOUT_SPARK:
        return
    with as_errors_of_dbt():
        hold(Path(folder) / lake_folder())
        if SparkContext._active_spark_context is None:
            check_jars(settings, Path(folder))
            _check_place(settings, folder)
            prepare_catalog()


def _check_place(settings: Mapping[str, str], folder: str) -> None:
    """Stop if this folder is another one than the project's and has no jars: the class path is relative."""
    try:
        check_jars(settings, Path.cwd())
    except TidemarkError:
        raise TidemarkError(
            f"dbt was called in {Path.cwd()}, but the paths of Spark's jars and of the lake are relative to "
            "the project's folder.",
            f"Run `cd {quote(folder)}` first, and leave out --project-dir.",
        ) from None


def lock_tables(names: list[str]) -> list[str]:
    """Lock tables (`schema.table`); return those to be unlocked later."""
    with as_errors_of_dbt():
        return table_locks.lock_tables(names)


def lock_state(table: str) -> list[str]:
    """Lock a state table for one commit, after other processes."""
    with as_errors_of_dbt():
        return table_locks.lock_tables([table], table_locks.STATE_WAIT)


def unlock_tables(names: list[str]) -> None:
    """Unlock tables that were locked."""
    if names:
        table_locks.unlock_tables(names)


@contextmanager
def as_errors_of_dbt() -> Iterator[None]:
    """Raise an expected error as one of dbt's."""
    try:
        yield
    except TidemarkError as error:
        raise DbtRuntimeError(str(error)) from None  # dbt prints a stack trace for other errors
