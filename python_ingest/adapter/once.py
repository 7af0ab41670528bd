"""What is done once in a command, by the first thread that asks for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Once:
    """One such thing: whether it is done, and what came of it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    done: bool = False
    found: Any = None


def once(known: dict[str, Once], key: str, action: Callable[[], Any]) -> Any:
    """Return what an action gives, which the first caller runs and the others wait for.

    Args:
        known: what was done in this command, by key.
        key: names the action.
        action: what to do.
    """
    this = known.setdefault(key, Once())
    with this.lock:
        if not this.done:
            this.found = action()
            this.done = True
    return this.found
