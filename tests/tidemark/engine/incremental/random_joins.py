"""Steps of random queries that combine sources: joins, chains of joins, CTEs read twice, set operations."""

from __future__ import annotations

from random import Random

from tests.tidemark.engine.incremental.random_groups import grouped
from tests.tidemark.engine.incremental.random_relations import (
    EXPRESSIONS,
    Relation,
    condition,
    filtered,
    narrowed,
    pair,
    pairs,
    table,
)

SIDES = ("inner", "inner", "inner", "left", "left", "left", "right", "full")


def _other(rng: Random) -> Relation:
    return rng.choice((table, table, lambda rng: grouped(table(rng), rng)))(rng)


def _both_keys(one: Relation, two: Relation, names: dict[str, str]) -> tuple[str, ...] | None:
    if one.key is None or two.key is None:
        return None
    return (*one.key, *(names[name] for name in two.key))


def _equality(one: str, two: str, kind: str, rng: Random) -> str:
    """Compare two columns of a type; a side may be an expression, which may have a value for NULL."""
    same = [template for template, other in EXPRESSIONS[kind] if other == kind]
    left, right = (rng.choice(same) if rng.random() < 0.15 else "{}" for _ in range(2))
    return f"{left.format(one)} {rng.choice(('=', '=', '=', '=', '=', '<=>'))} {right.format(two)}"


def joined(relation: Relation, rng: Random, other: Relation | None = None) -> Relation:
    """Join a table, or a group of its rows."""
    two = other or _other(rng)
    found = pairs(relation, two)
    if not found:
        return filtered(relation, rng)
    left, right = pair(found, two, rng)
    side = rng.choice(SIDES)
    on = _equality(f"one.{left}", f"two.{right}", relation.columns[left], rng)
    if rng.random() < 0.3:
        on += " and " + rng.choice((condition(relation, rng, "one."), condition(two, rng, "two.")))
    names = {name: relation.fresh(name) for name in two.columns}
    columns = {**relation.columns, **{names[name]: kind for name, kind in two.columns.items()}}
    parts = [f"one.{name}" for name in relation.columns] + [f"two.{name} as {names[name]}" for name in names]
    sql = f"select {', '.join(parts)} from ({relation.sql}) as one {side} join ({two.sql}) as two on {on}"
    return Relation(sql, columns, _both_keys(relation, two, names))


def chained(relation: Relation, rng: Random) -> Relation:
    """Join three sources in one SELECT; the last condition may name both others."""
    sources = {
        "one": narrowed(relation, rng, 3),
        "two": narrowed(_other(rng), rng, 3),
        "three": narrowed(_other(rng), rng, 3),
    }
    first = pairs(sources["one"], sources["two"])
    last = [
        (f"{alias}.{a}", f"three.{b}", sources[alias].columns[a])
        for alias in ("one", "two")
        for a, b in pairs(sources[alias], sources["three"])
    ]
    if not first or not last:
        return joined(relation, rng)
    left, right = pair(first, sources["two"], rng)
    on = " and ".join(_equality(*one, rng) for one in rng.sample(last, min(len(last), rng.choice((1, 1, 2)))))
    if rng.random() < 0.3:
        alias = rng.choice(list(sources))
        on += f" and {condition(sources[alias], rng, f'{alias}.')}"
    sides = ("inner", "left", "left", "left", "left semi", "left anti")
    if rng.random() < 0.05:
        sides = ("right", "full")  # cannot be computed for many histories at once
    side, last_side = rng.choice(("inner", "left", "left")), rng.choice(sides)
    seen = ("one", "two") if last_side in ("left semi", "left anti") else tuple(sources)
    columns = {f"{name}_{alias}": kind for alias in seen for name, kind in sources[alias].columns.items()}
    origin = {f"{name}_{alias}": f"{alias}.{name}" for alias in seen for name in sources[alias].columns}
    body = (
        f"({sources['one'].sql}) as one {side} join ({sources['two'].sql}) as two "
        f"on {_equality(f'one.{left}', f'two.{right}', sources['one'].columns[left], rng)} "
        f"{last_side} join ({sources['three'].sql}) as three on {on}"
    )
    if rng.random() < 0.2:
        alias = rng.choice(seen)
        body += f" where {condition(sources[alias], rng, f'{alias}.')}"
    if rng.random() < 0.5:
        return _chain_of_groups(columns, origin, body, rng)
    keys = [f"{name}_{alias}" for alias in seen for name in sources[alias].key or ()]
    key = None if any(sources[alias].key is None for alias in seen) else tuple(keys)
    parts = ", ".join(f"{one} as {name}" for name, one in origin.items())
    return Relation(f"select {parts} from {body}", columns, key)


