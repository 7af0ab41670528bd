"""Wrap a method of dbt where dbt has no place to call an adapter."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

WRAPPED = "of_tidemark"  # marks the wrapped method


def wrap_once(owner: type, name: str, wrapped_by: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace a method of a class by another that can call it; once a process.

    Args:
        owner: the class.
        name: the name of the method.
        wrapped_by: takes the method and returns the one that replaces it.
    """
    method = getattr(owner, name)
    if hasattr(method, WRAPPED):
        return
    replacement = wraps(method)(wrapped_by(method))
    setattr(replacement, WRAPPED, True)
    setattr(owner, name, replacement)
