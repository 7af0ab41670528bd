"""Ctrl-C: the process ends within seconds, in one sentence.

Python's own way is an exception in the main thread. dbt then waits for its other threads, which wait for
Spark, and does not end. A run survives a kill at any point, so nothing need be waited for.
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

from python_ingest.console.output import output

CODE = 128 + signal.SIGINT
SAID = "Interrupted. Committed data is safe; run the same command again to continue."
SECONDS = 3.0  # for Spark to end by itself

Handler = Callable[[int, "FrameType | None"], Any]


def end(number: int, frame: FrameType | None, last: Callable[[], object] | None = None) -> None:
    """End this process with exit code 130, and Spark's with it: a handler of SIGINT.

    Args:
        number: the signal.
        frame: where the process is.
        last: called at the very end, when Spark writes nothing any more.
    """
    signal.signal(number, signal.SIG_DFL)  # a second Ctrl-C does not wait
    if output.console.is_terminal and not output.as_json:
        output.console.show_cursor()
    # not by print(): the process may be in the middle of one
    text = json.dumps({"event": "interrupted", "said": SAID}) if output.as_json else f"\n{SAID}"
    os.write(1 if output.as_json else 2, f"{text}\n".encode())
    for stream in (1, 2):  # what other threads print when Spark goes
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    if (jvm := _jvm()) is not None:
        jvm.terminate()
        with suppress(subprocess.TimeoutExpired):
            jvm.wait(SECONDS)
        jvm.kill()
        jvm.wait()
    if last is not None:
        last()
    _unlink_semaphores()
    os._exit(CODE)


@contextmanager
def on_interrupt(handler: Handler | int | None) -> Iterator[None]:
    """Answer Ctrl-C by a handler within the block; only the main thread can, others change nothing.

    Args:
        handler: as of `signal.signal`; None leaves what there is.
    """
    if handler is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _jvm() -> subprocess.Popen[bytes] | None:
    """Return Spark's process, if this one has started it."""
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    gateway = getattr(context, "_gateway", None)
    return getattr(gateway, "proc", None)


def _unlink_semaphores() -> None:
    """Do what Python does at its end for dbt's semaphores: else their tracker prints that they leaked."""
    registered: Any = getattr(util, "_finalizer_registry", {})
    for finalizer in list(registered.values()):
        if getattr(finalizer, "_callback", None) is getattr(SemLock, "_cleanup", finalizer):
            finalizer()
