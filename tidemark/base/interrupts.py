"""Ctrl-C ends the process within seconds, with one message.

By default, Python raises an exception in the main thread. dbt then waits for its other threads, which wait
for Spark, and does not end. A kill at any point is safe, so the process does not have to wait.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import util
from multiprocessing.synchronize import SemLock
from types import FrameType
from typing import Any

from tidemark.base.output import output

CODE = 128 + signal.SIGINT
INTERRUPTED = "Interrupted. Committed data is safe; run the same command again to continue."
SECONDS = 3.0  # time for Spark to end by itself

Handler = Callable[[int, "FrameType | None"], Any]


def end(number: int, frame: FrameType | None, last: Callable[[], object] | None = None) -> None:
    """Handle SIGINT: end this process with exit code 130, together with Spark's.

    Args:
        number: the signal.
        frame: the current stack frame.
        last: called at the end, when Spark no longer writes.
    """
    signal.signal(number, signal.SIG_DFL)  # a second Ctrl-C does not wait
    if output.console.is_terminal and not output.as_json:
        output.console.show_cursor()
    # without print(), because the process may be inside another print()
    text = (
        json.dumps({"event": "interrupted", "message": INTERRUPTED}) if output.as_json else f"\n{INTERRUPTED}"
    )
    os.write(1 if output.as_json else 2, f"{text}\n".encode())
    for stream in (1, 2):  # hide what other threads print when Spark ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    end_spark()
    if last is not None:
        last()
    _unlink_semaphores()
    os._exit(CODE)


@contextmanager
def on_interrupt(handler: Handler | int | None) -> Iterator[None]:
    """Handle Ctrl-C with a handler within the block; has an effect only in the main thread.

    Args:
        handler: a handler for `signal.signal`; None keeps the present one.
    """
    if handler is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def end_spark() -> None:
    """End Spark's process, if this process has started it, and wait for its end."""
    if (jvm := _jvm()) is not None:
        jvm.terminate()
        with suppress(subprocess.TimeoutExpired):
            jvm.wait(SECONDS)
        jvm.kill()
        jvm.wait()


def _jvm() -> subprocess.Popen[bytes] | None:
    """Return Spark's process, if this process has started it."""
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    gateway = getattr(context, "_gateway", None)
    return getattr(gateway, "proc", None)


def _unlink_semaphores() -> None:
    """Clean up dbt's semaphores, as Python does at exit; otherwise their tracker reports a leak."""
    registered: Any = getattr(util, "_finalizer_registry", {})
    for finalizer in list(registered.values()):
        if getattr(finalizer, "_callback", None) is getattr(SemLock, "_cleanup", finalizer):
            finalizer()
