"""The files that a feed sends in a month, and what the tables must hold then, computed without Spark."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HEADER = "person_id,email,city,updated_at"
CITIES = ("Arnhem", "Breda", "Delft")
ERASED = {"person_id": 700042, "email": "wilhelmina.quandary@example.org", "city": "Nowhereville"}
BROKEN = '9,"never.closed@example.org,Arnhem'
Person = tuple[int, str, str, str]


def email_of(person: int) -> str:
    return f"person{person}@example.org"


@dataclass
class Feed:
    """A folder of files and what was sent there.

    Attributes:
        folder: the raw folder.
        sent: the lines of each file, in the order of arrival.
        broken: the number of broken lines.
    """

    folder: Path
    sent: dict[str, list[Person]] = field(default_factory=dict)
    broken: int = 0

    def send(
        self, day: int, part: str = "", lines: list[Person] | None = None, *, broken: bool = False
    ) -> None:
        """Put a file into the folder, whole at once, if it is not there; without lines, those of the day."""
        name = f"people_{day:02}{part}.csv"
        people = lines_of(day) if lines is None else lines
        self.sent[name] = people
        self.broken += broken
        text = [HEADER, *(",".join(map(str, person)) for person in people), *[BROKEN] * broken]
        unfinished = self.folder / f".{name}"
        if not (self.folder / name).exists():
            unfinished.write_text("\n".join(text) + "\n", encoding="utf-8")
            unfinished.rename(self.folder / name)

    def newest(self) -> dict[int, Person]:
        """The newest version of each person who was not erased; of equal ones, the one that came last."""
        found: dict[int, Person] = {}
        for person in (person for people in self.sent.values() for person in people):
            known = found.get(person[0])
            if known is None or person[3] >= known[3]:
                found[person[0]] = person
        found.pop(int(ERASED["person_id"]), None)
        return found

    def expected(self) -> dict[str, Counter[tuple[object, ...]]]:
        """The rows of the tables by name."""
        people = self.newest().values()
        by_city: dict[str, list[str]] = {}
        for _, email, city, _ in people:
            by_city.setdefault(city, []).append(email)
        return {
            "silver.people": Counter((number, email, city) for number, email, city, _ in people),
            "gold.people_kept": Counter((number, email) for number, email, _, _ in people),
            "gold.people_by_city": Counter((city, len(all_)) for city, all_ in by_city.items()),
        }


def lines_of(day: int) -> list[Person]:
    """Return a day's lines: newcomers, a repeat, a mover, a late older version, who will be erased."""
    when, first = f"2025-01-{day:02} 10:00:00", 10 * day
    lines = [(first + i, email_of(first + i), CITIES[(day + i) % 3], when) for i in range(3)]
    lines.append(lines[0])
    if day > 1:
        mover = first - 10
        lines.append((mover, email_of(mover), CITIES[(day + 2) % 3], when))
    if day > 3:
        late = first - 29
        lines.append((late, "old.address@example.org", "Delft", "2024-12-31 10:00:00"))
    if day % 2:
        city = ERASED["city"] if day > 1 else "Arnhem"
        lines.append((int(ERASED["person_id"]), str(ERASED["email"]), str(city), when))
    return lines
