"""The outcome of a landing: it says in words and numbers what has landed, whatever the source is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from python_ingest.bronze.rescued import FIELDS, MISFIT, UNDECLARED, Rescued
from python_ingest.feeds.declarations import Feed
from python_ingest.ops.bronze_checks import Settled
from tidemark.base.output import count_of, first_of


class Note(NamedTuple):
    """A point of a landing that is to be checked.

    Attributes:
        event: its kind in two or three words, such as `missing column`.
        message: the sentence.
        facts: its values by name, for `--log-format json`.
    """

    event: str
    message: str
    facts: Mapping[str, Any]


def note(event: str, message: str, **facts: Any) -> Note:
    """Return a note with its facts."""
    return Note(event, message, facts)


def rescued_notes(rescued: Rescued, unit: str) -> Iterator[Note]:
    """Yield the values and fields that are in no column.

    Args:
        rescued: how many records have them.
        unit: what a record is called: `record` or `message`.
    """
    kinds = (
        (rescued.misfit_records, rescued.misfits, MISFIT),
        (rescued.undeclared_records, rescued.undeclared, UNDECLARED),
    )
    for records, fields, what in kinds:
        if records:
            names = first_of([f"{name} ({number:,})" for name, number in fields.most_common()], FIELDS)
            message = f"{count_of(records, unit)} with {what}: {names}; see _rescued_data"
            yield note("rescued", message, records=records, fields=dict(fields))


@dataclass
class Outcome:
    """The outcome of a landing.

    Attributes:
        feed: the feed's name.
        settled: the result of the check for lost rows in bronze, if one was made.
    """

    feed: str
    settled: Settled | None = field(default=None, kw_only=True)

    @property
    def rows_landed(self) -> int:
        """The number of rows that were appended to bronze."""
        raise NotImplementedError

    @property
    def message(self) -> str:
        """What has landed, in one line."""
        raise NotImplementedError

    @property
    def facts(self) -> dict[str, Any]:
        """The values of the outcome by name, for `--log-format json`."""
        return asdict(replace(self, settled=None))

    def notes(self, feed: Feed) -> Iterator[Note]:
        """Yield what is to be checked, besides lost rows.

        Args:
            feed: the declaration.
        """
        raise NotImplementedError

    def all_notes(self, feed: Feed) -> Iterator[Note]:
        """Yield the check for lost rows and all that is to be checked."""
        if self.settled:
            event = "lost rows" if self.settled.lost else "checked"
            yield note(event, self.settled.message, decision=self.settled.decision)
        yield from self.notes(feed)


@dataclass
class OutcomeOfColumns(Outcome):
    """The outcome of a landing from a source with columns.

    Attributes:
        evolved: columns that were added to bronze now, or whose type was widened.
        missing: columns that the source may lack by the contract, each with where it is missing.
        resumed: number of the batch that an earlier run began and this one finished.
    """

    evolved: list[str] = field(default_factory=list, kw_only=True)
    missing: dict[str, list[str]] = field(default_factory=dict, kw_only=True)
    resumed: int | None = field(default=None, kw_only=True)

    def all_notes(self, feed: Feed) -> Iterator[Note]:
        """Yield the changes of columns, the check for lost rows, and all that is to be checked."""
        for column in self.evolved:
            yield note("evolved", f"{feed.table}.{column}: see ops.schema_changes", column=column)
        for column, places in self.missing.items():
            message = f"{feed.table}.{column} is NULL: not in {first_of(places)}"
            yield note("missing column", message, column=column, paths=places)
        yield from super().all_notes(feed)

    def with_resumed(self, parts: Iterable[str]) -> str:
        """Return the parts of a message in one line, after the batch that was finished."""
        first = [f"finished batch {self.resumed} of an earlier run"] if self.resumed else []
        return ", ".join([*first, *parts])
