"""Rules of the engine, broken on purpose: how many of them do random histories find?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from sqlglot import exp

from tests.tidemark.engine.incremental.random_queries import Relation, random_query
from tests.tidemark.engine.incremental.random_relations import KEYS, pairs, table
from tidemark.engine.incremental import (
    deltas,
    equalities,
    folding,
    links,
    plan,
    regions,
    shape,
    trace,
)
from tidemark.engine.incremental.readings import changed_rows, present
from tidemark.engine.incremental.tree import Leaf, Node, render

Break = Callable[[pytest.MonkeyPatch], None]


def _only(condition: str) -> Callable[..., exp.Select]:
    """Return a reading of the changed rows that meet a condition on their kind."""

    def read(leaf: Leaf, *, signed: bool = False) -> exp.Select:
        return changed_rows(leaf, signed=signed).where(condition)

    return read


def _without_deletes(patch: pytest.MonkeyPatch) -> None:
    for place in (regions, deltas):
        patch.setattr(place, "changed_rows", _only("_change_type <> 'delete'"))


def _without_preimages(patch: pytest.MonkeyPatch) -> None:
    for place in (regions, deltas):
        patch.setattr(place, "changed_rows", _only("_change_type <> 'update_preimage'"))


def _without_postimages(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(regions, "changed_rows", _only("_change_type <> 'update_postimage'"))


def _present_alone(patch: pytest.MonkeyPatch) -> None:
    def read(self: Any, node: Node) -> exp.Query:
        return render(node, present)

    patch.setattr(regions.Regions, "_present_and_previous", read)


def _previous_alone(patch: pytest.MonkeyPatch) -> None:
    def read(self: Any, node: Node) -> exp.Query:
        return render(node, regions.previous)

    patch.setattr(regions.Regions, "_present_and_previous", read)


def _one_side(patch: pytest.MonkeyPatch) -> None:
    right = regions.Regions.touched

    def touched(self: regions.Regions) -> exp.Query:
        every = regions._changed_leaves
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(regions, "_changed_leaves", lambda root, changed: every(root, changed)[:1])
            return right(self)

    patch.setattr(regions.Regions, "touched", touched)


def _no_asymmetry(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(deltas, "previous", present)


def _row_by_row(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shape.Shape, "hides", lambda self, expression: None)


def _inner(patch: pytest.MonkeyPatch) -> None:
    for place in (trace, equalities, links):
        if hasattr(place, "null_supplied"):
            patch.setattr(place, "null_supplied", lambda block: set())


def _linear(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(deltas, "LINEAR", (*deltas.LINEAR, "left", "semi"))


def _none_lost(patch: pytest.MonkeyPatch) -> None:
    right = folding._new_value
    patch.setattr(folding, "_new_value", lambda *given: (right(*given)[0], None))


def _none_suspect(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(plan, "suspects", lambda aggregate: "false")


def _empty_groups(patch: pytest.MonkeyPatch) -> None:
    right = plan.folded
    patch.setattr(
        plan,
        "folded",
        lambda *given: right(*given).replace(f"= 0 as {folding.DELETED}", f"is null as {folding.DELETED}"),
    )


def _null_groups(patch: pytest.MonkeyPatch) -> None:
    right = plan.folded
    patch.setattr(plan, "folded", lambda *given: right(*given).replace("<=> present.", "= present."))


def _null_regions(patch: pytest.MonkeyPatch) -> None:
    right = plan.Plan.recomputed

    def recomputed(self: plan.Plan, *given: Any) -> str:
        return right(self, *given).replace("<=> touched.", "= touched.")

    patch.setattr(plan.Plan, "recomputed", recomputed)


RULES: dict[str, Break] = {
    "deleted rows are forgotten": _without_deletes,
    "rows before an update are forgotten": _without_preimages,
    "rows after an update are forgotten": _without_postimages,
    "only one source's changes are traced": _one_side,
    "joined sources are read as they are now": _present_alone,
    "joined sources are read as they were": _previous_alone,
    "a join adds both changes to present rows": _no_asymmetry,
    "an outer join is taken for an inner one": _inner,
    "a left or semi join is taken row by row": _linear,
    "a window or a group is taken row by row": _row_by_row,
    "no minimum is lost": _none_lost,
    "no group is suspected to lose a value": _none_suspect,
    "empty groups stay": _empty_groups,
    "groups of NULL are not found": _null_groups,
    "regions of NULL are not recomputed": _null_regions,
}


@contextmanager
def broken(rule: str) -> Iterator[None]:
    """Break a rule while the context is open."""
    with pytest.MonkeyPatch.context() as patch:
        forget()
        RULES[rule](patch)
        yield
    forget()


def forget() -> None:
    """Forget what was found about queries with other rules."""
    for found in (equalities.equalities, regions._traces, regions._tracers):
        found.cache_clear()


def queries(seed: object) -> Iterator[Relation]:
    """Yield random queries, without end."""
    number = 0
    while True:
        yield random_query(Random(f"{seed} {number}"))
        number += 1


def two_sided_queries(seed: object) -> Iterator[Relation]:
    """Yield random queries, without end, that group by a column of each of two or three joined tables."""
    number = 0
    while True:
        rng = Random(f"{seed} {number}")
        number += 1
        one, two, three = (table(rng) for _ in range(3))
        first, last = pairs(one, two), pairs(two, three)
        if not first or not last:
            continue
        (left, right), (middle, end) = rng.choice(first), rng.choice(last)
        side = rng.choice(("inner", "inner", "left"))
        body = f"({one.sql}) as one {side} join ({two.sql}) as two on one.{left} = two.{right}"
        tables = {"one": one, "two": two}
        if rng.random() < 0.4:
            tables["three"] = three
            body += f" inner join ({three.sql}) as three on two.{middle} = three.{end}"
        keys = {alias: rng.choice(of.of_types(KEYS)) for alias, of in tables.items()}
        alias, counted = rng.choice([(alias, name) for alias, of in tables.items() for name in of.columns])
        by = ", ".join(f"{source}.{name}" for source, name in keys.items())
        names = ", ".join(f"{source}.{name} as {name}_{source}" for source, name in keys.items())
        columns = {f"{name}_{source}": tables[source].columns[name] for source, name in keys.items()}
        yield Relation(
            f"select {names}, count(distinct {alias}.{counted}) as number from {body} group by {by}",
            {**columns, "number": "bigint"},
            tuple(columns),
        )