def _chain_of_groups(columns: dict[str, str], origin: dict[str, str], body: str, rng: Random) -> Relation:
    """Group the rows of a chain in its own SELECT, by a column or the first of two that has a value."""
    key = rng.choice([name for name, kind in columns.items() if kind not in ("decimal", "double")])
    same = [name for name, kind in columns.items() if kind == columns[key] and name != key]
    by = origin[key]
    if same and rng.random() < 0.3:
        by = f"coalesce({by}, {origin[rng.choice(same)]})"
    counted = rng.choice(list(columns))
    call = rng.choice(("count(distinct {})", "count({})", "max({})"))
    kind = columns[counted] if call.startswith("max") else "bigint"
    sql = (
        f"select {by} as {key}, {call.format(origin[counted])} as number, count(*) as number_of_rows "
        f"from {body} group by {by}"
    )
    return Relation(sql, {key: columns[key], "number": kind, "number_of_rows": "bigint"}, (key,))


def twice(relation: Relation, rng: Random) -> Relation:
    """Join a CTE of groups with itself, or with a CTE that reads it."""
    groups = narrowed(grouped(relation, rng), rng, 4)
    read = Relation("select * from grouped", groups.columns, groups.key)
    nested = filtered(read, rng) if rng.random() < 0.5 else grouped(read, rng)
    both = joined(read, rng, Relation("select * from nested", nested.columns, nested.key))
    return Relation(
        f"with grouped as ({groups.sql}), nested as ({nested.sql}) {both.sql}", both.columns, both.key
    )


def united(relation: Relation, rng: Random) -> Relation:
    """Unite columns of two queries, or keep those of one; the second has other names."""
    other = _other(rng)
    found = pairs(relation, other, ("date", "string", "int", "bigint", "timestamp", "decimal"))
    if not found:
        return filtered(relation, rng)
    chosen = {left: right for left, right in rng.sample(found, min(len(found), rng.randint(1, 3)))}
    word = rng.choice(
        ("union all", "union all", "union all", "union", "except", "intersect", "except all", "intersect all")
    )
    more = other.sql if rng.random() < 0.5 else filtered(other, rng).sql
    sql = (
        f"select {', '.join(chosen)} from ({relation.sql}) as rows {word} "
        f"select {', '.join(chosen.values())} from ({more}) as more"
    )
    columns = {name: relation.columns[name] for name in chosen}
    key = tuple(chosen) if word in ("union", "except", "intersect") else None
    return Relation(f"select {', '.join(chosen)} from ({sql}) as united", columns, key)


def limited_union(relation: Relation, rng: Random) -> Relation:
    """Unite with the first rows of a table."""
    if not relation.of_types(("int",)):
        return filtered(relation, rng)
    name, other = relation.of_types(("int",))[0], table(rng)
    ids = other.of_types(("int",)) or ["1"]
    first = f"select {ids[0]} from ({other.sql}) as more order by 1 nulls last limit 2"
    sql = f"select {name} from ({relation.sql}) as rows union all ({first})"
    return Relation(f"select {name} from ({sql}) as united", {name: "int"}, None)
