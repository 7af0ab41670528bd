"""The rows of a table that a landing reads: rows after the mark, in slices, and rows to check again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from psycopg import sql

from python_ingest.feeds.external_table import TableExternal
from python_ingest.ops.ingested_batches import SourceState
from python_ingest.postgresql.columns import INTEGERS, TIMES
from python_ingest.postgresql.cursor_position import CursorPosition, Slice
from python_ingest.postgresql.snapshot import Snapshot, literal, raw
from python_ingest.postgresql.source import Source
from tidemark.base.errors import LandingError

HOUR = 3600
FOREVER = sql.SQL("true")


class Window:
    """The rows of one landing.

    Args:
        snapshot: the snapshot to read from.
        external: the declaration.
        source: the table, view or query to read.
        state: how far the source is landed.
        compares_all: whether all rows up to the mark are checked again.

    Attributes:
        is_anew: whether all rows are checked again, because no mark applies.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        external: TableExternal,
        source: Source,
        state: SourceState,
        *,
        compares_all: bool,
    ) -> None:
        self._snapshot = snapshot
        self._external = external
        self._types = source.types
        self._source = source
        self._ended = written_since(state, snapshot)
        self._by = [*external.cursor, "", *external.key]
        known = state.mark if state.mark and state.mark.get("by") == self._by else None
        self._compares_all = compares_all
        self.is_anew = not external.cursor or (known is None and state.mark is not None)
        self._mark = (
            CursorPosition(known["cursor"], tuple(known["key"])) if known and "cursor" in known else None
        )
        self._cursor: sql.Composable = _identifiers(external.cursor)
        if len(external.cursor) > 1:  # with a single column, coalesce would prevent the use of an index
            self._cursor = sql.SQL("coalesce({})").format(self._cursor)
        self._place = sql.SQL("({}, {})").format(self._cursor, _identifiers(external.key))
        self._cursor_type = self._types[external.cursor[0]] if external.cursor else ""
        self._is_time = self._cursor_type in TIMES
        if external.cursor and not self._is_time and self._cursor_type not in INTEGERS:
            raise LandingError(
                f"The cursor {external.cursor[0]} of {external.source} has type {self._cursor_type}.",
                "Use a time, date or integer column that grows when a row changes, or remove `cursor`.",
            )
        if (back := external.lookback) and not (self._is_time and self._types[back.column] in TIMES):
            raise LandingError(
                f"The lookback of {external.source} uses {back.column} of type {self._types[back.column]}.",
                "Use a date or time column together with a date or time cursor, or remove `lookback`.",
            )
        self._upper = self._upper_bound()
        self._begins: sql.Composable | None = None
        if self._upper is not None and external.first_window is not None and not compares_all:
            self._begins = self._earlier(self._upper, external.first_window, self._cursor_type)

    def marked(self, mark: CursorPosition | None) -> dict[str, Any]:
        """Return a mark as the state stores it; without a cursor it only shows that a landing took place."""
        if mark is None:
            return {"by": self._by}
        return {"by": self._by, "cursor": mark.cursor, "key": list(mark.key)}

    def slices(self, largest: int) -> Iterator[Slice]:
        """Cut the rows after the mark into slices of at most `largest` rows."""
        low, last = self._mark, None if self.is_anew else self._at(self._mark, "desc", 0)
        while last is not None:
            past = self._past(low)
            extent = self._source.extent(self._snapshot, self._external.key[0], past, largest + 1)
            if extent.rows <= largest:
                yield Slice(past, last, extent)
                return
            end = self._at(low, "asc", largest - 1)
            assert end  # noqa: S101  # more rows follow
            yield Slice(self._between(low, end), end, None)
            low = end

    def start(self) -> datetime | None:
        """Return the time from which a first landing reads; None if it reads everything."""
        if self._begins is None:
            return None
        row = self._snapshot.one(sql.SQL("select {}").format(self._instant(self._begins)))
        return row[0] if row else None

    def last(self) -> CursorPosition | None:
        """Return the position of the last row; None without a cursor or without rows."""
        return self._at(None, "desc", 0) if self._external.cursor else None

    def rechecked(self) -> sql.Composable | None:
        """Return the condition of the rows up to the mark to check again; None if there are no such rows."""
        if self.is_anew:
            no_later = sql.SQL("({0} is null or {0} <= {1})")
            return FOREVER if self._upper is None else no_later.format(self._cursor, self._upper)
        if self._mark is None:
            return None
        if self._compares_all:
            return self._up_to_mark()
        conditions = [sql.SQL("{} >= {}").format(sql.Identifier(name), low) for name, low in self._lows()]
        if self._ended:
            age = f"age(xmin) <= age('{int(self._ended) % 2**32}'::xid)"
            conditions.append(raw(age).format() if self._source.has_xmin else FOREVER.format())
        if not conditions:
            return None
        return sql.SQL("{} and ({})").format(self._up_to_mark(), sql.SQL(" or ").join(conditions))

    def low_values(self) -> list[tuple[str, Any]] | None:
        """Return columns with lowest values; a rechecked row reaches one of them. None means no bound."""
        if self.is_anew or self._compares_all or self._ended:
            return None
        lows = self._lows()
        if not lows:
            return []
        row = self._snapshot.one(sql.SQL("select {}").format(sql.SQL(", ").join([low for _, low in lows])))
        return list(zip([name for name, _ in lows], row or (), strict=True))

    def time_of(self, mark: CursorPosition | None) -> datetime | None:
        """Return a mark's cursor as a time; None if it is not a time."""
        if mark is None or not self._is_time:
            return None
        row = self._snapshot.one(
            sql.SQL("select {}").format(self._instant(literal(mark.cursor, self._cursor_type)))
        )
        return row[0] if row else None

    def without_cursor(self) -> int:
        """Return the number of rows without a cursor value, up to 1000; they are never after a mark."""
        query = "select count(*) from (select from {} where {} is null limit 1000) as without"
        row = self._snapshot.one(sql.SQL(query).format(self._source.relation, self._cursor))
        return int(row[0]) if row else 0

    @property
    def _overlap(self) -> int:
        """The overlap in seconds; the default is an hour for local times that may be set back, else 0."""
        is_local = self._cursor_type == "timestamp without time zone" and self._external.time_zone != "UTC"
        return self._external.overlap if self._external.overlap is not None else HOUR * is_local

    def _lows(self) -> list[tuple[str, sql.Composed]]:
        """Return columns, each with the lowest value of the rows to check again."""
        assert self._mark  # noqa: S101  # callers have checked it
        at = literal(self._mark.cursor, self._cursor_type)
        lows: list[tuple[str, sql.Composed]] = []
        if self._overlap:
            low = self._earlier(at, self._overlap, self._cursor_type)
            lows += [(name, low) for name in self._external.cursor]
        if back := self._external.lookback:
            lows.append((back.column, self._earlier(at, back.span, self._types[back.column])))
        return lows

    def _earlier(self, at: sql.Composable, seconds: int, of: str) -> sql.Composed:
        back = sql.SQL("{}" if of in INTEGERS else "make_interval(secs => {})").format(sql.Literal(seconds))
        return sql.SQL("cast({} - {} as {})").format(at, back, raw(of))

    def _upper_bound(self) -> sql.Composable | None:
        """Return the highest cursor to read: the database's clock minus the safety lag."""
        if not self._is_time:
            return None
        clock = literal(self._snapshot.clock.isoformat(), "timestamptz")
        lagged = sql.SQL("({} - make_interval(secs => {}))").format(
            clock, sql.Literal(self._external.safety_lag)
        )
        if self._cursor_type == "timestamp with time zone":
            return lagged
        zone = sql.Literal(self._external.time_zone)
        return sql.SQL("cast({} at time zone {} as {})").format(lagged, zone, raw(self._cursor_type))

    def _instant(self, value: sql.Composable) -> sql.Composed:
        if self._cursor_type == "timestamp with time zone":
            return sql.SQL("{}").format(value)
        zone = sql.Literal(self._external.time_zone)
        return sql.SQL("(cast({} as timestamp) at time zone {})").format(value, zone)

    def _past(self, low: CursorPosition | None) -> sql.Composed:
        conditions: list[sql.Composable] = []
        if self._upper is not None:
            conditions.append(sql.SQL("{} <= {}").format(self._cursor, self._upper))
        if low is not None:
            at = literal(low.cursor, self._cursor_type)
            any_of = [sql.SQL("{} >= {}").format(sql.Identifier(name), at) for name in self._external.cursor]
            conditions.append(sql.SQL("({})").format(sql.SQL(" or ").join(any_of)))
            conditions.append(sql.SQL("{} > {}").format(self._place, self._literal(low)))
        elif self._begins:
            conditions.append(sql.SQL("{} >= {}").format(self._cursor, self._begins))
        conditions.append(sql.SQL("{} is not null").format(self._cursor))
        return sql.SQL(" and ").join(conditions)

    def _between(self, low: CursorPosition | None, high: CursorPosition) -> sql.Composed:
        at = literal(high.cursor, self._cursor_type)
        end = sql.SQL("{} <= {} and {} <= {}").format(self._cursor, at, self._place, self._literal(high))
        return sql.SQL("{} and {}").format(self._past(low), end) if low or self._begins else end

    def _up_to_mark(self) -> sql.Composed:
        assert self._mark  # noqa: S101  # called only if there is a mark
        return sql.SQL("({} is null or {} <= {})").format(
            self._cursor, self._place, self._literal(self._mark)
        )

    def _at(self, low: CursorPosition | None, order: str, skipped: int) -> CursorPosition | None:
        """Return the position of the row after a mark, in an order, that follows `skipped` others."""
        places = (self._cursor, *map(sql.Identifier, self._external.key))
        directed = sql.SQL(", ").join(sql.SQL("{} {}").format(part, raw(order)) for part in places)
        texts = [  # under their own names: otherwise ORDER BY would use the texts, not the columns
            sql.SQL("cast({} as text) as {}").format(part, sql.Identifier(f"place_{number}"))
            for number, part in enumerate(places)
        ]
        query = sql.SQL("select {} from {} where {} order by {} limit 1 offset {}").format(
            sql.SQL(", ").join(texts), self._source.relation, self._past(low), directed, sql.Literal(skipped)
        )
        row = self._snapshot.one(query)
        return CursorPosition(row[0], tuple(row[1:])) if row else None

    def _literal(self, mark: CursorPosition) -> sql.Composed:
        types = [self._cursor_type, *(self._types[name] for name in self._external.key)]
        values = [literal(text, of) for text, of in zip((mark.cursor, *mark.key), types, strict=True)]
        return sql.SQL("({})").format(sql.SQL(", ").join(values))


def written_since(state: SourceState, taken: Snapshot) -> str | None:
    """Return the transaction since which rows may exist that earlier landings did not see, or None."""
    return state.open_since if state.open_since and set(state.still_running) - taken.all_running else None


def _identifiers(names: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))
