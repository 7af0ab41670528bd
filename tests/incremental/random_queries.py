"""Random queries: selections, filters, joins, groups, windows and unions, nested in each other."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from python_ingest.prove.drawing import Table

TABLES = {
    "shop.sales": Table(
        "shop.sales",
        {"sale_id": "int", "day": "date", "product": "string", "amount": "decimal(10,2)", "pieces": "int"},
        ("sale_id",),
        given="ref('sales')",
    ),
    "shop.products": Table(
        "shop.products", {"product": "string", "label": "string", "family": "string"}, ("product",)
    ),
    "shop.returns": Table(
        "shop.returns",
        {"return_id": "int", "sale_id": "int", "day": "date", "score": "int"},
        ("return_id",),
        frozenset({"score"}),
    ),
}
GROUPED = ("date", "string", "int")


@dataclass(frozen=True)
class Relation:
    """A query, the types of its columns, and columns that tell its rows apart; None if rows may repeat."""

    sql: str
    columns: dict[str, str]
    key: tuple[str, ...] | None


def random_query(dice: Random) -> Relation:
    """Return a random query with a key."""
    relation = _table(dice)
    for _ in range(dice.randint(1, 3)):
        relation = dice.choice((_filter, _join, _join, _group, _window, _union, _semi, _project))(
            relation, dice
        )
    return relation if relation.key is not None else _group(relation, dice)


def _table(dice: Random) -> Relation:
    table = TABLES[dice.choice(list(TABLES))]
    return Relation(f"select {', '.join(table.columns)} from {table.name}", dict(table.columns), table.key)


def _filter(relation: Relation, dice: Random) -> Relation:
    return Relation(
        f"select * from ({relation.sql}) as rows where {_condition(relation, dice)}",
        relation.columns,
        relation.key,
    )


def _project(relation: Relation, dice: Random) -> Relation:
    columns, parts = {}, []
    for name, kind in relation.columns.items():
        columns[name] = kind
        if name in (relation.key or ()) or kind != "int" or dice.random() < 0.5:
            parts.append(name)
        else:
            parts.append(f"{name} * 2 + 1 as {name}")
    return Relation(f"select {', '.join(parts)} from ({relation.sql}) as rows", columns, relation.key)


def _join(relation: Relation, dice: Random) -> Relation:
    other = dice.choice((_table, lambda dice: _group(_table(dice), dice)))(dice)
    pairs = [
        (a, b)
        for a, kind in relation.columns.items()
        for b, same in other.columns.items()
        if kind == same in GROUPED
    ]
    if not pairs or len(relation.columns) > 9:
        return _filter(relation, dice)
    left, right = dice.choice(pairs)
    side = dice.choice(("inner", "inner", "left", "right", "full"))
    names = {name: f"{name}_{len(relation.columns)}" for name in other.columns}
    columns = {**relation.columns, **{names[name]: kind for name, kind in other.columns.items()}}
    parts = [f"one.{name}" for name in relation.columns] + [f"two.{name} as {names[name]}" for name in names]
    key = None
    if relation.key is not None and other.key is not None:
        key = (*relation.key, *(names[name] for name in other.key))
    joined = f"({relation.sql}) as one {side} join ({other.sql}) as two on one.{left} = two.{right}"
    sql = f"select {', '.join(parts)} from {joined}"
    return Relation(sql, columns, key)


def _group(relation: Relation, dice: Random) -> Relation:
    keys = [name for name, kind in relation.columns.items() if kind in GROUPED]
    chosen = dice.sample(keys, min(len(keys), dice.randint(1, 2)))
    parts, columns = list(chosen), {name: relation.columns[name] for name in chosen}
    for name, kind in relation.columns.items():
        if name in chosen or dice.random() < 0.4:
            continue
        functions = [
            "count",
            "min",
            "max",
            "count(distinct",
            *(["sum", "sum"] if kind in ("int", "decimal(10,2)") else []),
        ]
        function = dice.choice(functions)
        call = f"count(distinct {name})" if function.endswith("distinct") else f"{function}({name})"
        columns[f"{name}_of"] = kind if function in ("min", "max") else "bigint"
        parts.append(f"{call} as {name}_of")
    if dice.random() < 0.6:
        parts.append("count(*) as number_of_rows")
        columns["number_of_rows"] = "bigint"
    having = " having count(*) > 1" if dice.random() < 0.2 else ""
    return Relation(
        f"select {', '.join(parts)} from ({relation.sql}) as rows group by {', '.join(chosen)}{having}",
        columns,
        tuple(chosen),
    )


def _window(relation: Relation, dice: Random) -> Relation:
    if relation.key is None:
        return _group(relation, dice)
    by = dice.choice([name for name, kind in relation.columns.items() if kind in GROUPED])
    order = ", ".join(relation.key)
    call, kind = dice.choice(
        (("row_number()", "int"), ("count(*)", "bigint"), (f"lag({relation.key[0]})", "int"))
    )
    over = f"partition by {by}" + ("" if call == "count(*)" else f" order by {order}")
    sql = f"select *, {call} over ({over}) as windowed from ({relation.sql}) as rows"
    if "windowed" in relation.columns:
        return _filter(relation, dice)
    return Relation(sql, {**relation.columns, "windowed": kind}, relation.key)


def _union(relation: Relation, dice: Random) -> Relation:
    kind = dice.choice([kind for kind in relation.columns.values() if kind in GROUPED])
    name = next(name for name, other in relation.columns.items() if other == kind)
    other = _table(dice)
    same = [column for column, one in other.columns.items() if one == kind]
    if not same:
        return _filter(relation, dice)
    word = dice.choice(("union all", "union all", "union", "except", "intersect"))
    sql = f"select {name} from ({relation.sql}) as rows {word} select {same[0]} from ({other.sql}) as more"
    return Relation(
        f"select {name} from ({sql}) as united", {name: kind}, None if word == "union all" else (name,)
    )


def _semi(relation: Relation, dice: Random) -> Relation:
    other = _table(dice)
    pairs = [
        (a, b) for a, kind in relation.columns.items() for b, same in other.columns.items() if kind == same
    ]
    if not pairs:
        return _filter(relation, dice)
    left, right = dice.choice(pairs)
    inside = f"(select 1 from ({other.sql}) as inside where inside.{right} = outside.{left})"
    condition = dice.choice(
        (
            f"exists {inside}",
            f"not exists {inside}",
            f"outside.{left} in (select {right} from ({other.sql}) as inside)",
        )
    )
    return Relation(
        f"select * from ({relation.sql}) as outside where {condition}", relation.columns, relation.key
    )


def _condition(relation: Relation, dice: Random) -> str:
    name, kind = dice.choice(list(relation.columns.items()))
    if kind == "date":
        return f"{name} > date '2025-01-02'"
    if kind == "string":
        return dice.choice((f"{name} <> 'a'", f"{name} is not null"))
    return dice.choice((f"{name} > 1", f"{name} <= 1", f"{name} is null"))
