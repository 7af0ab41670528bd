"""Limits for the age of landed data: dbt's `freshness` of a source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tidemark.operate.status.level import Level

HOURS = {"minute": 1 / 60, "hour": 1.0, "day": 24.0}


@dataclass(frozen=True)
class Limits:
    """The ages from which a feed is late.

    Attributes:
        warn_after, error_after: the age for each level; None for no limit.
    """

    warn_after: timedelta | None = None
    error_after: timedelta | None = None

    def level(self, age: timedelta | None) -> Level:
        """Return the level of an age; None is a feed that never landed: a warning if there is a limit."""
        if age is None:
            return Level.WARNING if self.warn_after or self.error_after else Level.OK
        if self.error_after and age > self.error_after:
            return Level.ERROR
        return Level.WARNING if self.warn_after and age > self.warn_after else Level.OK


def limits_of(source: Any) -> Limits:
    """Return the limits of a source of dbt's manifest.

    Args:
        source: a source's node; `freshness` may be missing.
    """
    freshness = getattr(source, "freshness", None)
    return Limits(*(_span(getattr(freshness, name, None)) for name in ("warn_after", "error_after")))


def _span(time: Any) -> timedelta | None:
    if time is None or time.count is None or time.period is None:
        return None
    return timedelta(hours=time.count * HOURS[str(getattr(time.period, "value", time.period))])
