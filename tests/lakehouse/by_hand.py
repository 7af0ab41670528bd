"""Rows of gold tables computed by hand from raw records: plain Python, in no way like the models' SQL."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

Record = Mapping[str, Any]


def record_of(file: Path, number: int) -> Record:
    """Return a record of a CSV file, or of a file of JSON lines, by its number."""
    if file.suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as lines:
            return [*csv.DictReader(lines)][number - 1]
    found: Record = json.loads(file.read_text(encoding="utf-8").splitlines()[number - 1], parse_float=Decimal)
    return found


def newest(records: Iterable[Record], key: Sequence[str], by: Sequence[str]) -> list[Record]:
    """Return the record of each key that is the newest."""
    found: dict[tuple[Any, ...], Record] = {}
    for record in sorted(records, key=lambda one: [one[name] for name in by]):
        found[tuple(record[name] for name in key)] = record
    return list(found.values())


def time_of(text: str) -> datetime:
    """Return a time of a file, in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def stored(value: Any) -> Any:
    """Return a value of a table as this module has it: times are in UTC."""
    return value.astimezone(UTC) if isinstance(value, datetime) else value


def purchases(records: Iterable[Record]) -> dict[str, Any]:
    """Return what any group of purchases gives."""
    log = newest(records, ["transaction_id"], ["transaction_id"])
    days = [date.fromisoformat(one["transaction_date"]) for one in log]
    weekend = [Decimal(one["amount"]) for one, day in zip(log, days, strict=True) if day.weekday() >= 5]
    return {
        "transaction_count": len(log),
        "customer_count": len({one["customer_id"] for one in log}),
        "quantity": sum(int(one["quantity"]) for one in log),
        "amount": sum(Decimal(one["amount"]) for one in log),
        "first_purchase_date": min(days),
        "last_purchase_date": max(days),
        "days_with_sales": len({*days}),
        "weekend_amount": sum(weekend, Decimal(0)),
        "iso_week": days[0].isocalendar().week,
        "iso_year": days[0].isocalendar().year,
    }


def events(records: Iterable[Record]) -> dict[str, Any]:
    """Return what any group of user events gives."""
    log = newest(records, ["event_id"], ["updated_at"])
    times = {one["event_id"]: time_of(one["event_at"]) for one in log}
    last = max(log, key=lambda one: (times[one["event_id"]], one["event_id"]))
    return {
        "event_count": len(log),
        "user_count": len({one["user_id"] for one in log}),
        "first_event_date": min(times.values()).date(),
        "last_event_date": max(times.values()).date(),
        "event_id": last["event_id"],
        "event_type": last["event_type"],
        "event_at": times[last["event_id"]],
    }


def readings(records: Iterable[Record]) -> dict[str, Any]:
    """Return what any group of readings of one device gives."""
    log = newest(records, ["device_id", "event_ts"], ["ingest_ts", "event_id"])
    times = sorted(time_of(one["event_ts"]) for one in log)
    warm = [one["temperature"] for one in log if one["temperature"] is not None]
    return {
        "reading_count": len(log),
        "temperature_count": len(warm),
        "temperature_sum": sum(warm),
        "lowest_temperature": min(warm, default=None),
        "highest_temperature": max(warm, default=None),
        "lowest_battery": min(one["battery"] for one in log),
        "hours_reported": len({time.replace(minute=0, second=0, microsecond=0) for time in times}),
        "first_event_ts": times[0],
        "last_event_ts": times[-1],
    }


def gaps(records: Iterable[Record], silent_from: datetime) -> dict[str, Any]:
    """Return the gap between two readings of one device, of which the first one is known."""
    times = sorted(time_of(one["event_ts"]) for one in records)
    return {
        "silent_from": max(time for time in times if time <= silent_from),
        "silent_until": min(time for time in times if time > silent_from),
    }


def movements(records: Iterable[Record]) -> dict[str, Any]:
    """Return what any group of stock movements gives."""
    log = [one for one in newest(records, ["movement_id"], ["sequence"]) if one["change_type"] != "delete"]
    return {
        "movement_count": len(log),
        "quantity_on_hand": sum(one["quantity"] for one in log),
        "last_moved_at": max(time_of(one["moved_at"]) for one in log),
    }


# each gold table of the demo that is made of files, and how its rows are computed; for `daily_sales` and
# `device_gaps` see test_medallion.py
TABLES: dict[str, Callable[[Iterable[Record]], dict[str, Any]]] = {
    "customer_sales": purchases,
    "weekly_sales": purchases,
    "daily_user_events": events,
    "latest_user_events": events,
    "user_events_by_type": events,
    "device_hours": readings,
    "device_days": readings,
    "inventory_on_hand": movements,
}
