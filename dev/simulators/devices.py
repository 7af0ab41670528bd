"""A repeatable simulator of a fleet of devices that report temperatures, including faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from dev.simulators.rng import Rng

Event = dict[str, Any]

# Rates per hundred events, devices or device days.
_DUPLICATE, _CORRECTED, _LATE, _VERY_LATE, _FAULTY = 4, 2, 3, 1, 2
_SKEWED_DEVICES, _SILENT_A_DAY = 10, 15
_DAY, _MINUTE, _MILLISECOND = timedelta(days=1), timedelta(minutes=1), timedelta(milliseconds=1)
_REPORTING = timedelta(hours=23, minutes=50)  # part of a day; events in it arrive the same day if not late
_STATUS = {"ok": 94, "warning": 5, "maintenance": 1}
_FIRMWARE = ("2.0.0", "2.0.1", "2.1.0-rc1")


@dataclass(frozen=True)
class DeviceDay:
    """The events that arrived on a day, in the order of `ingest_ts`."""

    date: date
    events: list[Event]


def device_days(
    start: date, days: int, devices: int, events_per_device: int, seed: int
) -> Iterator[DeviceDay]:
    """Simulate a fleet of devices.

    An event is {event_id, device_id, event_ts, temperature, battery, status, ingest_ts}. In the second half
    of the days, events also have `firmware`. A device has one reading for each `event_ts`. A reading may
    arrive again with a later `ingest_ts`: unchanged, or as a correction with its own event_id and another
    temperature. Some events are 1 to 3 days late and a few 4 to 10 days, if there are enough days. One device
    in ten has a clock that is wrong by up to 10 minutes. A device may be silent for hours. The temperature of
    a faulty reading is None.

    Args:
        start: the first day (UTC).
        days: number of days; events that are still late at the end arrive on the last day.
        devices: number of devices.
        events_per_device: readings of a device on a day without gaps.
        seed: another seed gives other events, with the same rates of faults.

    Raises:
        ValueError: when a number is below 1.
    """
    if min(days, devices, events_per_device) < 1:
        sizes = f"days={days}, devices={devices}, events_per_device={events_per_device}"
        raise ValueError(f"{sizes}: give 1 or more of each.")
    fleet = _Fleet(start, days, devices, seed)
    return (fleet.day(number, events_per_device) for number in range(days))


class _Fleet:
    def __init__(self, start: date, days: int, devices: int, seed: int) -> None:
        self.first, self.days = datetime.combine(start, time(), UTC), days
        self.rng = Rng(seed)
        self.arrivals: dict[int, list[Event]] = defaultdict(list)  # by day number
        self.ids = 0
        self.skews = [self._skew() for _ in range(devices)]

    def day(self, number: int, events_per_device: int) -> DeviceDay:
        for device in range(len(self.skews)):
            for happened in self._moments(number, events_per_device):
                self._report(number, device, happened)
        events = sorted(
            self.arrivals.pop(number, []), key=lambda event: (event["ingest_ts"], event["event_id"])
        )
        return DeviceDay((self.first + number * _DAY).date(), events)

    def _moments(self, number: int, count: int) -> list[datetime]:
        """Return the times of a device's reports on a day: about even, sometimes with a gap of hours."""
        step = _REPORTING / count
        begins = self.first + number * _DAY
        moments = [begins + place * step + self._part_of(step) for place in range(count)]
        if self.rng.below(100) >= _SILENT_A_DAY:
            return moments
        silent = begins + self._part_of(_REPORTING)
        speaks = silent + (2 + self.rng.below(7)) * timedelta(hours=1)
        return [moment for moment in moments if not silent <= moment < speaks]

    def _report(self, number: int, device: int, happened: datetime) -> None:
        event: Event = {
            "event_id": self._next_id(),
            "device_id": f"device-{device + 1:04d}",
            "event_ts": happened + self.skews[device],
            "temperature": (150 + device % 50 + self.rng.below(100)) / 10,
            "battery": 100 - (device * 7 + number * 3 + happened.hour // 8) % 100,
            "status": self.rng.name(_STATUS),
        }
        if self._happens(_FAULTY):
            event |= {"temperature": None, "status": "error"}
        if number >= (self.days + 1) // 2:
            event["firmware"] = _FIRMWARE[device % len(_FIRMWARE)]
        late = 0
        if self._happens(_LATE):
            late = 1 + self.rng.below(3)
        elif self._happens(_VERY_LATE):
            late = 4 + self.rng.below(7)
        arrived = self._arrive(event, number + late, happened)
        if self._happens(_DUPLICATE):
            arrived = self._arrive(event, number + late + self.rng.below(2), arrived)
        if self._happens(_CORRECTED) and event["temperature"] is not None:
            event |= {"event_id": self._next_id(), "temperature": round(event["temperature"] + 0.5, 1)}
            self._arrive(event, number + late + self.rng.below(2), arrived)

    def _arrive(self, event: Event, number: int, after: datetime) -> datetime:
        """Deliver an event on a day: at any time if the day begins after `after`, else soon after `after`."""
        opens = self.first + min(number, self.days - 1) * _DAY
        if opens > after:
            arrived = opens + self._part_of(_REPORTING)
        else:
            arrived = after + (1 + self.rng.below(120_000)) * _MILLISECOND
        self.arrivals[(arrived - self.first) // _DAY].append(event | {"ingest_ts": arrived})
        return arrived

    def _skew(self) -> timedelta:
        off = (1 + self.rng.below(10)) * _MINUTE * (-1, 1)[self.rng.below(2)]
        return off if self._happens(_SKEWED_DEVICES) else timedelta()

    def _part_of(self, span: timedelta) -> timedelta:
        return self.rng.below(max(1, span // _MILLISECOND)) * _MILLISECOND

    def _happens(self, in_a_hundred: int) -> bool:
        return self.rng.below(100) < in_a_hundred

    def _next_id(self) -> str:
        self.ids += 1
        return f"r-{self.ids:08d}"
