"""The committed week of user events is what the simulator writes, and holds what it counts."""

import csv
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date, datetime
from pathlib import Path

import pytest

from dev.simulators.user_events import EventCounts, simulate_user_events

COMMITTED = Path(__file__).resolve().parents[3] / "data" / "raw" / "user_events"
HEADER = ["event_id", "user_id", "event_type", "event_at", "updated_at", "device"]

Row = tuple[str, ...]
Lines = list[tuple[date, Row]]  # the day of the file, the fields


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("events_*.csv"))}


def read_lines(folder: Path) -> Lines:
    lines = []
    for path in sorted(folder.glob("events_*.csv")):
        day = date.fromisoformat(path.stem.removeprefix("events_"))
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            assert next(reader) == HEADER
            lines += [(day, tuple(fields)) for fields in reader]
    return lines


def is_timestamp(text: str) -> bool:
    try:
        datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return False
    return True


def fault(fields: Row) -> str | None:
    if len(fields) != len(HEADER):
        return "too_few_fields" if len(fields) < len(HEADER) else "too_many_fields"
    for name, value in zip(HEADER[:3], fields[:3], strict=True):
        if value == "":
            return f"null_{name}"
    return None if is_timestamp(fields[3]) and is_timestamp(fields[4]) else "bad_casts"


def good_versions(lines: Lines) -> dict[str, list[tuple[date, Row]]]:
    """Per event_id its different contents, oldest first, each with the first file that has it."""
    first_file: dict[Row, date] = {}
    for day, fields in lines:
        if fault(fields) is None:
            first_file.setdefault(fields, day)
    versions: dict[str, list[tuple[date, Row]]] = defaultdict(list)
    for fields in sorted(first_file, key=lambda fields: fields[4]):
        versions[fields[0]].append((first_file[fields], fields))
    return versions


def recount(folder: Path) -> dict[str, object]:
    lines = read_lines(folder)
    faults = Counter(fault(fields) for _, fields in lines)
    events = good_versions(lines)
    newest = [versions[-1][1] for versions in events.values()]
    found: Counter[str] = Counter()
    for versions in events.values():
        first_day = min(day for day, _ in versions)
        oldest_there = next(fields for day, fields in versions if day == first_day)
        found["late"] += oldest_there[3][:10] < first_day.isoformat()
        found["moved_day"] += len({fields[3][:10] for _, fields in versions}) > 1
        for place, (day, _) in enumerate(versions):
            found["stale"] += any(day > newer_day for newer_day, _ in versions[place + 1 :])
    contents = sum(len(versions) for versions in events.values())
    rejects = {name: faults[name] for name in faults if name is not None}
    return rejects | {
        "files": len({day for day, _ in lines}),
        "lines": len(lines),
        "events": len(events),
        "repeated": faults[None] - contents,
        "corrections": contents - len(events) - found["stale"],
        "stale": found["stale"],
        "late": found["late"],
        "moved_day": found["moved_day"],
        "rejected": sum(rejects.values()),
        "null_device": sum(fields[5] == "" for fields in newest),
        "events_by_type": dict(Counter(fields[2] for fields in newest)),
        "events_by_day": dict(Counter(fields[3][:10] for fields in newest)),
    }


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, EventCounts]:
    folder = tmp_path_factory.mktemp("week")
    return folder, simulate_user_events(folder)


@pytest.fixture
def time_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as environment:
        environment.setenv("TZ", "Pacific/Auckland")
        time.tzset()
        yield
    time.tzset()


def test_regenerating_gives_the_committed_bytes(week: tuple[Path, EventCounts]) -> None:
    assert files_in(week[0]) == files_in(COMMITTED)
    assert len(files_in(COMMITTED)) == 7


def test_recount_of_the_committed_files_equals_the_counts(week: tuple[Path, EventCounts]) -> None:
    assert recount(COMMITTED) == asdict(week[1])


@pytest.mark.parametrize(("days", "events_per_day"), [(1, 1), (1, 50), (2, 30), (3, 100), (20, 90)])
def test_recount_equals_the_counts_at_other_sizes(tmp_path: Path, days: int, events_per_day: int) -> None:
    counts = simulate_user_events(tmp_path, days=days, events_per_day=events_per_day, seed=7)
    assert recount(tmp_path) == asdict(counts)


def test_lines_are_events_repeats_versions_and_rejects(week: tuple[Path, EventCounts]) -> None:
    counts = week[1]
    explained = counts.events + counts.repeated + counts.corrections + counts.stale
    assert counts.lines == explained + counts.rejected
    assert counts.events == 7 * 400
    assert all(asdict(counts).values())


def test_an_event_never_has_two_contents_of_one_updated_at() -> None:
    for versions in good_versions(read_lines(COMMITTED)).values():
        moments = [fields[4] for _, fields in versions]
        assert len(moments) == len(set(moments))


def test_no_version_is_older_than_its_event_or_newer_than_its_file() -> None:
    for versions in good_versions(read_lines(COMMITTED)).values():
        for day, (_, _, _, event_at, updated_at, _) in versions:
            assert event_at <= updated_at
            assert updated_at[:10] <= day.isoformat()


def test_late_events_are_one_to_three_days_late_and_none_precedes_the_week() -> None:
    versions = good_versions(read_lines(COMMITTED)).values()
    assert min(fields[3] for event in versions for _, fields in event) >= "2025-01-01"
    firsts = [event[0] for event in versions if len(event) == 1]
    delays = {(day - date.fromisoformat(fields[3][:10])).days for day, fields in firsts}
    assert delays == {0, 1, 2, 3}


def test_rejected_lines_share_no_event_id_with_good_ones() -> None:
    lines = read_lines(COMMITTED)
    rejected = [fields[0] for _, fields in lines if fault(fields) and fields[0]]
    assert len(rejected) == len(set(rejected))
    assert not set(rejected) & set(good_versions(lines))


def test_another_seed_gives_other_files(tmp_path: Path) -> None:
    simulate_user_events(tmp_path, seed=20250102)
    other, committed = files_in(tmp_path), files_in(COMMITTED)
    assert other.keys() == committed.keys()
    assert all(other[name] != committed[name] for name in committed)


@pytest.mark.usefixtures("time_zone")
def test_another_time_zone_gives_the_same_bytes(tmp_path: Path) -> None:
    assert time.localtime(0).tm_hour != 0
    simulate_user_events(tmp_path)
    assert files_in(tmp_path) == files_in(COMMITTED)


def test_files_end_lines_with_newlines_only() -> None:
    for content in files_in(COMMITTED).values():
        assert b"\r" not in content
        assert content.endswith(b"\n")


def test_the_readme_has_the_committed_counts(week: tuple[Path, EventCounts]) -> None:
    readme = (COMMITTED / "README.md").read_text(encoding="utf-8")
    for name, count in asdict(week[1]).items():
        rows = count if isinstance(count, dict) else {name: count}
        for label, number in rows.items():
            assert f"| `{label}` | {number:,} |" in readme


@pytest.mark.parametrize("size", [{"days": 0}, {"events_per_day": 0}])
def test_a_size_below_one_is_refused(tmp_path: Path, size: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="give 1 or more of each"):
        simulate_user_events(tmp_path, **size)  # type: ignore[arg-type]
