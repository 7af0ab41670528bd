"""A repeatable simulator of a web shop's daily user-event exports, including faults."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path

from dev.simulators.rng import Rng

HEADER = ("event_id", "user_id", "event_type", "event_at", "updated_at", "device")
_TYPES = {"page_view": 52, "search": 16, "add_to_cart": 11, "remove_from_cart": 3}
_TYPES |= {"checkout": 5, "purchase": 4, "sign_up": 2, "log_in": 7}
_DEVICES = {"desktop": 42, "mobile": 49, "tablet": 9}
_USERS = 600
_NOT_TIMESTAMPS = ("yesterday", "2025-13-45T99:00:00Z", "n/a")
_SECOND, _DAY = timedelta(seconds=1), timedelta(days=1)

# Rates of anomalies per thousand events; each happens at least once if there are enough days.
_CHANGES = {"corrected_at_once": 4, "corrected_later": 5, "moved_day": 2, "stale": 4}
_REJECTED = {"bad_casts": 4, "null_event_id": 2, "null_user_id": 2, "null_event_type": 2}
_REJECTED |= {"too_few_fields": 2, "too_many_fields": 2}
_OTHERS = {"late": 10, "null_device": 8, "repeated_same_file": 6, "repeated_next_file": 4}
_PER_THOUSAND = _CHANGES | _REJECTED | _OTHERS


@dataclass(frozen=True)
class EventCounts:
    """Counts of the written lines; `lines == events + repeated + corrections + stale + rejected`."""

    files: int
    lines: int  # data lines in all files, without the headers
    events: int  # distinct event_ids of the good lines
    repeated: int  # exact copies of a good line, in the same file or that of the next day
    corrections: int  # newer versions of an event, in the same file or in a later one
    stale: int  # older versions that arrive in a later file than the newer one
    late: int  # events that happened 1-3 days before the day of their first file
    moved_day: int  # corrections that move event_at to a neighbouring day
    bad_casts: int
    null_event_id: int
    null_user_id: int
    null_event_type: int
    too_few_fields: int
    too_many_fields: int
    rejected: int  # sum of the six counts above
    null_device: int  # events whose newest version has no device
    events_by_type: dict[str, int]  # newest versions
    events_by_day: dict[str, int]  # newest versions, by the UTC date of event_at


@dataclass(frozen=True)
class _Event:
    event_id: str
    user_id: str
    event_type: str
    event_at: datetime  # naive, in UTC
    updated_at: datetime
    device: str


@dataclass(frozen=True)
class _Line:
    file: int  # 0 is the first day's file
    kind: str  # event, late, repeated, or a key of _CHANGES or _REJECTED
    event: _Event
    nth: int = 0  # number within its kind; varies the faults


class _Export:
    def __init__(self, start: date, days: int, events_per_day: int, seed: int) -> None:
        self.midnights = [datetime.combine(start + day * _DAY, time()) for day in range(days)]
        self.days, self.events_per_day = days, events_per_day
        self.total = days * events_per_day
        self.rng = Rng(seed)

    def lines(self) -> list[_Line]:
        """Return all lines; the lines of a file are in file order."""
        good = self._first_versions()
        good += self._other_versions(good)
        every = good + self._repeats(good) + self._rejects()
        return self.rng.sample(every, len(every))

    def _quota(self, anomaly: str) -> int:
        return max(1, self.total * _PER_THOUSAND[anomaly] // 1000)

    def _new_event(self, number: int, file: int) -> _Event:
        # The last minutes of a day stay free for a correction on the same day.
        happened = self.midnights[file] + self.rng.below(86_000) * _SECOND
        return _Event(
            event_id=f"e-{number:06d}",
            user_id=f"u-{1 + self.rng.below(_USERS):04d}",
            event_type=self.rng.name(_TYPES),
            event_at=happened,
            updated_at=happened + (1 + self.rng.below(300)) * _SECOND,
            device=self.rng.name(_DEVICES),
        )

    def _first_versions(self) -> list[_Line]:
        after_first_file = range(self.events_per_day, self.total)
        late = set(self.rng.sample(after_first_file, self._quota("late")))
        no_device = set(self.rng.sample(range(self.total), self._quota("null_device")))
        lines = []
        for index in range(self.total):
            file = index // self.events_per_day
            event = self._new_event(index + 1, file)
            delay = 1 + self.rng.below(min(3, file)) if index in late else 0
            device = "" if index in no_device else event.device
            event = replace(event, event_at=event.event_at - delay * _DAY, device=device)
            lines.append(_Line(file, "late" if delay else "event", event))
        return lines

    def _other_versions(self, first: list[_Line]) -> list[_Line]:
        """Return corrections and stale versions, at most one per event."""
        lines: dict[str, _Line] = {}
        for kind in _CHANGES:
            last = self.days - (1 if kind == "corrected_at_once" else 2)
            free = [one for one in first if one.file <= last and one.event.event_id not in lines]
            for line in self.rng.sample(free, self._quota(kind)):
                wait = 1 + self.rng.below(min(3, self.days - 1 - line.file))
                file = line.file + (0 if kind == "corrected_at_once" else wait)
                version = self._version(kind, line.event, file)
                lines[version.event_id] = _Line(file, kind, version)
        return list(lines.values())

    def _version(self, kind: str, event: _Event, file: int) -> _Event:
        if self.rng.below(2):
            changed = replace(event, device=self.rng.name(_DEVICES, event.device))
        else:
            changed = replace(event, event_type=self.rng.name(_TYPES, event.event_type))
        if kind == "stale":
            before = self.rng.moment(event.event_at, event.updated_at - _SECOND)
            return replace(changed, updated_at=before)
        if kind == "moved_day":
            back = self.rng.below(2) == 1 and event.event_at - _DAY >= self.midnights[0]
            changed = replace(changed, event_at=event.event_at + (-_DAY if back else _DAY))
        earliest = max(event.updated_at, changed.event_at, self.midnights[file]) + _SECOND
        after = self.rng.moment(earliest, self.midnights[file] + _DAY - _SECOND)
        return replace(changed, updated_at=after)

    def _repeats(self, good: list[_Line]) -> list[_Line]:
        same_file = self.rng.sample(good, self._quota("repeated_same_file"))
        not_last = [line for line in good if line.file < self.days - 1]
        next_file = self.rng.sample(not_last, self._quota("repeated_next_file"))
        copies = same_file + [replace(line, file=line.file + 1) for line in next_file]
        return [replace(line, kind="repeated") for line in copies]

    def _rejects(self) -> list[_Line]:
        """Return extra lines with one fault each; their event_ids follow those of the good lines."""
        lines = []
        kinds = [(kind, nth) for kind in _REJECTED for nth in range(self._quota(kind))]
        for number, (kind, nth) in enumerate(kinds, start=self.total + 1):
            file = self.rng.below(self.days)
            lines.append(_Line(file, kind, self._new_event(number, file), nth))
        return lines


def _text(line: _Line) -> str:
    values = [getattr(line.event, column) for column in HEADER]
    fields = [f"{one.isoformat()}Z" if isinstance(one, datetime) else str(one) for one in values]
    if line.kind == "bad_casts":
        column = ("event_at", "updated_at")[line.nth % 2]
        fields[HEADER.index(column)] = _NOT_TIMESTAMPS[line.nth % 3]
    elif line.kind == "too_few_fields":
        fields = fields[: 5 - line.nth % 3]
    elif line.kind == "too_many_fields":
        fields += ["web", "2.1"][: 1 + line.nth % 2]
    elif line.kind in _REJECTED:
        fields[HEADER.index(line.kind.removeprefix("null_"))] = ""
    return ",".join(fields) + "\n"


def _count(lines: list[_Line], files: int) -> EventCounts:
    kinds = Counter(line.kind for line in lines)
    good = [line.event for line in lines if line.kind not in _REJECTED]
    oldest_first = sorted(good, key=lambda event: event.updated_at)
    newest = {event.event_id: event for event in oldest_first}.values()
    return EventCounts(
        files=files,
        lines=len(lines),
        events=len(newest),
        corrections=kinds["corrected_at_once"] + kinds["corrected_later"] + kinds["moved_day"],
        rejected=sum(kinds[kind] for kind in _REJECTED),
        null_device=sum(event.device == "" for event in newest),
        events_by_type=dict(sorted(Counter(event.event_type for event in newest).items())),
        events_by_day=dict(sorted(Counter(str(event.event_at.date()) for event in newest).items())),
        **{kind: kinds[kind] for kind in ("repeated", "stale", "late", "moved_day", *_REJECTED)},
    )


def simulate_user_events(
    folder: Path,
    *,
    start: date = date(2025, 1, 1),
    days: int = 7,
    events_per_day: int = 400,
    seed: int = 20250101,
) -> EventCounts:
    """Write `events_YYYY-MM-DD.csv`, one file per day, and return their counts.

    The same arguments give the same bytes on every machine and Python. Files with the same names are
    overwritten; other files in the folder stay.

    Args:
        folder: the folder to write to; created if it does not exist.
        start: the first file's day (UTC); no event is earlier.
        days: number of days and files; with one day, no event is late, stale or sent again the next day.
        events_per_day: new events in each file; anomalies add about 4 % to the lines.
        seed: another seed gives other events, with the same rates of anomalies.

    Returns:
        The counts of lines, events and anomalies in all files.

    Raises:
        ValueError: when `days` or `events_per_day` is below 1.
    """
    if days < 1 or events_per_day < 1:
        raise ValueError(f"days={days}, events_per_day={events_per_day}: give 1 or more of each.")
    lines = _Export(start, days, events_per_day, seed).lines()
    folder.mkdir(parents=True, exist_ok=True)
    for file in range(days):
        text = ",".join(HEADER) + "\n" + "".join(_text(line) for line in lines if line.file == file)
        (folder / f"events_{start + file * _DAY}.csv").write_bytes(text.encode())
    return _count(lines, days)
