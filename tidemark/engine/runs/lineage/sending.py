"""Send OpenLineage events by the client's own settings; without them nothing is done."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tidemark.base.distribution import pip_install
from tidemark.base.output import output

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent

DISABLED = "OPENLINEAGE_DISABLED"
SETTINGS = re.compile(
    r"OPENLINEAGE_(URL|CONFIG|_TRANSPORT.*)"
)  # without one, the client prints to the console
USER = re.compile(r"//[^/@\s]+@")


def is_on() -> bool:
    """Return whether the environment says where events go."""
    if os.environ.get(DISABLED, "").strip().lower() == "true":
        return False
    return any(SETTINGS.fullmatch(name) and value for name, value in os.environ.items())


def send(events: Callable[[], Iterable[RunEvent]]) -> None:
    """Send events; if that fails, print one warning and send no more of them.

    What the events are about is done already, so no failure of a server may change its outcome.

    Args:
        events: makes the events, with the package `openlineage-python`.
    """
    try:
        from openlineage.client import OpenLineageClient
    except ImportError:
        _warn(f"the package openlineage-python is missing: {pip_install('lineage')}")
        return
    given = set(os.environ)
    try:
        client = OpenLineageClient()
        for event in events():
            client.emit(event)
        client.close()
    except Exception as error:
        lines = str(error).splitlines() or [type(error).__name__]
        _warn(without_user(lines[0])[:300])
    finally:
        for name in set(os.environ) - given:  # the client puts other names of its settings there
            del os.environ[name]


def without_user(url: str) -> str:
    """Return a URL, or a text with URLs, without user and password."""
    return USER.sub("//", url)


def _warn(reason: str) -> None:
    output.note("warning", f"lineage was not sent: {reason}")
