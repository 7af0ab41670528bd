"""The columns of a PostgreSQL source, selected so that values that Spark cannot hold are rescued."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg import sql
from pyspark.sql.types import DataType, TimestampType

from python_ingest.postgresql.snapshot import Snapshot, raw

RESCUED = "_tidemark_rescued"
AS_THEY_ARE = {
    "smallint", "integer", "bigint", "real", "double precision", "boolean", "text", "character varying",
    "character", "bytea", "json", "jsonb", "uuid", "numeric", "date", "timestamp without time zone",
    "timestamp with time zone",
}  # fmt: skip
INTEGERS = ("smallint", "integer", "bigint")
TIMES = ("date", "timestamp without time zone", "timestamp with time zone")
LARGEST = "1e20"  # the limit of decimal(38,18), the type that Spark uses for a numeric without precision
MOST_SCALE = 18


@dataclass(frozen=True)
class SourceColumn:
    """A column of the source.

    Attributes:
        name: the column's name.
        type: the type, without length or precision.
        digits: precision and scale of a numeric; None if it has none.
    """

    name: str
    type: str
    digits: tuple[int, int] | None = None

    @property
    def is_unbounded(self) -> bool:
        """Whether the column is a numeric without precision."""
        return self.type == "numeric" and self.digits is None

    @property
    def as_sql(self) -> sql.Identifier:
        return sql.Identifier(self.name)


def columns_of(snapshot: Snapshot, source: sql.Composable) -> list[SourceColumn]:
    """Return the columns of a table or query."""
    cursor = snapshot.connection.execute(sql.SQL("select * from {} limit 0").format(source))
    described = cursor.description or []
    oids = sorted({column.type_code for column in described})
    found = snapshot.connection.execute(
        "select oid::bigint, format_type(oid, null) from unnest(%s::oid[]) as t(oid)", [oids]
    )
    types = dict(found.fetchall())
    return [
        SourceColumn(c.name, types[c.type_code], None if c.precision is None else (c.precision, c.scale or 0))
        for c in described
    ]


def selected(columns: Sequence[SourceColumn], wanted: Mapping[str, DataType], zone: str) -> sql.Composed:
    """Return the select list.

    Args:
        columns: the source's columns.
        wanted: the types in bronze, by the name of the source's column.
        zone: the time zone of times without a time zone.

    Returns:
        Each column, and the column RESCUED: JSON of the values that Spark cannot hold, such as NaN and
        infinity.
    """
    parts: list[sql.Composable] = []
    strange: list[tuple[SourceColumn, sql.Composed]] = []
    for column in columns:
        value: sql.Composable = column.as_sql
        if (condition := _is_strange(column)) is not None:
            strange.append((column, condition))
            value = sql.SQL("case when {} then null else {} end").format(condition, value)
            if column.digits:  # CASE drops precision and scale
                value = raw(f"cast({{}} as numeric({column.digits[0]},{column.digits[1]}))").format(value)
        is_local = column.type == "timestamp without time zone"
        if is_local and isinstance(wanted.get(column.name), TimestampType):
            value = sql.SQL("({} at time zone {})").format(value, sql.Literal(zone))
        elif column.type not in AS_THEY_ARE and column.type.removesuffix("[]") not in AS_THEY_ARE:
            value = sql.SQL("cast({} as text)").format(value)
        parts.append(sql.SQL("{} as {}").format(value, column.as_sql))
    parts.append(sql.SQL("{} as {}").format(_rescued(strange), sql.Identifier(RESCUED)))
    return sql.SQL(", ").join(parts)


def _is_strange(column: SourceColumn) -> sql.Composed | None:
    name = column.as_sql
    if column.type in TIMES:
        return sql.SQL("not isfinite({})").format(name)
    if column.is_unbounded:
        return raw(f"({{0}} = 'NaN' or abs({{0}}) >= {LARGEST} or scale({{0}}) > {MOST_SCALE})").format(name)
    if column.type == "numeric":
        return sql.SQL("{} = 'NaN'").format(name)
    return None


def _rescued(strange: Sequence[tuple[SourceColumn, sql.Composed]]) -> sql.Composable:
    if not strange:
        return sql.SQL("cast(null as text)")
    pairs = [
        sql.SQL("{}, case when {} then cast({} as text) end").format(
            sql.Literal(column.name), condition, column.as_sql
        )
        for column, condition in strange
    ]
    return sql.SQL("case when {} then cast(jsonb_strip_nulls(jsonb_build_object({})) as text) end").format(
        sql.SQL(" or ").join([condition for _, condition in strange]), sql.SQL(", ").join(pairs)
    )
