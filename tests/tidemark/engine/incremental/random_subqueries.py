"""Steps of random queries with subqueries: exists, in, subqueries for a value, and lateral ones."""

from __future__ import annotations

from random import Random

from tests.tidemark.engine.incremental.random_groups import grouped
from tests.tidemark.engine.incremental.random_joins import joined
from tests.tidemark.engine.incremental.random_relations import (
    NUMBERS,
    Relation,
    condition,
    filtered,
    pair,
    pairs,
    table,
)


def exists(relation: Relation, rng: Random) -> Relation:
    """Keep the rows for which another query has rows, or has none."""
    other = rng.choice((table, lambda rng: grouped(table(rng), rng), lambda rng: joined(table(rng), rng)))(
        rng
    )
    found = pairs(relation, other)
    if not found:
        return filtered(relation, rng)
    left, right = pair(found, other, rng)
    same = f"inside.{right} {rng.choice(('=', '=', '<=>'))} outside.{left}"
    if rng.random() < 0.3:
        same += " and " + rng.choice((condition(other, rng, "inside."), condition(relation, rng, "outside.")))
    inside = f"(select 1 from ({other.sql}) as inside where {same})"
    member = f"(select inside.{right} from ({other.sql}) as inside where {condition(other, rng, 'inside.')})"
    wanted = rng.choices(
        (
            f"exists {inside}",
            f"not exists {inside}",
            f"outside.{left} in {member}",
            f"(outside.{left} in {member} or {condition(relation, rng, 'outside.')})",
            f"(exists {inside} or {condition(relation, rng, 'outside.')})",
            f"outside.{left} not in {member}",
        ),
        (4, 4, 4, 1, 1, 0.5),
    )[0]
    return Relation(
        f"select * from ({relation.sql}) as outside where {wanted}", relation.columns, relation.key
    )


def scalar(relation: Relation, rng: Random) -> Relation:
    """Compute a value of the other rows, in a column or a condition."""
    linked = _linked(relation, rng)
    if linked is None:
        return filtered(relation, rng)
    other, left, right, counted = linked
    call = rng.choice(("count({})", "count(distinct {})", "max({})"))
    kind = other.columns[counted] if call.startswith("max") else "bigint"
    where = f" where inside.{right} = outside.{left}" if rng.random() < 0.8 else ""
    if where and rng.random() < 0.3:
        where += f" and {condition(other, rng, 'inside.')}"
    value = f"(select {call.format(f'inside.{counted}')} from ({other.sql}) as inside{where})"
    if kind in NUMBERS and rng.random() < 0.4:
        sql = f"select * from ({relation.sql}) as outside where {value} > 1"
        return Relation(sql, relation.columns, relation.key)
    name = relation.fresh("value")
    sql = f"select outside.*, {value} as {name} from ({relation.sql}) as outside"
    return Relation(sql, {**relation.columns, name: kind}, relation.key)


def lateral(relation: Relation, rng: Random) -> Relation:
    """Compute a value of other rows beside each row: an aggregate, or the first row of an order."""
    linked = _linked(relation, rng)
    if linked is None:
        return filtered(relation, rng)
    other, left, right, column = linked
    name, near = relation.fresh("value"), relation.fresh("near")
    rows = f"from ({other.sql}) as inside where inside.{right} = outside.{left}"
    if rng.random() < 0.3:
        rows += f" and {condition(other, rng, 'inside.')}"
    kind, join = other.columns[column], rng.choice(("join", "left join"))
    if rng.random() < 0.6:
        call = rng.choice(("count(inside.{})", "count(*) + 1", "max(inside.{})", "count(distinct inside.{})"))
        kind = kind if call.startswith("max") else "bigint"
        query = f"select {call.format(column)} as {name} {rows}"
    else:
        order = ", ".join(f"inside.{one}" for one in (column, *(other.key or other.columns)))
        query = f"select inside.{column} as {name} {rows} order by {order} limit 1"
    outside = f"from ({relation.sql}) as outside {join} lateral ({query}) as {near} on true"
    sql = f"select outside.*, {near}.{name} {outside}"
    return Relation(sql, {**relation.columns, name: kind}, relation.key)


def _linked(relation: Relation, rng: Random) -> tuple[Relation, str, str, str] | None:
    """Return another table, a column of each by which they are linked, and a column for a value; or None."""
    other = table(rng)
    found = pairs(relation, other)
    return (other, *rng.choice(found), rng.choice(list(other.columns))) if found else None
