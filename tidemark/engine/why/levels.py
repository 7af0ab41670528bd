"""Follow a row of a table to the rows that it was made from, one layer after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from tidemark.base.errors import TidemarkError
from tidemark.base.messages import first_sentence
from tidemark.engine.incremental.analysis import checked
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.pinning import unpinned
from tidemark.engine.incremental.statement_catalog import catalog_of
from tidemark.engine.incremental.unsupported import Unsupported
from tidemark.engine.project import own_schema
from tidemark.engine.project.compiled import Compiled
from tidemark.engine.project.compiled_models import compiled_models
from tidemark.engine.project.nodes import stored, table_of
from tidemark.engine.runs.past import Past
from tidemark.engine.verify.verify import UNPROVEN
from tidemark.engine.why.asked import Asked, chosen, field_of
from tidemark.engine.why.carried import KEY, Carried, carried
from tidemark.engine.why.columns import added_up, column_of, comparable_columns, own_columns
from tidemark.engine.why.places import rejected_beside, with_records
from tidemark.engine.why.query import Query
from tidemark.lake.table_format import table_exists
from tidemark.lake.versions_by_format import reading_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LANDED_KEY = ("_batch_id", "_row_number")
MORE = "the query chooses among these rows"


@dataclass(frozen=True)
class Level:
    """The rows of one table.

    Attributes:
        depth: how many tables lie between it and the first one, which has 0.
        table: `schema.name`.
        number: how many rows.
        key: the columns that tell its rows apart; empty if none are known.
        shown: the first rows by their key, as values by column.
        is_landed: whether the rows were landed by Tidemark: they name their file, topic or table.
        notes: what is to be known of them, in words.
        adds_up: what the rows give for the column that was asked for, such as `sum(amount) = 12.50`.
    """

    depth: int
    table: str
    number: int
    key: tuple[str, ...]
    shown: tuple[dict[str, Any], ...]
    is_landed: bool = False
    notes: tuple[str, ...] = ()
    adds_up: str = ""


@dataclass(frozen=True)
class Below:
    """The rows of a table that the rows of the table above were made from.

    Attributes:
        table: `schema.name`.
        rows: the rows.
        notes: what is to be known of them, in words.
        adds_up: as in `Level`.
    """

    table: str
    rows: DataFrame
    notes: tuple[str, ...] = ()
    adds_up: str = ""


@dataclass
class Following:
    """Follows rows of tables of a project.

    Attributes:
        spark: the session.
        manifest: dbt's manifest.
        models: the compiled models, by table in lower case.
        asked: what is asked for.
    """

    spark: SparkSession
    manifest: Any
    models: Mapping[str, Compiled]
    asked: Asked

    def __post_init__(self) -> None:
        self._catalog = catalog_of(self.spark)
        self._sources = {table_of(one).lower() for one in self.manifest.sources.values()}

    def levels(self, of: Below, depth: int = 0, column: str = "") -> Iterator[Level]:
        """Yield rows of a table, and then those of the tables below it, as long as a model made them.

        Args:
            of: the rows.
            depth: as in `Level`.
            column: the column of the table that is to be added up from the rows below.
        """
        rows = of.rows.persist()
        try:
            number, key = rows.count(), self._key(of)
            if not number:
                return  # a join found none
            is_landed = of.table.lower() in self._sources and set(LANDED_KEY) <= set(rows.columns)
            shown = with_records(self.spark, of.table, rows) if is_landed else rows
            first = (
                shown.orderBy(*map(column_of, key or comparable_columns(rows)))
                .limit(self.asked.shown)
                .collect()
            )
            below, notes = self._below(of, key or comparable_columns(rows), column)
            if is_landed:
                notes = list(rejected_beside(self.spark, self.manifest, of.table, rows))
            found = tuple(row.asDict(recursive=True) for row in first)
            yield Level(depth, of.table, number, key, found, is_landed, (*of.notes, *notes), of.adds_up)
            for one in below:
                yield from self.levels(one, depth + 1)
        finally:
            rows.unpersist()

    def _key(self, of: Below) -> tuple[str, ...]:
        """Return the columns that tell the rows of a table apart; empty if none are known."""
        model = self.models.get(of.table.lower())
        if model is None:
            return LANDED_KEY if set(LANDED_KEY) <= set(of.rows.columns) else ()
        by_name = {name.lower(): name for name in of.rows.columns}
        return tuple(by_name[name.lower()] for name in model.key if name.lower() in by_name)

    def _below(self, of: Below, key: Sequence[str], column: str) -> tuple[list[Below], list[str]]:
        """Return the tables that rows were made from, with their rows, and why others cannot be followed."""
        model = self.models.get(of.table.lower())
        if model is None:
            return [], []
        if why := _stops(model):
            return [], [why]
        try:
            return self._read_by(self._query(model), of, key, column)
        except Unsupported as found:
            return [], [f"its query cannot be followed: {found.where}"]
        except PySparkException as error:
            return [], [f"its query cannot be followed: {first_sentence(str(error))}"]

    def _read_by(
        self, query: Query, of: Below, key: Sequence[str], column: str
    ) -> tuple[list[Below], list[str]]:
        names = {name.lower() for name in query.root.names}
        keys = [one.lower() for one in key if one.lower() in names]
        below, notes = list[Below](), list[str]()
        for name, places in query.places.items():
            carrying = [carried(query.root, leaf, keys, column.lower()) for leaf in places]
            told = [one for one in carrying if one.keys]
            if len(told) < len(carrying):
                notes.append(f"each row may depend on all rows of {name}")
            if told:
                kept = [self._kept(query, one, of.rows) for one in told]
                rows = reduce(DataFrame.unionByName, map(own_columns, kept, told))
                more = () if all(one.is_exact for one in told) else (MORE,)
                adds_up = added_up(kept[0], told[0]) if len(told) == 1 else ""
                read = Below(name, rows, more, adds_up)
                below.append(replace(read, rows=self._once(read, query.reading(name))))
        if below and all(one.rows.isEmpty() for one in below):
            notes.append("no row of the tables that it reads leads to it")
        return below, notes

    def _query(self, model: Compiled) -> Query:
        plain, readings = unpinned(model.sql)
        if self.asked.run:  # the last run of the model may be an earlier one
            read = {one.name.lower(): one.last for one in model.reads if one.last is not None}
            readings |= {name: reading_at(self.spark, name, version) for name, version in read.items()}
        parsed = parse(plain, self._catalog)
        checked(self._catalog, parsed)
        return Query(parsed.tree, readings)

    def _once(self, of: Below, reading: str) -> DataFrame:
        """Return rows without the copies that joins make of them: each as often as the table has it."""
        if key := self._key(of):
            return of.rows.dropDuplicates(list(key))
        table = self.spark.sql(f"select * from {reading}")
        found = of.rows.select(*map(column_of, comparable_columns(of.rows))).distinct()
        same = [table[name].eqNullSafe(found[name]) for name in found.columns]
        return table.join(found, same, "left_semi").select(*map(column_of, of.rows.columns))

    def _kept(self, query: Query, one: Carried, above: DataFrame) -> DataFrame:
        """Return what is carried of a table to rows of the table above."""
        names = [f"wanted_{number}" for number in range(len(one.keys))]
        wanted = above.select(
            *(column_of(key).alias(name) for key, name in zip(one.keys, names, strict=True))
        )
        rows = self.spark.sql(query.text(one))
        same = [rows[KEY.format(n)].eqNullSafe(wanted[name]) for n, name in enumerate(names)]
        return rows.join(wanted.distinct(), same, "left_semi")


def why(spark: SparkSession, manifest: Any, asked: Asked) -> Iterator[Level]:
    """Yield the rows of a table that meet conditions, and the rows of each layer that they were made from.

    Each model's query is read at the versions of its sources that its table was made from. A table that a
    query reads at several places is one level.

    Args:
        spark: the session.
        manifest: dbt's manifest.
        asked: the table and the values that choose its rows.

    Raises:
        TidemarkError: if the table has no such column or row, a value is not one of the column's type, or
            there is no such run.
    """
    table = asked.table
    node = next(one for one in stored(manifest) if table_of(one) == table)
    past = Past(spark, own_schema(manifest, "ops_schema"), asked.run) if asked.run else None
    if past is None and not table_exists(spark, table):
        raise TidemarkError(f"{table} is not built yet.", "Run it once: `dbt run`.")
    reading = past.reading(table).sql if past else table
    rows = chosen(spark.sql(f"select * from {reading}"), asked)
    if asked.column:
        field_of(rows, table, asked.column)
    if rows.isEmpty():
        values = ", ".join(f"{name}={value}" for name, value in asked.conditions.items())
        after = f" after the run {past.run.label}" if past else ""
        raise TidemarkError(f"{table} has no row with {values}{after}.", "Look up the values in the table.")
    is_model = node.resource_type == "model"  # nothing is known of what others were made from
    given = {"as_of": past.run.id} if past else None
    compiled = compiled_models(spark, [f"+{node.name}"], "verify", given) if is_model else []
    models = {one.table.lower(): one for one in compiled}
    yield from Following(spark, manifest, models, asked).levels(Below(table, rows), 0, asked.column)


def _stops(model: Compiled) -> str | None:
    """Return why a model's query cannot be followed, or None."""
    if model.failed is not None:
        return f"does not compile: {first_sentence(model.failed)}"
    if model.needs_variables:
        return model.needs_variables
    unproven = [one for one in model.reads if one.unproven]
    return (
        f"{UNPROVEN[str(unproven[0].unproven)].format(unproven[0].name)}; run it once" if unproven else None
    )
