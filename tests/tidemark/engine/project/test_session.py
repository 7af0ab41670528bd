"""Spark starts while the project is parsed; without Spark."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tidemark.base.errors import LakeBusyError
from tidemark.engine.project import session

pytestmark = pytest.mark.R4
ROOT = Path()


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, bool]]]:
    """Each session that was opened: the name of its thread, and whether the lake was emptied."""
    found: list[tuple[str, bool]] = []

    def open_session(settings: Any, root: Path, *, empty: bool = False) -> Any:
        found.append((threading.current_thread().name, empty))
        if settings:
            raise settings[0]
        return f"session {len(found)}"

    monkeypatch.setattr(session, "open_session", open_session)
    monkeypatch.setattr(session, "spark_settings", lambda root, may_be_remote: [])
    yield found
    session._starting.clear()


def test_a_session_that_is_starting_is_the_one_that_is_used(opened: list[tuple[str, bool]]) -> None:
    """R4.4: it is opened once, in another thread, as it was asked for."""
    session.start_session(ROOT, empty=True)
    assert session.warm_session(ROOT) == "session 1"
    assert opened == [("spark", True)]
    assert session.warm_session(ROOT) == "session 2"
    assert opened[1:] == [("MainThread", False)]


def test_an_error_comes_where_the_session_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """R4.4: and not before; the next session is opened anew."""
    error = LakeBusyError("The lake is held by process 1.", "Wait.")
    with monkeypatch.context() as patch:
        patch.setattr(session, "spark_settings", lambda root, may_be_remote: [error])
        session.start_session(ROOT)
        with pytest.raises(LakeBusyError):
            session.warm_session(ROOT)
    assert session.warm_session(ROOT) == "session 2"
