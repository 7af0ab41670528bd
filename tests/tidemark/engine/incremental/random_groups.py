"""Steps of random queries that put rows into groups: aggregates, windows, windows over groups, distinct."""

from __future__ import annotations

from random import Random

from tests.tidemark.engine.incremental.random_relations import (
    KEYS,
    NUMBERS,
    Relation,
    condition,
    expression,
    filtered,
    table,
)


def grouped(relation: Relation, rng: Random) -> Relation:
    """Group by columns or expressions."""
    if not relation.of_types(KEYS):
        relation = table(rng)
    keys = {}
    for name in _some_keys(relation, rng, 2):
        template, kind = "{}", relation.columns[name]
        if rng.random() < 0.2:
            template, other = expression(kind, rng)
            template, kind = (template, other) if other in KEYS else ("{}", kind)
        keys[name] = (template.format(name), kind)
    columns = {name: kind for name, (_, kind) in keys.items()}
    measures = _measures(relation, rng, columns)
    parts = [*(f"{one} as {name}" if one != name else name for name, (one, _) in keys.items()), *measures]
    having = ""
    if rng.random() < 0.2:
        conditions = ("count(*) > 1", "count(*) % 2 = 1", f"max({next(iter(keys))}) is not null")
        having = f" having {rng.choice(conditions)}"
    where = f" where {condition(relation, rng)}" if rng.random() < 0.2 else ""
    by = ", ".join(one for one, _ in keys.values())
    sql = f"select {', '.join(parts)} from ({relation.sql}) as rows{where} group by {by}{having}"
    return Relation(sql, columns, tuple(keys))


def _some_keys(relation: Relation, rng: Random, most: int) -> list[str]:
    names = relation.of_types(KEYS)
    return rng.sample(names, min(len(names), rng.randint(1, most)))


def _measures(relation: Relation, rng: Random, columns: dict[str, str]) -> list[str]:
    """Return aggregates of a query's other columns, and put their types into `columns`."""
    parts = []
    folds = rng.random() < 0.5  # so that groups are not recomputed for one measure among many
    for name, kind in relation.columns.items():
        if name in columns or rng.random() < 0.4:
            continue
        total = kind if kind in ("double", "decimal") else "bigint"
        average = "decimal" if kind == "decimal" else "double"
        calls = [("count({})", "bigint"), ("min({})", kind), ("max({})", kind)]
        if not folds:
            calls.append(("count(distinct {})", "bigint"))
        if kind in NUMBERS:
            calls += [("sum({})", total), ("sum({})", total)]
            calls += [] if folds else [("avg({})", average)]
            calls.append(("coalesce(sum({}), 0)", total))
            calls.append((f"sum({{}}) filter (where {condition(relation, rng)})", total))
        call, result = rng.choice(calls)
        measure = relation.fresh(f"{name}_of")
        columns[measure] = result
        parts.append(f"{call.format(name)} as {measure}")
        if call == "sum({})" and rng.random() < 0.5:
            counted, mean = relation.fresh(f"{name}_counted"), relation.fresh(f"{name}_mean")
            columns |= {counted: "bigint", mean: average}
            parts += [f"count({name}) as {counted}", f"avg({name}) as {mean}"]
    if rng.random() < 0.6:
        name = relation.fresh("rows")
        parts.append(f"count(*) as {name}")
        columns[name] = "bigint"
    return parts


def distinct(relation: Relation, rng: Random) -> Relation:
    """Select some columns, each combination once."""
    names = rng.sample(list(relation.columns), min(len(relation.columns), rng.randint(1, 3)))
    columns = {name: relation.columns[name] for name in names}
    return Relation(
        f"select distinct {', '.join(names)} from ({relation.sql}) as rows", columns, tuple(names)
    )


def windowed(relation: Relation, rng: Random) -> Relation:
    """Add a function over a window, whose order leaves no tie."""
    if relation.key is None or not relation.of_types(KEYS):
        return grouped(relation, rng)
    by, order = ", ".join(_some_keys(relation, rng, 2)), ", ".join(relation.key)
    other = rng.choice(list(relation.columns))
    numbers = relation.of_types(("int", "bigint", "decimal"))
    calls = [
        ("row_number()", "int", True),
        ("count(*)", "bigint", False),
        (f"lag({other})", relation.columns[other], True),
        (f"max({other})", relation.columns[other], rng.random() < 0.5),
    ]
    if numbers:
        number = rng.choice(numbers)
        total = "decimal" if relation.columns[number] == "decimal" else "bigint"
        calls.append((f"sum({number})", total, rng.random() < 0.5))
    call, kind, is_ordered = rng.choice(calls)
    name = relation.fresh("windowed")
    over = f"partition by {by}" + (f" order by {order}" if is_ordered else "")
    sql = f"select *, {call} over ({over}) as {name} from ({relation.sql}) as rows"
    return Relation(sql, {**relation.columns, name: kind}, relation.key)


def grouped_windows(relation: Relation, rng: Random) -> Relation:
    """Group, with a window over the groups in the same SELECT; or group what a window gives."""
    if rng.random() < 0.4:
        return grouped(windowed(relation, rng), rng)
    keys = _some_keys(relation, rng, 3)
    if not keys:
        return filtered(relation, rng)
    by = rng.choice(keys)
    call, kind = rng.choice(
        (
            (f"row_number() over (partition by {by} order by count(*), {', '.join(keys)})", "int"),
            (f"sum(count(*)) over (partition by {by})", "bigint"),
            (f"max({by}) over (partition by {by}, count(*))", relation.columns[by]),
        )
    )
    number, over = relation.fresh("number"), relation.fresh("over_groups")
    columns = {**{name: relation.columns[name] for name in keys}, number: "bigint", over: kind}
    names = ", ".join(keys)
    sql = (
        f"select {names}, count(*) as {number}, {call} as {over} "
        f"from ({relation.sql}) as rows group by {names}"
    )
    return Relation(sql, columns, tuple(keys))
