"""Errors of macros without the trace of the engine's macros, which says nothing to the user of a model."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from tidemark.engine.adapter.wrapping import wrap_once

logger = AdapterLogger("Tidemark")
ENGINE = ("dbt", "dbt_spark", "dbt_tidemark")  # packages
_logged: weakref.WeakSet[DbtRuntimeError] = weakref.WeakSet()


def hide_own_macros() -> None:
    """Leave the engine's macros out of the trace below an error; `dbt --debug` and dbt's log show them.

    dbt writes `> in macro …` and `> called by macro …` below each error that a macro raises, also if none of
    these macros is the user's. A trace that has a macro of the project or of a package stays.
    """
    wrap_once(DbtRuntimeError, "process_stack", _with_macros_of_user)


def _with_macros_of_user(of_dbt: Callable[..., Any]) -> Callable[..., Any]:
    def short(error: DbtRuntimeError) -> list[str]:
        lines: list[str] = of_dbt(error)
        if lines and error not in _logged:
            _logged.add(error)
            logger.debug("\n".join(lines))
        return lines if _has_macro_of_user(error) else []

    return short


def _has_macro_of_user(error: DbtRuntimeError) -> bool:
    return any(
        getattr(item, "resource_type", None) == "macro" and getattr(item, "package_name", "") not in ENGINE
        for item in [*error.stack, error.node]
    )
