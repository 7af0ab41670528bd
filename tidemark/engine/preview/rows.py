"""The rows in which tables would differ if their models' present code had built them.

Each query reads the versions of its sources that its table was made from, so that new data is not counted as
a change. Where a table above it would be another one, it reads the rows that this would have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from tidemark.base.messages import first_sentence, sentence
from tidemark.engine.decision.ways import MERGE
from tidemark.engine.incremental.canonical import quoted
from tidemark.engine.incremental.pinning import replaced
from tidemark.engine.preview.changed import NEW, READER, Changed
from tidemark.engine.project.compiled import Compiled
from tidemark.engine.project.nodes import VIEWS
from tidemark.engine.project.sql_header import created_for
from tidemark.engine.runs.differences import ADDED, CHANGED, REMOVED, Differences, differing
from tidemark.engine.verify.verify import NOT_STORED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SAME = Differences({ADDED: 0, REMOVED: 0, CHANGED: 0})


@dataclass
class Preview:
    """Computes what changed models give.

    Attributes:
        spark: the session.
        models: the compiled models by table, in the order of a run; each reads its sources in full, at the
            versions that its table was made from.
    """

    spark: SparkSession
    models: Mapping[str, Compiled]
    _views: dict[str, str] = field(default_factory=dict)
    _not_known: dict[str, str] = field(default_factory=dict)  # why the rows of a table or view are not known
    _kept: list[DataFrame] = field(default_factory=list)

    def put(self, table: str, rows: DataFrame) -> None:
        """Let the models that follow read rows in the place of a table."""
        view = f"__tidemark_plan_{len(self._views)}"
        rows.createOrReplaceTempView(view)
        self._views[table.lower()] = view

    def lacks(self, table: str) -> None:
        """Note that nobody knows which rows a table would have, so that those that read it are not known."""
        self._not_known[table.lower()] = f"its rows depend on those of {table}, which are not known"

    def compared(self, changes: Sequence[Changed]) -> Iterator[Changed]:
        """Yield changes with the rows that differ.

        Args:
            changes: the changed models and their readers, in the order of a run.
        """
        waiting = {one.table: one for one in changes}
        try:
            for table, model in self.models.items():
                if model.materialized in VIEWS and model.failed is None:
                    self._put_view(model)
                elif table in waiting:
                    found = self._compared(waiting.pop(table), model)
                    if found.unknown:
                        self.lacks(table)
                    yield found
            for one in waiting.values():
                yield replace(one, unknown=one.unknown or "it is not among the compiled models")
        finally:
            for view in self._views.values():
                self.spark.catalog.dropTempView(view)
            for rows in self._kept:
                rows.unpersist()

    def _put_view(self, model: Compiled) -> None:
        try:
            why = self._depends(model)
            if not why:
                self.put(model.table, self._query(model))
        except Exception:  # what reads it is not known; the others are
            why = f"its rows depend on {model.table}, which cannot be computed"
        if why:
            self._not_known[model.table.lower()] = why

    def _depends(self, model: Compiled) -> str:
        """Return which table or view that a model reads has rows that are not known; empty if none has."""
        for name, why in self._not_known.items():
            if replaced(model.sql, {name: "__not_known"}) != model.sql:
                return why
        return ""

    def _compared(self, change: Changed, model: Compiled) -> Changed:
        try:
            unknown = change.unknown or _unknown(model) or self._depends(model)
            if unknown:
                return replace(change, unknown=unknown)
            if change.kind == READER and replaced(model.sql, self._views) == model.sql:
                return replace(change, rows=SAME)
            return self._differing(change, model)
        except Exception as error:  # one model that cannot be compared stops no other
            return replace(change, unknown=sentence(error))

    def _differing(self, change: Changed, model: Compiled) -> Changed:
        after = self._query(model).persist()
        self._kept.append(after)
        if model.key and (repeated := _repeated(after, model.key)):
            why = f"{repeated} have one {', '.join(model.key)}, so the run stops"
            return replace(change, unknown=why, stops=True)
        if change.kind == NEW:
            self.put(model.table, after)
            return replace(change, number=after.count())
        before = self.spark.table(model.table)
        kinds = (ADDED, CHANGED) if model.way.accumulates else (ADDED, REMOVED, CHANGED)
        found = replace(change, rows=differing(before, after, model.key, kinds, rounded=True))
        if not found.is_same:
            self.put(model.table, after)
        return found

    def _query(self, model: Compiled) -> DataFrame:
        with created_for(self.spark, model.header):
            rows = self.spark.sql(replaced(model.sql, self._views))
        if model.way.name != MERGE:
            return rows
        return (rows.where("not _is_deleted") if "_is_deleted" in rows.columns else rows).drop(*NOT_STORED)


def _unknown(model: Compiled) -> str:
    if model.failed is not None:
        return f"it does not compile: {first_sentence(model.failed)}"
    return model.needs_variables or (model.way.why_unproven if model.is_unproven else "")


def _repeated(rows: DataFrame, key: Sequence[str]) -> str:
    """Return how many rows share their key with another one, in words; empty if none does."""
    groups = rows.groupBy(*map(quoted, key)).count().where("count > 1")
    found = groups.agg(f.sum("count").alias("rows")).first()
    number = int(found["rows"] or 0) if found else 0
    return f"{number:,} rows" if number else ""
