"""What is known of the tables that models read: columns, types, keys, and values that occur in them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from tidemark.engine.dbt_core.foreign_project import ForeignProject
from tidemark.engine.dbt_core.seed_files import seed_file
from tidemark.engine.project.declared_keys import declared_keys, plain, tests_of
from tidemark.engine.prove.drawing import INTEGERS, Table
from tidemark.engine.prove.given import values_of
from tidemark.engine.prove.stock.dialect import SPARK

MAXIMUM_VALUES = 20
TEXT = "string"
TYPES = re.compile(
    r"boolean|tinyint|smallint|int|bigint|float|double|date|timestamp|string|binary|decimal\(\d+,\d+\)"
    r"|(array|map|struct)<.*>"
)


@dataclass(frozen=True)
class Input:
    """A table whose rows are drawn.

    Attributes:
        table: its columns, key and values; `name` is the view that stands for it.
        title: how its project names it, such as `raw.orders`.
        event_time: the column by which microbatch models read it, or empty.
        guessed: what nobody declared and was guessed: `columns`, `key`, `not null` for parts of a unique_key.
    """

    table: Table
    title: str
    event_time: str = ""
    guessed: frozenset[str] = frozenset()


def spark_type(kind: str | None, dialect: str) -> str:
    """Return Spark's type for one of another dialect; text if there is none."""
    try:
        found = exp.DataType.build(kind or TEXT, dialect="spark" if dialect in SPARK else dialect)
        text = found.sql(dialect="spark").lower().replace(" ", "")
    except (SqlglotError, ValueError):
        return TEXT
    text = text.replace("timestamp_ltz", "timestamp").replace("timestamp_ntz", "timestamp")
    if text in ("decimal", "numeric"):
        return "decimal(18,4)"
    text = re.sub(r"^decimal\((\d+)\)$", r"decimal(\1,0)", text)
    return text if TYPES.fullmatch(text) else TEXT


