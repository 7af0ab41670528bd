"""The models and seeds that have changed since their tables were built, and the models that read them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.base.messages import sentence
from tidemark.engine.checkpoints.rows import CODE
from tidemark.engine.decision.rebuilds import STOPS
from tidemark.engine.decision.states import FIRST_RUN, FULL, HISTORY_LOST, REBUILDS
from tidemark.engine.explain import Plan
from tidemark.engine.preview.seeds import seed_rows
from tidemark.engine.project.nodes import table_of
from tidemark.engine.runs.differences import Differences, differing
from tidemark.lake.table_format import table_exists

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NEW, REBUILT, SEED, READER, EACH_RUN = "new", "changed", "seed", "reader", "each run"
CODE_CHANGES = tuple(f"{words} has changed" for _, words in CODE)


@dataclass(frozen=True)
class Changed:
    """A table that the next run would write because of a change of the project.

    Attributes:
        table: `schema.name`.
        kind: `new` for a model without a table; `changed` for one whose code or declaration has changed;
            `seed` for one whose file has changed; `reader` for a model that reads one of these; `each run`
            for a `table`, of which it is not recorded what built it.
        why: what has changed, in words.
        reads: the changed tables that a reader reads.
        rows: the rows that would differ; None if they were not asked for, or are not known.
        number: of a new table, how many rows it would have; None as for `rows`.
        unknown: why the rows are not known; empty if they are.
        stops: whether the run stops at this model.
    """

    table: str
    kind: str
    why: str
    rows: Differences | None = None
    number: int | None = None
    unknown: str = ""
    stops: bool = False
    reads: tuple[str, ...] = ()

    @property
    def differing(self) -> int | None:
        """How many rows would differ; None if it is not known."""
        return self.number if self.rows is None else sum(self.rows.counts.values())

    @property
    def is_same(self) -> bool:
        """Whether the table would be as it is."""
        rows = self.rows
        return self.differing == 0 and rows is not None and not (rows.columns_added or rows.columns_removed)


def changed_models(
    plans: Sequence[Plan],
    below: Mapping[str, Collection[str]],
    seeds: Sequence[str] = (),
    *,
    with_tables: bool = False,
) -> list[Changed]:
    """Return the models that have changed, and those that read them or changed seeds, in the order of a run.

    Args:
        plans: what the next run would do with each model; models come after those that they read.
        below: by table, the tables that a model reads, directly and through views.
        seeds: the tables of the seeds that have changed.
        with_tables: whether models that each run builds anew are among them.
    """
    found: dict[str, Changed] = {}
    for plan in plans:
        read = sorted(below.get(plan.table, ()))
        if one := _changed(plan):
            found[plan.table] = one
        elif changed := [name for name in read if name in found or name in seeds]:
            found[plan.table] = Changed(
                plan.table, READER, f"reads {', '.join(changed)}", reads=tuple(changed)
            )
        elif plan.materialized == "table" and with_tables:
            found[plan.table] = Changed(plan.table, EACH_RUN, "each run builds it anew")
    return list(found.values())


def _changed(plan: Plan) -> Changed | None:
    if plan.failed is not None:
        return Changed(plan.table, REBUILT, "it cannot be planned", unknown=plan.failed)
    if plan.unproven:
        return None
    if plan.state == FIRST_RUN:
        return Changed(plan.table, NEW, "it is not built yet")
    is_of_code = plan.state == FULL and plan.why in CODE_CHANGES  # of a table that keeps its rows
    if is_of_code or (plan.state in REBUILDS and plan.state != HISTORY_LOST):
        return Changed(plan.table, REBUILT, plan.why.removesuffix(STOPS), stops=plan.why.endswith(STOPS))
    return None


def changed_seeds(spark: SparkSession, seeds: Sequence[Any]) -> Iterator[tuple[Changed, DataFrame | None]]:
    """Yield the seeds whose tables differ from their files, each with its rows if it can be read.

    Args:
        spark: the session.
        seeds: their nodes.
    """
    for node in seeds:
        table = table_of(node)
        try:
            rows = seed_rows(spark, node)
        except Exception as error:  # one file that cannot be read stops nothing else
            why = f"{node.original_file_path} cannot be read: {sentence(error)}"
            yield Changed(table, SEED, "its file cannot be read", unknown=why), None
            continue
        if not table_exists(spark, table):
            yield Changed(table, NEW, "it is not loaded yet", number=rows.count()), rows
            continue
        found = Changed(table, SEED, "its file has changed", differing(spark.table(table), rows, ()))
        if not found.is_same:
            yield found, rows
