"""Equal periods of time, into which a report counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

MAX_PERIODS = 48  # periods in a chart
MINUTE, HOUR, DAY = 60, 3600, 86_400
WORDS = {
    MINUTE: "minute",
    10 * MINUTE: "10 minutes",
    HOUR: "hour",
    DAY: "day",
    7 * DAY: "7 days",
    30 * DAY: "30 days",
    365 * DAY: "365 days",
}


@dataclass(frozen=True)
class Periods:
    """The periods of a report; each number is that of a period since 1970, as in the queries.

    Attributes:
        since: the start of the report's time, UTC; the first period may have begun before it.
        seconds: the length of a period.
        first, last: numbers of the first and the last period.
    """

    since: datetime
    seconds: int
    first: int
    last: int

    @property
    def words(self) -> str:
        """The length in words: `day`, `10 minutes`."""
        return WORDS[self.seconds]

    @property
    def on_one_day(self) -> bool:
        """Whether all periods are of one date."""
        return self.seconds < DAY and self.start(self.first).date() == self.start(self.last).date()

    @property
    def numbers(self) -> range:
        return range(self.first, self.last + 1)

    def start(self, number: int) -> datetime:
        """Return when a period starts, UTC."""
        return datetime(1970, 1, 1, tzinfo=self.since.tzinfo) + timedelta(seconds=number * self.seconds)

    def label(self, number: int) -> str:
        """Return a short unique name of a period, such as `14:05`, `14 Nov`, `14 Nov 06:00`."""
        start = self.start(number)
        if self.on_one_day:
            return f"{start:%H:%M}"
        if self.seconds < DAY:
            return f"{start:%d %b %H:%M}"
        return f"{start:%d %b}" if self.seconds == DAY else f"{start:%Y-%m-%d}"

    @property
    def axis(self) -> str:
        """The title of an axis of periods."""
        day = f" on {self.start(self.first):%Y-%m-%d}" if self.on_one_day else ""
        return f"per {self.words}{day} (UTC)"


def periods(since: datetime, first: datetime | None, now: datetime) -> Periods:
    """Return the shortest periods of which MAX_PERIODS reach from the first event to the present.

    Args:
        since: the start of the report's time, UTC.
        first: the first event in it; None if there is none.
        now: the end, UTC.
    """
    start = first or now
    for seconds in WORDS:
        numbers = [int(at.timestamp() // seconds) for at in (start, max(start, now))]
        if numbers[1] - numbers[0] < MAX_PERIODS:
            break
    return Periods(since, seconds, numbers[0], numbers[1])