class Declared:
    """What a project's files say of its sources, seeds and snapshots."""

    def __init__(self, project: ForeignProject, manifest_file: Path) -> None:
        """Read the catalog, if `dbt docs generate` has written one, and the seeds.

        Args:
            project: the project.
            manifest_file: its manifest.json, beside which `catalog.json` is.
        """
        self._project = project
        self._catalog: dict[str, Any] = {}
        with suppress(OSError, ValueError):
            catalog = json.loads((manifest_file.parent / "catalog.json").read_text())
            self._catalog = {**catalog.get("nodes", {}), **catalog.get("sources", {})}
        self._seeds = project.seeds()

    def columns(self, node: Any) -> dict[str, str]:
        """Return the Spark types of a table's columns, in lower case; empty if they are not known."""
        kind = self._project.kind
        listed = self._catalog.get(node.unique_id, {}).get("columns", {})
        if listed:
            return {name.lower(): spark_type(one["type"], kind) for name, one in listed.items()}
        types = {plain(one.name): one.data_type for one in node.columns.values()}
        if types and all(types.values()):
            return {name: spark_type(one, kind) for name, one in types.items()}
        seed = self._seeds.get(self._project.view(node))
        try:
            return self._of_seed(seed) if seed is not None else {}
        except Exception:  # the manifest may be from another machine
            return {}

    def names(self, node: Any) -> dict[str, str]:
        """Return the columns that are described, with a type or an empty text."""
        return {
            plain(one.name): spark_type(one.data_type, self._project.kind) if one.data_type else ""
            for one in node.columns.values()
        }

    def _of_seed(self, seed: Any) -> dict[str, str]:
        names, rows = seed_file(seed)
        given = {plain(name): kind for name, kind in (seed.config.column_types or {}).items()}
        return {
            name.lower(): spark_type(given[name.lower()], self._project.kind)
            if name.lower() in given
            else _type_of([value for row in rows if (value := row[number]) is not None])
            for number, name in enumerate(names)
        }

    def _never_null(self, node: Any) -> Iterator[str]:
        """Yield the columns with a `not_null` test."""
        for test in tests_of(self._project.manifest, node):
            if test.test_metadata.name == "not_null" and test.column_name:
                yield plain(test.column_name)

    def values(self, node: Any, columns: Mapping[str, str]) -> dict[str, list[Any]]:
        """Return values that occur in columns of text: those of tests, of unit tests and of a seed's file."""
        found = values_of(self._project.manifest, node)
        seed = self._seeds.get(self._project.view(node))
        if seed is not None and columns:
            try:
                names, rows = seed_file(seed)
            except Exception:  # as above
                return found
            for number, name in enumerate(names):
                if columns.get(name.lower()) == TEXT:
                    seen = dict.fromkeys(row[number] for row in rows if row[number] is not None)
                    found.setdefault(name.lower(), list(seen)[:MAXIMUM_VALUES])
        return {
            name: [one for one in values if _fits(columns.get(name, ""), one)]
            for name, values in found.items()
        }

    def input(
        self,
        node: Any,
        columns: Mapping[str, str],
        model_key: Collection[str],
        *,
        groups: bool,
        guessed: bool,
    ) -> Input:
        """Return a table to draw rows of.

        Args:
            node: its node.
            columns: Spark types by column.
            model_key: the `unique_key` of the model that reads it; its columns are never NULL.
            groups: whether this model gives a row for several of its rows.
            guessed: whether its columns were guessed.
        """
        view = self._project.view(node)
        keys = [key for key in declared_keys(self._project.manifest, node) if set(key) <= columns.keys()]
        key = keys[0] if keys else _guessed_key(node, columns, () if groups else model_key)
        not_null = {*key, *self._never_null(node)} | ({*model_key} & columns.keys())
        table = Table(
            view, columns, key, frozenset(not_null), (), self.values(node, columns), keys=tuple(keys[1:])
        )
        assumed = {*model_key} & columns.keys() - {*key, *self._never_null(node)}
        hints = ("columns",) * guessed + ("key",) * (not keys and bool(key)) + ("not null",) * bool(assumed)
        event_time = plain(getattr(node.config, "event_time", None) or "")
        return Input(table, title_of(node), event_time, frozenset(hints))


def title_of(node: Any) -> str:
    """Return how a project names a table."""
    return f"{node.source_name}.{node.name}" if node.resource_type == "source" else str(node.name)


def _fits(kind: str, value: Any) -> bool:
    """Return whether a value that the project names can be one of a column."""
    if kind == TEXT:
        return isinstance(value, str)
    numeric = kind in (*INTEGERS, "double", "float")
    return numeric and isinstance(value, int if kind in INTEGERS else (int, float)) and value is not True


def _guessed_key(node: Any, columns: Mapping[str, str], model_key: Collection[str]) -> tuple[str, ...]:
    """Return the column that most likely tells rows apart."""
    if model_key and set(model_key) <= columns.keys():
        return tuple(model_key)  # of a model that gives a row for each of its rows
    name = node.name.rsplit("__", 1)[-1].removeprefix("stg_")
    for one in ("id", f"{name}_id", f"{name.removesuffix('s')}_id", "_fivetran_id", "uuid"):
        if one in columns:
            return (one,)
    return ()


def _type_of(values: Iterable[str]) -> str:
    """Return the type of a seed's column from its values."""
    values = list(values)
    for kind in ("bigint", "double", "boolean", "date", "timestamp"):
        if values and all(_is(kind, one) for one in values):
            return kind
    return TEXT


def _is(kind: str, value: str) -> bool:
    from datetime import date, datetime

    try:
        if kind == "bigint":
            int(value)
        elif kind == "double":
            float(value)
        elif kind == "date":
            date.fromisoformat(value)
        elif kind == "timestamp":
            datetime.fromisoformat(value.replace(" UTC", "+00:00"))
        else:
            return value.lower() in ("true", "false")
    except ValueError:
        return False
    return True
