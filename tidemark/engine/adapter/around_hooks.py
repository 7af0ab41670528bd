"""What the engine does when a command starts and ends, around the project's own hooks.

As hooks of a package, these macros would be results of each command: `dbt seed` of one seed would say
TOTAL=3. dbt has no place for them, so this module wraps the method that runs hooks.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbt.adapters.base.impl import BaseAdapter
    from dbt.task.run import RunTask

ENGINE = "dbt_tidemark"
TYPE = "tidemark"
ATTACHED = "of_tidemark"  # marks the wrapped method


def attach() -> None:
    """Let dbt's commands call the engine before their first node and after their last one, once a process."""
    from dbt.task.run import RunTask

    of_dbt = RunTask.safe_run_hooks
    if hasattr(of_dbt, ATTACHED):
        return

    @wraps(of_dbt)
    def safe_run_hooks(task: RunTask, adapter: BaseAdapter, hook_type: Any, extra_context: Any) -> Any:
        if adapter.type() != TYPE:
            return of_dbt(task, adapter, hook_type, extra_context)
        if hook_type == "on-run-start":
            status = of_dbt(task, adapter, hook_type, extra_context)
            _call(task, adapter, "create_run_tables")
            return status
        try:
            _call(task, adapter, "record_run", results=extra_context["results"])
            return of_dbt(task, adapter, hook_type, extra_context)
        finally:
            _call(task, adapter, "unlock_selected_tables")

    setattr(safe_run_hooks, ATTACHED, True)
    RunTask.safe_run_hooks = safe_run_hooks  # type: ignore[method-assign, assignment]


def _call(task: RunTask, adapter: BaseAdapter, macro: str, **arguments: Any) -> None:
    adapter.execute_macro(macro, macro_resolver=task.manifest, project=ENGINE, kwargs=arguments)
