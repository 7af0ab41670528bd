"""What the engine does when a command starts and ends, around the project's own hooks.

As hooks of a package, these macros would be results of each command: `dbt seed` of one seed would say
TOTAL=3. dbt has no place for them, so this module wraps the method that runs hooks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tidemark.engine.adapter.wrapping import wrap_once

if TYPE_CHECKING:
    from dbt.adapters.base.impl import BaseAdapter
    from dbt.task.run import RunTask

ENGINE = "dbt_tidemark"
TYPE = "tidemark"


def attach() -> None:
    """Let dbt's commands call the engine before their first node and after their last one."""
    from dbt.task.run import RunTask

    wrap_once(RunTask, "safe_run_hooks", _with_engine)


def _with_engine(of_dbt: Callable[..., Any]) -> Callable[..., Any]:
    def safe_run_hooks(task: RunTask, adapter: BaseAdapter, hook_type: Any, extra_context: Any) -> Any:
        if adapter.type() != TYPE:
            return of_dbt(task, adapter, hook_type, extra_context)
        if hook_type == "on-run-start":
            status = of_dbt(task, adapter, hook_type, extra_context)
            _call(task, adapter, "tidemark__create_run_tables")
            return status
        try:
            _call(task, adapter, "tidemark__record_run", results=extra_context["results"])
            return of_dbt(task, adapter, hook_type, extra_context)
        finally:
            _call(task, adapter, "tidemark__unlock_selected_tables")

    return safe_run_hooks


def _call(task: RunTask, adapter: BaseAdapter, macro: str, **arguments: Any) -> None:
    adapter.execute_macro(macro, macro_resolver=task.manifest, project=ENGINE, kwargs=arguments)
