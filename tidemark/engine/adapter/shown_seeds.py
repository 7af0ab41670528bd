"""`dbt seed --show` in a project with hooks: dbt takes the result of a hook for a seed without a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tidemark.engine.adapter.wrapping import wrap_once

if TYPE_CHECKING:
    from dbt.task.seed import SeedTask


def attach() -> None:
    """Let `--show` print the seeds that have a table, without hooks and skipped seeds."""
    from dbt.task.seed import SeedTask

    wrap_once(SeedTask, "show_tables", _of_seeds_alone)


def _of_seeds_alone(of_dbt: Callable[..., Any]) -> Callable[..., Any]:
    def show_tables(task: SeedTask, results: Iterable[Any]) -> Any:
        return of_dbt(task, [one for one in results if getattr(one, "agate_table", None) is not None])

    return show_tables
