"""The files of the feed `people`, and what the tables must hold after them, computed without Spark."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

CITIES = ("Arnhem", "Breda", "Delft")
Row = tuple[object, ...]
Tables = dict[str, Counter[Row]]


class Person(NamedTuple):
    """A version of a person, as a line of a file says it."""

    id: int
    city: str
    age: int
    updated_at: str


def file_name(number: int) -> str:
    """Return the name of the file with this number."""
    return f"people_{number:02}.csv"


def lines_of(number: int) -> list[Person]:
    """Return the lines of a file: newcomers, a mover, a birthday, a repeat, a late older version.

    The pioneer is the oldest of all and lives alone in a camp of his own; the next file moves him to a
    city, so that a group empties, another's maximum rises, and the one after that moves him on.
    """
    pioneer, settler, child = (number * 10 + position for position in (1, 2, 3))
    day, next_day = f"2025-01-{number:02} 10:00:00", f"2025-01-{number:02} 20:00:00"
    city = CITIES[number % 3]
    lines = [
        Person(pioneer, f"Camp {number}", 60 + number, day),
        Person(settler, city, 40, day),
        Person(settler, city, 40, day),
        Person(child, city, 9 + number % 2, day),
    ]
    if number > 1:
        lines += [
            Person(pioneer - 10, CITIES[(number + 1) % 3], 60 + number, next_day),
            Person(child - 10, CITIES[(number - 1) % 3], 30, next_day),
            Person(settler - 10, CITIES[(number - 1) % 3], 40, f"2025-01-{number - 1:02} 10:00:00"),
            Person(settler - 10, "Nowhere", 99, "2024-12-31 10:00:00"),
        ]
    if number > 2:
        lines.append(Person(pioneer - 20, city, 20 + number, next_day))
    return lines


def write_file(folder: Path, number: int) -> None:
    """Put a file into the raw folder, whole at once, if it is not there."""
    if (folder / file_name(number)).exists():
        return
    lines = [",".join(Person._fields), *(",".join(str(value) for value in line) for line in lines_of(number))]
    unfinished = folder / f".{file_name(number)}"
    unfinished.write_text("\n".join(lines) + "\n", encoding="utf-8")
    unfinished.rename(folder / file_name(number))


def expected_tables(files: int) -> Tables:
    """Return what each table holds once the first files have been landed and built."""
    sent = [(number, line) for number in range(1, files + 1) for line in lines_of(number)]
    newest: dict[int, Person] = {}
    for _, line in sent:
        if line.id not in newest or line.updated_at >= newest[line.id].updated_at:
            newest[line.id] = line
    cities: dict[str, list[int]] = {}
    for person in newest.values():
        cities.setdefault(person.city, []).append(person.age)
    lines = Counter(number for number, _ in sent)
    return {
        "ops.ingested_files": Counter(
            (file_name(number), "landed", count) for number, count in lines.items()
        ),
        "bronze.people": Counter((file_name(number), *map(str, line)) for number, line in sent),
        "silver.people": Counter(tuple(person) for person in newest.values()),
        "gold.people_by_city": Counter((city, len(ages), min(ages)) for city, ages in cities.items()),
        "gold.people_totals": Counter(
            (city, len(ages), sum(ages), max(ages)) for city, ages in cities.items()
        ),
    }
