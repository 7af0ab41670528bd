"""Times, all in UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(timezone.utc)


def utc_time(micros: int) -> datetime:
    """Return a time from microseconds since 1970; a number does not depend on any time zone setting."""
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=micros)
