"""The source of a feed: a table, a view or a query of PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql

from python_ingest.feeds.declarations import TableFeed
from python_ingest.postgresql.columns import INTEGERS, SourceColumn, columns_of
from python_ingest.postgresql.snapshot import Snapshot, raw
from tidemark.base.errors import LandingError

WITH_XMIN = ("r", "p", "m")  # tables, partitioned tables, materialized views
IDENTITY = (
    "select database.oid::text || '.' || class.oid::text, class.relkind::text "
    "from pg_class as class, pg_database as database "
    "where class.oid = {}::regclass and database.datname = current_database()"
)


@dataclass(frozen=True)
class Extent:
    """The number of rows, and the lowest and highest value of an integer column."""

    rows: int
    low: int | None
    high: int | None


@dataclass(frozen=True)
class Source:
    """A table, a view or a query.

    Attributes:
        relation: the SQL after `from`.
        identity: tells a table from another one of the same name; `query` for a query.
        has_xmin: whether each row has the number of the transaction that wrote it.
        columns: the source's columns.
    """

    relation: sql.Composable
    identity: str
    has_xmin: bool
    columns: tuple[SourceColumn, ...]

    @property
    def types(self) -> dict[str, str]:
        """The columns' types by name."""
        return {column.name: column.type for column in self.columns}

    def extent(
        self, taken: Snapshot, column: str, condition: sql.Composable, most: int | None = None
    ) -> Extent:
        """Return the extent of the rows that a condition selects.

        Args:
            taken: the snapshot.
            column: the column whose lowest and highest values are wanted; None if it is not an integer.
            condition: the condition.
            most: the number of rows at which counting stops.
        """
        low_high = "min(of), max(of)" if self.types[column] in INTEGERS else "null, null"
        query = raw(
            f"select count(*), {low_high} from (select {{}} as of from {{}} where {{}} limit {{}}) as rows"
        )
        row = taken.one(query.format(sql.Identifier(column), self.relation, condition, sql.Literal(most)))
        return Extent(*(row or (0, None, None)))


def source_of(feed: TableFeed, taken: Snapshot) -> Source:
    """Return the source of a feed.

    Raises:
        LandingError: when the source lacks a column that the declaration names, or the column is undeclared.
    """
    external = feed.external
    if external.query:
        query = sql.SQL("({}) as source").format(raw(external.query))
        return _checked(feed, Source(query, "query", False, tuple(columns_of(taken, query))))
    table = sql.Identifier(*str(external.table).split("."))
    found = taken.one(sql.SQL(IDENTITY).format(sql.Literal(table.as_string(taken.connection))))
    assert found  # noqa: S101  # without the table, the cast to regclass fails
    return _checked(feed, Source(table, found[0], found[1] in WITH_XMIN, tuple(columns_of(taken, table))))


def _checked(feed: TableFeed, source: Source) -> Source:
    external, names = feed.external, list(source.types)
    wanted = external.named_columns
    missing = [name for name in wanted if name not in names]
    declared = {column.in_file for column in feed.columns}
    undeclared = [name for name in wanted if name not in declared]
    if not missing and not undeclared:
        return source
    message = (
        f"has no column {', '.join(missing)}"
        if missing
        else f"has {', '.join(undeclared)}, which is not declared"
    )
    raise LandingError(
        f"Feed '{feed.name}': {external.source} {message} (it has {', '.join(names)}).",
        f"Correct `key`, `cursor`, `lookback` or `columns` in {feed.declared_in}, or the source.",
    )
