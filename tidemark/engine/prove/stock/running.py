"""Run a model as dbt would, over the runs of a history, and compare its table with a full refresh."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tidemark.engine.prove.drawing import Row
from tidemark.engine.prove.stock.chains import Chain
from tidemark.engine.prove.stock.dialect import Query, translated
from tidemark.engine.prove.stock.history import History
from tidemark.engine.prove.stock.settings import DELETE_INSERT, MICROBATCH, Settings
from tidemark.engine.prove.stock.writing import RunFailsError, written
from tidemark.engine.prove.tables import values_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = Mapping[str, Sequence[Row]]


@dataclass
class Outcome:
    """What a history showed.

    Attributes:
        table: the model's rows after the incremental runs.
        rebuilt: those of a full refresh after the last one.
        missing, extra: rows that only the full refresh has, and only the table.
        fails: why a run fails; empty if none does.
        before: the model's rows before the last run.
        new: the rows of the last incremental query.
        first: the model's rows after the first run.
    """

    table: list[Row] = field(default_factory=list)
    rebuilt: list[Row] = field(default_factory=list)
    missing: list[Row] = field(default_factory=list)
    extra: list[Row] = field(default_factory=list)
    fails: str = ""
    before: list[Row] = field(default_factory=list)
    new: list[Row] = field(default_factory=list)
    first: list[Row] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        """Whether the table is not what a full refresh gives."""
        return bool(self.fails or self.missing or self.extra)


class Runner:
    """Runs a model in a Spark session.

    Attributes:
        chain: the model.
    """

    def __init__(self, spark: SparkSession, chain: Chain) -> None:
        """Take a session in which the views of the project stand.

        Args:
            spark: the session.
            chain: the model.
        """
        self.chain = chain
        self._spark = spark
        self._shown: dict[str, list[Row]] = {}
        self._inputs: tuple[Rows, datetime.datetime] | None = None
        self._replaced: tuple[Query, ...] = tuple(
            translated(f"select {one}", chain.dialect) for one in chain.settings.replaced
        )

    def outcome(self, history: History) -> Outcome:
        """Run the model at each run of a history, and refresh it in full after the last."""
        found = Outcome()
        states = list(history.states())
        try:
            for number, (now, rows) in enumerate(states):
                found.before = found.table
                found.table = self._run(now, rows, found, first=number == 0)
                found.first = found.first if number else found.table
        except RunFailsError as error:
            found.fails = str(error)
        now, rows = states[-1]
        found.rebuilt = self._run(now, rows, Outcome(), first=True)
        if not found.fails:
            found.missing, found.extra = difference(self.chain.compared, found.rebuilt, found.table)
        return found

    def is_ambiguous(self, history: History, rebuilt: Sequence[Row]) -> bool:
        """Return whether a full refresh gives other rows if the inputs come in the opposite order.

        Args:
            history: the history.
            rebuilt: the rows of its full refresh.
        """
        now, rows = list(history.states())[-1]
        backwards = {view: list(reversed(one)) for view, one in rows.items()}
        again = self._run(now, backwards, Outcome(), first=True)
        return difference(self.chain.compared, rebuilt, again) != ([], [])

    def _run(self, now: datetime.datetime, rows: Rows, found: Outcome, *, first: bool) -> list[Row]:
        """Return the table's rows after a run."""
        settings = self.chain.settings
        if settings.strategy == MICROBATCH:
            return self._batches(now, rows, found, first=first)
        self._show_inputs(rows, now)
        if first:
            return self._rows(self.chain.full, now)
        self._show(self.chain.view, self.chain.types, found.table)
        found.new = self._rows(self.chain.incremental, now)
        partitions = [self._rows(one, now)[0] for one in self._replaced]
        return written(settings, found.table, found.new, [next(iter(one.values())) for one in partitions])

    def _batches(self, now: datetime.datetime, rows: Rows, found: Outcome, *, first: bool) -> list[Row]:
        """Return the table's rows after a run of a microbatch model: batch after batch replaced."""
        settings = self.chain.settings
        table: list[Row] = [] if first else list(found.table)
        found.new = []
        timed = ((one, time) for one, time in zip(rows.values(), self._times(rows), strict=True) if time)
        moments = [_moment(row[time]) for one, time in timed for row in one if row[time] is not None]
        for start, end in windows(settings, now, moments, first=first):
            window = {
                view: [row for row in one if not time or _is_in(row[time], start, end)]
                for (view, one), time in zip(rows.items(), self._times(rows), strict=True)
            }
            self._show_inputs(window, now)
            if not first:
                self._show(self.chain.view, self.chain.types, table)
            new = self._rows(self.chain.full if first else self.chain.incremental, now)
            found.new += new
            table = self._batch(table, new, start, end)
        return table

    def _batch(
        self, table: list[Row], new: list[Row], start: datetime.datetime, end: datetime.datetime
    ) -> list[Row]:
        """Return the table's rows after a batch, as the adapter writes it."""
        settings = self.chain.settings
        if settings.batches_by != DELETE_INSERT:
            return written(replace(settings, strategy=settings.batches_by), table, new)
        name = settings.event_time
        return [row for row in table if row[name] is None or not _is_in(row[name], start, end)] + new

    def _times(self, rows: Rows) -> list[str]:
        return [self.chain.inputs[view].event_time for view in rows]

    def _show_inputs(self, rows: Rows, now: datetime.datetime) -> None:
        """Let the inputs have some rows, and the incremental models over them those of a full refresh."""
        if (rows, now) == self._inputs:
            return
        for view, one in rows.items():
            self._show(view, self.chain.inputs[view].table.columns, one)
        for view, query in self.chain.clocked_views:
            self._spark.sql(
                f"create or replace temporary view `{view}` as {query.at(now.isoformat(sep=' '))}"
            )
        for view, query, types in self.chain.below:
            self._show(view, types, self._rows(query, now))
        self._inputs = rows, now

    def _show(self, view: str, types: Mapping[str, str], rows: Sequence[Row]) -> None:
        """Let a view have some rows, if it has not yet."""
        if self._shown.get(view) != rows:
            sql = values_sql(rows, types)
            self._spark.sql(f"create or replace temporary view `{view}` as {sql}")
            self._shown[view] = list(rows)

    def _rows(self, query: Query, now: datetime.datetime) -> list[Row]:
        found = self._spark.sql(query.at(now.isoformat(sep=" "))).collect()
        return [{name.lower(): value for name, value in row.asDict(recursive=True).items()} for row in found]


