"""The drawn rows of sources as views, and the values that a query compares them with."""

from __future__ import annotations

import datetime
import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from tidemark.engine.incremental.readings import present
from tidemark.engine.incremental.tree import Node, render
from tidemark.engine.prove.drawing import Drawn, Row, Table
from tidemark.engine.prove.lifting import HISTORIES, HISTORY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(
    spark: SparkSession,
    tables: Mapping[str, Table],
    drawn: Drawn,
    *,
    without: Collection[int] = (),
    backwards: bool = False,
) -> dict[str, dict[str, str]]:
    """Make views of the drawn rows, and return what reads each table.

    Args:
        spark: the session.
        tables: the sources by name.
        drawn: the histories of each source.
        without: histories that are left out.
        backwards: make views of the present rows alone, in the opposite order.
    """
    number_of_histories = max((len(one) for one in drawn.values()), default=0)
    own = [{HISTORY: one} for one in range(number_of_histories) if one not in without]
    spark.sql(values_sql(own, {HISTORY: "int"})).createOrReplaceTempView(HISTORIES)
    readings: dict[str, dict[str, str]] = {
        HISTORIES: dict.fromkeys(("present", "previous", "changes"), HISTORIES)
    }
    for number, (name, histories) in enumerate(drawn.items()):
        table = tables[name]
        columns = {**table.columns, HISTORY: "int"}
        views = {}
        for part in ("present",) if backwards else ("previous", "present", "changes"):
            types = {**columns, "_change_type": "string"} if part == "changes" else columns
            rows = [
                {**row, HISTORY: index}
                for index, history in enumerate(histories)
                if index not in without
                for row in getattr(history, part)
            ]
            if backwards:
                rows.reverse()
            kept = " and ".join(f"coalesce({check}, true)" for check in table.checks) or "true"
            views[part] = f"prove_{'backwards' if backwards else part}_{number}"
            spark.sql(
                f"select * from ({values_sql(rows, types)}) as rows where {kept}"
            ).createOrReplaceTempView(views[part])
        readings[name] = views
    return readings


def values_sql(rows: Sequence[Row], types: Mapping[str, str]) -> str:
    """Return a query of given rows, as one JSON text, so that Spark knows how few they are.

    Args:
        rows: the rows.
        types: the types of their columns.
    """
    text = json.dumps(rows, default=str).replace("\\", "\\\\").replace("'", "\\'")
    schema = ", ".join(f"`{name}`: {kind}" for name, kind in types.items())
    return f"select inline(from_json('{text}', 'array<struct<{schema}>>', map('mode', 'FAILFAST')))"


def literals_of(node: Node) -> dict[str, list[Any]]:
    """Return the values that a query names, by family of type, so that its conditions are met."""
    found: dict[str, set[Any]] = {"text": set(), "number": set(), "date": set()}
    query = render(node, present)
    for literal in query.find_all(exp.Literal):
        if not literal.is_string:
            found["number"].add(float(literal.this) if "." in literal.this else int(literal.this))
            continue
        found["text"].add(literal.this)
        try:
            found["date"].add(datetime.date.fromisoformat(literal.this))
        except ValueError:
            continue
    return {family: sorted(values) for family, values in found.items()}
