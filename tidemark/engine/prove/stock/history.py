"""What happens to a model's inputs between the runs of dbt."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tidemark.engine.prove.drawing import Row

FIRST = datetime.datetime(2025, 1, 10)  # when the first run is
DAY = datetime.timedelta(days=1)
NEW = "new"  # rows that each kind of changes may have besides


@dataclass(frozen=True)
class Change:
    """A change of an input.

    Attributes:
        view: the input.
        words: what happens, such as `a new row`.
        place: which row; a new one has a new place.
        row: the row after it; None if it is deleted.
        like: the place of a row that must be there; None for a new row.
        kind: the kind of changes that it is one of.
    """

    view: str
    words: str
    place: int
    row: Row | None
    like: int | None = None
    kind: str = ""


@dataclass(frozen=True)
class History:
    """The rows that a first run reads, and the changes before each later run, one day apart.

    Attributes:
        before: by view and place.
        steps: the changes before each later run.
    """

    before: Mapping[str, Mapping[int, Row]]
    steps: tuple[tuple[Change, ...], ...]

    def states(self) -> Iterator[tuple[datetime.datetime, dict[str, list[Row]]]]:
        """Yield the time of each run, and the rows of each input then."""
        rows = {view: dict(one) for view, one in self.before.items()}
        for number, changes in enumerate(((), *self.steps)):
            for change in changes:
                if change.row is None:
                    rows[change.view].pop(change.place, None)
                else:
                    rows[change.view][change.place] = change.row
            yield FIRST + number * DAY, {view: list(one.values()) for view, one in rows.items()}

    def smaller(self) -> Iterator[History]:
        """Yield histories with one thing less: the last run, a change, a row that no change needs.

        Runs before the last one stay, so that each row keeps its age; so does a change of each kind.
        """
        kinds = self._kinds()
        return (one for one in self._smaller() if one._stands() and kinds <= one._kinds())

    def _kinds(self) -> set[str]:
        return {change.kind for changes in self.steps for change in changes} - {NEW}

    def _smaller(self) -> Iterator[History]:
        if len(self.steps) > 1:
            yield replace(self, steps=self.steps[:-1])
        for number, changes in enumerate(self.steps):
            for one in changes:
                fewer = tuple(other for other in changes if other is not one)
                yield replace(self, steps=(*self.steps[:number], fewer, *self.steps[number + 1 :]))
        changed = {change.view for changes in self.steps for change in changes}
        for view, rows in self.before.items():
            for place in rows if len(rows) > 1 or view not in changed else ():
                kept = {other: row for other, row in rows.items() if other != place}
                yield replace(self, before={**self.before, view: kept})

    def _stands(self) -> bool:
        """Return whether the rows that changes refer to are there."""
        places = {(view, place) for view, rows in self.before.items() for place in rows}
        for change in (one for changes in self.steps for one in changes):
            if change.like is not None and (change.view, change.like) not in places:
                return False
            places.add((change.view, change.place))
            if change.row is None:
                places.discard((change.view, change.place))
        return True
