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


def _other(dice: Random) -> Relation:
    return dice.choice((table, table, lambda dice: grouped(table(dice), dice)))(dice)


def _both_keys(one: Relation, two: Relation, names: dict[str, str]) -> tuple[str, ...] | None:
    if one.key is None or two.key is None:
        return None
    return (*one.key, *(names[name] for name in two.key))


def _equality(one: str, two: str, kind: str, dice: Random) -> str:
    """Compare two columns of a type; a side may be an expression, which may have a value for NULL."""
    same = [template for template, other in EXPRESSIONS[kind] if other == kind]
    left, right = (dice.choice(same) if dice.random() < 0.15 else "{}" for _ in range(2))
    return f"{left.format(one)} {dice.choice(('=', '=', '=', '=', '=', '<=>'))} {right.format(two)}"


def joined(relation: Relation, dice: Random, other: Relation | None = None) -> Relation:
    """Join a table, or a group of its rows."""
    two = other or _other(dice)
    found = pairs(relation, two)
    if not found:
        return filtered(relation, dice)
    left, right = pair(found, two, dice)
    side = dice.choice(SIDES)
    on = _equality(f"one.{left}", f"two.{right}", relation.columns[left], dice)
    if dice.random() < 0.3:
        on += " and " + dice.choice((condition(relation, dice, "one."), condition(two, dice, "two.")))
    names = {name: relation.fresh(name) for name in two.columns}
    columns = {**relation.columns, **{names[name]: kind for name, kind in two.columns.items()}}
    parts = [f"one.{name}" for name in relation.columns] + [f"two.{name} as {names[name]}" for name in names]
    sql = f"select {', '.join(parts)} from ({relation.sql}) as one {side} join ({two.sql}) as two on {on}"
    return Relation(sql, columns, _both_keys(relation, two, names))


def chained(relation: Relation, dice: Random) -> Relation:
    """Join three sources in one SELECT; the last condition may name both others."""
    sources = {
        "one": narrowed(relation, dice, 3),
        "two": narrowed(_other(dice), dice, 3),
        "three": narrowed(_other(dice), dice, 3),
    }
    first = pairs(sources["one"], sources["two"])
    last = [
        (f"{alias}.{a}", f"three.{b}", sources[alias].columns[a])
        for alias in ("one", "two")
        for a, b in pairs(sources[alias], sources["three"])
    ]
    if not first or not last:
        return joined(relation, dice)
    left, right = pair(first, sources["two"], dice)
    on = " and ".join(
        _equality(*one, dice) for one in dice.sample(last, min(len(last), dice.choice((1, 1, 2))))
    )
    if dice.random() < 0.3:
        alias = dice.choice(list(sources))
        on += f" and {condition(sources[alias], dice, f'{alias}.')}"
    sides = ("inner", "left", "left", "left", "left semi", "left anti")
    if dice.random() < 0.05:
        sides = ("right", "full")  # cannot be computed for many histories at once
    side, last_side = dice.choice(("inner", "left", "left")), dice.choice(sides)
    seen = ("one", "two") if last_side in ("left semi", "left anti") else tuple(sources)
    columns = {f"{name}_{alias}": kind for alias in seen for name, kind in sources[alias].columns.items()}
    origin = {f"{name}_{alias}": f"{alias}.{name}" for alias in seen for name in sources[alias].columns}
    body = (
        f"({sources['one'].sql}) as one {side} join ({sources['two'].sql}) as two "
        f"on {_equality(f'one.{left}', f'two.{right}', sources['one'].columns[left], dice)} "
        f"{last_side} join ({sources['three'].sql}) as three on {on}"
    )
    if dice.random() < 0.2:
        alias = dice.choice(seen)
        body += f" where {condition(sources[alias], dice, f'{alias}.')}"
    if dice.random() < 0.5:
        return _chain_of_groups(columns, origin, body, dice)
    keys = [f"{name}_{alias}" for alias in seen for name in sources[alias].key or ()]
    key = None if any(sources[alias].key is None for alias in seen) else tuple(keys)
    parts = ", ".join(f"{one} as {name}" for name, one in origin.items())
    return Relation(f"select {parts} from {body}", columns, key)


def _chain_of_groups(columns: dict[str, str], origin: dict[str, str], body: str, dice: Random) -> Relation:
    """Group the rows of a chain in its own SELECT, by a column or the first of two that has a value."""
    key = dice.choice([name for name, kind in columns.items() if kind not in ("decimal", "double")])
    same = [name for name, kind in columns.items() if kind == columns[key] and name != key]
    by = origin[key]
    if same and dice.random() < 0.3:
        by = f"coalesce({by}, {origin[dice.choice(same)]})"
    counted = dice.choice(list(columns))
    call = dice.choice(("count(distinct {})", "count({})", "max({})"))
    kind = columns[counted] if call.startswith("max") else "bigint"
    sql = (
        f"select {by} as {key}, {call.format(origin[counted])} as number, count(*) as number_of_rows "
        f"from {body} group by {by}"
    )
    return Relation(sql, {key: columns[key], "number": kind, "number_of_rows": "bigint"}, (key,))


def twice(relation: Relation, dice: Random) -> Relation:
    """Join a CTE of groups with itself, or with a CTE that reads it."""
    groups = narrowed(grouped(relation, dice), dice, 4)
    read = Relation("select * from grouped", groups.columns, groups.key)
    nested = filtered(read, dice) if dice.random() < 0.5 else grouped(read, dice)
    both = joined(read, dice, Relation("select * from nested", nested.columns, nested.key))
    return Relation(
        f"with grouped as ({groups.sql}), nested as ({nested.sql}) {both.sql}", both.columns, both.key
    )


def united(relation: Relation, dice: Random) -> Relation:
    """Unite columns of two queries, or keep those of one; the second has other names."""
    other = _other(dice)
    found = pairs(relation, other, ("date", "string", "int", "bigint", "timestamp", "decimal"))
    if not found:
        return filtered(relation, dice)
    chosen = {left: right for left, right in dice.sample(found, min(len(found), dice.randint(1, 3)))}
    word = dice.choice(
        ("union all", "union all", "union all", "union", "except", "intersect", "except all", "intersect all")
    )
    more = other.sql if dice.random() < 0.5 else filtered(other, dice).sql
    sql = (
        f"select {', '.join(chosen)} from ({relation.sql}) as rows {word} "
        f"select {', '.join(chosen.values())} from ({more}) as more"
    )
    columns = {name: relation.columns[name] for name in chosen}
    key = tuple(chosen) if word in ("union", "except", "intersect") else None
    return Relation(f"select {', '.join(chosen)} from ({sql}) as united", columns, key)


def limited_union(relation: Relation, dice: Random) -> Relation:
    """Unite with the first rows of a table."""
    if not relation.of_types(("int",)):
        return filtered(relation, dice)
    name, other = relation.of_types(("int",))[0], table(dice)
    ids = other.of_types(("int",)) or ["1"]
    first = f"select {ids[0]} from ({other.sql}) as more order by 1 nulls last limit 2"
    sql = f"select {name} from ({relation.sql}) as rows union all ({first})"
    return Relation(f"select {name} from ({sql}) as united", {name: "int"}, None)
