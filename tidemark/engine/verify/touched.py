"""The keys of a table that runs touched since a state in which every row was proved.

They come from two sides: the changes of the table itself, whoever made them, and the changes of its sources,
traced to the rows of the result that they can alter (regions.py), whether a run altered these or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tidemark.engine.incremental.analysis import checked
from tidemark.engine.incremental.canonical import (
    any_of_equal,
    comparable,
    grouped_values,
    is_own_form,
    quoted,
)
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.pinning import unpinned
from tidemark.engine.incremental.readings import filled, present
from tidemark.engine.incremental.regions import choose_regions
from tidemark.engine.incremental.statement_catalog import catalog_of
from tidemark.engine.incremental.tree import Node, leaves, render
from tidemark.engine.incremental.unsupported import Unsupported
from tidemark.engine.project.compiled import Compiled
from tidemark.engine.verify.proofs import Base
from tidemark.engine.verify.sides import FLOATING, Columns
from tidemark.lake.table_format import DELTA, table_exists, table_format
from tidemark.lake.versions_by_format import reading_at, versions_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VERSION = re.compile(r"(-?\d+)\W*$")
UNKNOWN = "not all versions of what it reads are recorded, or its query cannot be followed"
KEY = "key_{}"


class AllRows(Exception):
    """The touched keys are not known, for the reason in the message, so that all rows are compared."""


@dataclass(frozen=True)
class Keys:
    """The rows of some keys, as the `Part` of a table that is compared.

    Attributes:
        names: columns of the table, in lower case.
        view: a view of their values, named by KEY.
        number: how many keys.
    """

    names: Sequence[str]
    view: str
    number: int

    @property
    def words(self) -> str:
        return f"of {self.number:,} touched {'key' if self.number == 1 else 'keys'}"

    @property
    def facts(self) -> dict[str, Any]:
        return {"keys": self.number}

    def condition(self, columns: Columns, key: Sequence[str]) -> str:
        """Return SQL for their rows: their values are equal, as tables are compared."""
        known = {name.lower(): number for number, name in enumerate(columns.names)}
        same = []
        for number, name in enumerate(self.names):
            value, kind = columns.values[known[name]], columns.types[known[name]]
            same.append(f"{comparable(f'touched.{KEY.format(number)}', kind)} <=> {comparable(value, kind)}")
        return f"exists (select 1 from {self.view} as touched where {' and '.join(same)})"


@dataclass(frozen=True)
class State:
    """A table and its query at one moment.

    Attributes:
        base: the versions of the table and of what it was made from, and the fingerprint.
        root: the tree of the query, in which views are opened.
    """

    base: Base
    root: Node


def state_of(spark: SparkSession, model: Compiled) -> State | None:
    """Return the present state of a table; None if not all versions that its rows come from are known."""
    if model.failed is not None or model.unsettled or not table_exists(spark, model.table):
        return None
    try:
        return _state(spark, model)
    except Exception:  # whatever is wrong with it, a comparison of all rows says it better
        return None


def _state(spark: SparkSession, model: Compiled) -> State | None:
    plain, readings = unpinned(model.sql)
    catalog = catalog_of(spark)
    parsed = parse(plain, catalog)
    checked(catalog, parsed)
    noted = {one.name.lower(): one.last for one in model.reads}
    read = {table: noted.get(table) for table in sorted({leaf.table for leaf in leaves(parsed.tree)})}
    known = {table: version for table, version in read.items() if version is not None}
    own = {
        table: reading for table, reading in readings.items() if _version_in(reading) != str(known.get(table))
    }
    if len(known) < len(read) or own:
        return None
    versions = {table: versions_of(spark, table) for table in (model.table, *known)}
    ids = [one.identity_at(one.present) for one in versions.values()]
    text = render(parsed.tree, present).sql("spark", comments=False)
    fingerprint = sha256("\n".join([text, *model.header, *ids]).encode()).hexdigest()
    return State(Base(versions[model.table].present, known, fingerprint), parsed.tree)


def _version_in(reading: str) -> str:
    """Return the version in what reads a table at one; empty if there is none."""
    found = VERSION.search(reading)
    return found[1] if found else ""


@contextmanager
def touched(spark: SparkSession, model: Compiled, base: Base | None, now: State | None) -> Iterator[Keys]:
    """Find the keys that were touched between two states of a table.

    Args:
        spark: the session.
        model: the compiled model.
        base: the state since which they are looked for; None if there is none.
        now: the present state; None if it is not known.

    Raises:
        AllRows: if the keys are not known.
    """
    if now is None:
        what = f"its rows depend on {model.unsettled}" if model.unsettled else UNKNOWN
        raise AllRows(f"all rows, as {what}")
    if base is None:
        raise AllRows("all rows, as they were never all proved")
    if base.query != now.base.query:
        raise AllRows("all rows, as its query or a table was replaced since the last proof")
    view = f"__tidemark_touched_{uuid4().hex}"
    try:
        names, query = _query(spark, model, base, now)
        keys = spark.sql(query).persist()
        number = keys.count()  # few persisted rows are sent to all tasks
    except Unsupported as refused:
        raise AllRows(f"all rows, as a change may touch any: {refused.where}") from None
    except (PySparkException, Py4JJavaError):
        raise AllRows("all rows, as the changes since the last proof cannot be read") from None
    try:
        keys.createOrReplaceTempView(view)
        yield Keys(names, view, number)
    finally:
        spark.catalog.dropTempView(view)
        keys.unpersist()


def _query(spark: SparkSession, model: Compiled, base: Base, now: State) -> tuple[Sequence[str], str]:
    """Return the columns that tell the touched rows, and the query of their values."""
    types = {name.lower(): kind for name, kind in spark.table(model.table).dtypes}
    both = {name: kind for name, kind in types.items() if name in now.root.names}
    read = now.base.read
    if missing := sorted(read.keys() - base.read.keys()):
        raise AllRows(f"all rows, as {missing[0]} has no version of the last proof")
    changed = {name for name in read if base.read[name] != read[name]}
    own = _changes(spark, model.table, base.version, now.base.version)
    if not changed:
        key = [name.lower() for name in model.key]
        names = key if key and set(key) <= both.keys() else _exact(both)
        return names, _union(names, both, [own])
    regions = choose_regions(now.root, changed, [name.lower() for name in model.key], list(both))
    readings = {
        name: {
            "present": reading_at(spark, name, version),
            "previous": reading_at(spark, name, base.read[name]),
            "changes": _changes(spark, name, base.read[name], version),
        }
        for name, version in read.items()
    }
    of_sources = f"({filled(regions.touched(), readings)})"
    return regions.columns, _union(regions.columns, both, [own, of_sources])


def _exact(types: Mapping[str, str]) -> list[str]:
    """Return the columns by which rows without a key are told apart."""
    found = [
        name for name, kind in types.items() if is_own_form(kind) and not any(one in kind for one in FLOATING)
    ]
    if not found:
        raise AllRows("all rows, as no column tells them apart")
    return found


def _union(names: Sequence[str], types: Mapping[str, str], parts: Sequence[str]) -> str:
    values = ", ".join(
        f"cast({quoted(name)} as {types[name]}) as {KEY.format(number)}" for number, name in enumerate(names)
    )
    return " union ".join(f"select distinct {values} from {one}" for one in parts)


def _changes(spark: SparkSession, table: str, after: int, last: int) -> str:
    """Return SQL of the rows of a table before and after each change between two versions.

    On Iceberg, rows that were written again as they were cancel out.
    """
    if after == last:
        return f"(select * from {table} where false)"
    if table_format(spark) == DELTA:
        if after > last:
            raise AllRows(f"all rows, as {table} was replaced")
        return f"(select * from table_changes('{table}', {after + 1}, {last}))"
    if not versions_of(spark, table).precedes(after, last):
        raise AllRows(f"all rows, as {table} was set back or replaced")
    if after == 0:
        return f"(select * from {reading_at(spark, table, last)})"
    types = dict(spark.table(table).dtypes)
    return (
        f"(select {any_of_equal(types)} from {table}.changes "
        f"with (`start-snapshot-id` = {after}, `end-snapshot-id` = {last}) group by {grouped_values(types)} "
        "having sum(if(_change_type = 'INSERT', 1, -1)) != 0)"
    )
