"""`dbt seed --show` in a project with hooks: dbt takes the result of a hook for a seed without a table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbt.task.seed import SeedTask

ATTACHED = "of_tidemark"  # marks the wrapped method


def attach() -> None:
    """Let `--show` print the seeds that have a table, without hooks and skipped seeds; once a process."""
    from dbt.task.seed import SeedTask

    of_dbt = SeedTask.show_tables
    if hasattr(of_dbt, ATTACHED):
        return

    @wraps(of_dbt)
    def show_tables(task: SeedTask, results: Iterable[Any]) -> Any:
        seeds = [one for one in results if getattr(one, "agate_table", None) is not None]
        return of_dbt(task, seeds)  # type: ignore[no-untyped-call]

    setattr(show_tables, ATTACHED, True)
    SeedTask.show_tables = show_tables  # type: ignore[method-assign]
