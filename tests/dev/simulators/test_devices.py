"""The simulated fleet is repeatable, and has the faults that device events have."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from functools import cache
from itertools import pairwise

import pytest

from dev.simulators.devices import DeviceDay, Event, device_days

START = date(2025, 1, 1)
FIELDS = {"event_id", "device_id", "event_ts", "temperature", "battery", "status", "ingest_ts"}


@cache
def days() -> list[DeviceDay]:
    return list(device_days(START, 14, 40, 96, 5))


def readings() -> dict[tuple[object, object], list[Event]]:
    """The events of each (device_id, event_ts), in the order of arrival."""
    found: dict[tuple[object, object], list[Event]] = defaultdict(list)
    for event in (event for day in days() for event in day.events):
        found[event["device_id"], event["event_ts"]].append(event)
    return found


def test_the_same_seed_gives_the_same_events() -> None:
    assert list(device_days(START, 14, 40, 96, 5)) == days()
    assert list(device_days(START, 14, 40, 96, 6)) != days()


def test_days_are_ordered_by_arrival() -> None:
    assert [day.date for day in days()] == [START + timedelta(days=number) for number in range(14)]
    for day in days():
        assert {event["ingest_ts"].date() for event in day.events} == {day.date}
        assert all(one["ingest_ts"] <= two["ingest_ts"] for one, two in pairwise(day.events))


@pytest.mark.R5
def test_duplicates_come_later_equal_or_corrected() -> None:
    """R5.2: the latest ingest_ts of a (device_id, event_ts) is one event."""
    repeated = [events for events in readings().values() if len(events) > 1]
    assert 0.04 < len(repeated) / len(readings()) < 0.08
    corrected = 0
    for events in repeated:
        assert all(one["ingest_ts"] < two["ingest_ts"] for one, two in pairwise(events))
        corrected += events[-1]["event_id"] != events[0]["event_id"]
        for event in events:
            equal = event["temperature"] == events[0]["temperature"]
            assert equal == (event["event_id"] == events[0]["event_id"])
    assert 0 < corrected < len(repeated)


@pytest.mark.R5
def test_some_events_are_days_late_and_a_few_more_than_a_week() -> None:
    """R5.3: inside and outside of a window of 2 days."""
    firsts = [events[0] for events in readings().values()]
    delays = [(event["ingest_ts"] - event["event_ts"]) / timedelta(days=1) for event in firsts]
    assert 0.02 < sum(0.9 < delay <= 4 for delay in delays) / len(delays) < 0.05
    assert 0 < sum(delay > 4 for delay in delays) / len(delays) < 0.015
    assert 7 < max(delays) < 12


def test_some_clocks_are_wrong_ahead_and_behind() -> None:
    soon = [event for day in days() for event in day.events]
    ahead = {event["device_id"] for event in soon if event["event_ts"] > event["ingest_ts"]}
    assert 0 < len(ahead) < 10
    same_day = [
        one for one in soon if timedelta() < one["ingest_ts"] - one["event_ts"] < timedelta(minutes=12)
    ]
    assert any(event["ingest_ts"] - event["event_ts"] > timedelta(minutes=5) for event in same_day)


def test_devices_send_nothing_for_hours() -> None:
    times = defaultdict(list)
    for device, moment in readings():
        times[device].append(moment)
    gaps = [two - one for of_one in times.values() for one, two in pairwise(sorted(of_one))]
    assert max(gaps) > timedelta(hours=5)
    assert sum(gap > timedelta(hours=1.5) for gap in gaps) > 20


@pytest.mark.R5
def test_firmware_is_new_half_way() -> None:
    """R5.1: by the day of the event, so that late events of the first half have none."""
    half = START + timedelta(days=7)
    for day in days():
        for event in day.events:
            if event["event_ts"].date() not in (half, half - timedelta(days=1)):  # a clock may be wrong
                assert event.keys() - FIELDS == ({"firmware"} if event["event_ts"].date() > half else set())
    late = [event for day in days()[8:] for event in day.events if "firmware" not in event]
    assert late


def test_values() -> None:
    every = [event for events in readings().values() for event in events]
    assert {event["status"] for event in every} == {"ok", "warning", "maintenance", "error"}
    assert all((event["temperature"] is None) == (event["status"] == "error") for event in every)
    assert all(0 < event["battery"] <= 100 for event in every)


def test_a_single_day_has_all_it_sends() -> None:
    (day,) = device_days(START, 1, 1, 1, 1)
    assert len({event["event_ts"] for event in day.events}) <= 1


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_a_size_below_one_is_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="give 1 or more of each"):
        device_days(START, *sizes, seed=1)
