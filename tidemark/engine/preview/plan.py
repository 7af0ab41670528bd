"""What a change of the project would do to its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidemark.engine.explain import explain
from tidemark.engine.preview.changed import EACH_RUN, READER, Changed, changed_models, changed_seeds
from tidemark.engine.preview.rows import Preview
from tidemark.engine.project.compiled_models import compiled_models
from tidemark.engine.project.nodes import stored, table_of, tables_below

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def planned(
    spark: SparkSession,
    manifest: Any,
    selection: Sequence[str],
    variables: Mapping[str, Any] | None = None,
    *,
    with_rows: bool,
) -> Iterator[Changed]:
    """Yield the tables that the next run would write because the project has changed, in the order of a run.

    Args:
        spark: the session.
        manifest: dbt's manifest.
        selection: dbt selectors; empty for all models and seeds.
        variables: values of `--vars`.
        with_rows: whether to compute the rows that differ; nothing is written.
    """
    plans = explain(spark, selection, variables)
    below = {
        table_of(node): set(tables_below(manifest, node))
        for node in stored(manifest)
        if node.resource_type == "model"
    }
    read = {name for one in plans for name in below.get(one.table, ())}
    seeds = [
        node
        for node in stored(manifest)
        if node.resource_type == "seed" and (not selection or table_of(node) in read)
    ]
    loaded = list(changed_seeds(spark, seeds))
    yield from (one for one, _ in loaded)
    changes = changed_models(plans, below, [one.table for one, _ in loaded], with_tables=with_rows)
    if not with_rows:
        yield from changes
        return
    models = compiled_models(spark, [], "verify", variables, as_built=not variables) if changes else []
    preview = Preview(spark, {one.table: one for one in models})
    for one, rows in loaded:
        if rows is None:
            preview.lacks(one.table)
        else:
            preview.put(one.table, rows)
    as_they_are = set[str]()
    for one in preview.compared(changes):
        reads_same = one.kind == READER and as_they_are.issuperset(one.reads)
        if one.is_same and (one.kind == EACH_RUN or reads_same):
            as_they_are.add(one.table)
        else:
            yield one
