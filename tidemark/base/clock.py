"""Times, all in UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)


def utc_time(micros: int) -> datetime:
    """Return a time from microseconds since 1970; a number does not depend on any time zone setting."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
