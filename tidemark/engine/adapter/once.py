"""Actions that run once per command, in the first thread that needs them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Once:
    """The state of one such action: whether it has run, and its result."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    done: bool = False
    found: Any = None


def once(known: dict[str, Once], key: str, action: Callable[[], Any]) -> Any:
    """Return the result of an action; the first caller runs it and the others wait.

    Args:
        known: the actions of this command, by key.
        key: names the action.
        action: the function to run.
    """
    this = known.setdefault(key, Once())
    with this.lock:
        if not this.done:
            this.found = action()
            this.done = True
    return this.found