def difference(
    columns: Sequence[str], rebuilt: Sequence[Row], table: Sequence[Row]
) -> tuple[list[Row], list[Row]]:
    """Return the rows that only a full refresh has, and those that only the table has.

    Args:
        columns: the columns that are compared.
        rebuilt: the rows of the full refresh.
        table: the rows of the table.
    """
    sides = []
    for rows, others in ((rebuilt, table), (table, rebuilt)):
        spare = Counter(_comparable(columns, row) for row in others)
        only = []
        for row in rows:
            key = _comparable(columns, row)
            if spare[key]:
                spare[key] -= 1
            else:
                only.append(row)
        sides.append(only)
    return sides[0], sides[1]


def _comparable(columns: Sequence[str], row: Row) -> tuple[Any, ...]:
    return tuple(_plain(row.get(name.lower())) for name in columns)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.9g}")  # sums of doubles depend on their order
    if isinstance(value, Decimal):
        return value.normalize()
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, dict):
        return tuple(sorted((str(name), _plain(one)) for name, one in value.items()))
    return tuple(map(_plain, value)) if isinstance(value, list) else value


def _is_in(value: Any, start: datetime.datetime, end: datetime.datetime) -> bool:
    return value is not None and start <= _moment(value) < end


def _moment(value: Any) -> datetime.datetime:
    """Return a time, or the start of a date."""
    return (
        value if isinstance(value, datetime.datetime) else datetime.datetime.combine(value, datetime.time())
    )


def windows(
    settings: Settings, now: datetime.datetime, moments: Iterable[datetime.datetime], *, first: bool
) -> list[tuple[datetime.datetime, datetime.datetime]]:
    """Return the batches of a run that can have rows: those from `begin`, or the last ones."""
    size = settings.batch_size
    starts = {_start(one, size) for one in (now, *moments)}
    oldest = _start(now, size)
    for _ in range(settings.lookback):
        oldest = _start(oldest - datetime.timedelta(seconds=1), size)
        starts.add(oldest)
    return [(one, _end(one, size)) for one in sorted(starts) if (first or one >= oldest) and one <= now]


def _start(time: datetime.datetime, size: str) -> datetime.datetime:
    time = time.replace(minute=0, second=0, microsecond=0)
    if size == "hour":
        return time
    time = time.replace(hour=0)
    return (
        time.replace(month=1, day=1) if size == "year" else time.replace(day=1) if size == "month" else time
    )


def _end(start: datetime.datetime, size: str) -> datetime.datetime:
    longest = {"hour": 1, "day": 24, "month": 31 * 24, "year": 366 * 24}[size]
    return _start(start + datetime.timedelta(hours=longest), size)
