"""Random queries: selections, filters, joins, groups, windows and unions, nested in each other."""

from __future__ import annotations

from random import Random

from tests.tidemark.engine.incremental import random_joins, random_subqueries
from tests.tidemark.engine.incremental.random_groups import (
    distinct,
    grouped,
    grouped_windows,
    windowed,
)
from tests.tidemark.engine.incremental.random_relations import (
    TABLES,
    Relation,
    expression,
    filtered,
    narrowed,
    table,
)

__all__ = ["TABLES", "Relation", "random_query"]
STEPS = {
    filtered: 2,
    random_joins.joined: 4,
    random_joins.chained: 3,
    random_joins.twice: 2,
    random_joins.united: 3,
    random_joins.limited_union: 0.3,
    grouped: 4,
    grouped_windows: 2,
    distinct: 1,
    windowed: 3,
    random_subqueries.exists: 3,
    random_subqueries.scalar: 2,
    random_subqueries.lateral: 1.5,
}


def random_query(rng: Random) -> Relation:
    """Return a random query; one in two of those that may give equal rows stays without a key."""
    relation = table(rng)
    steps = [*STEPS, projected, guarded]
    weights = [*STEPS.values(), 2, 1]
    for step in rng.choices(steps, weights, k=rng.choice((1, 1, 2, 2, 3))):
        relation = narrowed(step(relation, rng), rng)
    return relation if relation.key is not None or rng.random() < 0.5 else grouped(relation, rng)


def projected(relation: Relation, rng: Random) -> Relation:
    """Compute expressions of some columns; those of the key stay as they are, or are doubled."""
    columns, parts = {}, []
    for name, kind in relation.columns.items():
        template, other = "{}", kind
        if name in (relation.key or ()):
            template = "{} * 2 + 1" if kind == "int" and rng.random() < 0.2 else template
        elif rng.random() < 0.5:
            template, other = expression(kind, rng)
        columns[name] = other
        parts.append(f"{template.format(name)} as {name}")
    return Relation(f"select {', '.join(parts)} from ({relation.sql}) as rows", columns, relation.key)


def guarded(relation: Relation, rng: Random) -> Relation:
    """Compute what would fail for rows that a condition leaves out."""
    numbers, texts = relation.of_types(("int",)), relation.of_types(("string",))
    name = relation.fresh("guarded")
    if texts and (not numbers or rng.random() < 0.5):
        of = rng.choice(texts)
        call, kind, where = f"cast({of} as int)", "int", f"{of} in ('1', '2')"
    elif numbers:
        of = rng.choice(numbers)
        call, kind, where = f"100 div {of}", "bigint", f"{of} <> 0"
    else:
        return filtered(relation, rng)
    sql = f"select *, {call} as {name} from ({relation.sql}) as rows where {where}"
    if rng.random() < 0.5:
        sql = (
            f"select *, {call} as {name} from (select * from ({relation.sql}) as rows where {where}) as rows"
        )
    return Relation(sql, {**relation.columns, name: kind}, relation.key)
