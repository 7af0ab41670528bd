"""What random queries are made of: the tables, and queries with the types of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from random import Random

from tidemark.engine.prove.drawing import Table

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
    "shop.payments": Table(
        "shop.payments",
        {
            "payment_id": "int",
            "sale_id": "int",
            "paid_at": "timestamp",
            "paid": "decimal(38,10)",
            "rate": "double",
            "code": "string",
        },
        ("payment_id",),
    ),
}
KEYS = ("date", "string", "int", "bigint", "timestamp")  # types of columns to join, group and partition by
NUMBERS = ("int", "bigint", "decimal", "double")
# expressions over a column by its type, and their types; `{}` is the column
EXPRESSIONS = {
    "int": (
        ("{} * 2 + 1", "int"),
        ("coalesce({}, 0)", "int"),
        ("{} % 2", "int"),
        ("case when {0} <> 0 then 100 div {0} else 0 end", "bigint"),
        ("cast({} as bigint)", "bigint"),
        ("cast({} as string)", "string"),
        ("cast({} as decimal(38,10)) / 7", "decimal"),
        ("cast({} as double)", "double"),
    ),
    "bigint": (("{} + 1", "bigint"), ("coalesce({}, 0)", "bigint"), ("if({0} > 2, null, {0})", "bigint")),
    "string": (
        ("coalesce({}, 'a')", "string"),
        ("nullif({}, 'a')", "string"),
        ("upper({})", "string"),
        ("if({0} = '1', cast({0} as int), 0)", "int"),
        ("case when {0} in ('1', '2') then cast({0} as decimal(10,2)) end", "decimal"),
    ),
    "date": (
        ("date_add({}, 1)", "date"),
        ("trunc({}, 'month')", "date"),
        ("day({})", "int"),
        ("cast({} as timestamp)", "timestamp"),
        ("coalesce({}, date '2025-01-02')", "date"),
    ),
    "timestamp": (
        ("cast({} as date)", "date"),
        ("date_trunc('day', {})", "timestamp"),
        ("hour({})", "int"),
    ),
    "decimal": (
        ("{} / 7", "decimal"),
        ("cast({} as decimal(38,10))", "decimal"),
        ("{0} * {0}", "decimal"),
        ("coalesce({}, 0)", "decimal"),
        ("cast({} as double)", "double"),
    ),
    "double": (("-{}", "double"), ("if({0} = 1, double('NaN'), {0})", "double"), ("{} * 10", "double")),
}
CONDITIONS = {
    "date": ("{} > date '2025-01-02'", "{} is null", "day({}) = 2"),
    "string": ("{} <> 'a'", "{} is not null", "{} in ('a', '1')", "coalesce({}, 'a') = 'a'"),
    "timestamp": ("cast({} as date) = date '2025-01-01'", "{} is not null"),
}
OF_NUMBERS = ("{} > 1", "{} <= 1", "{} is null", "not ({} = 1)", "({0} = 1 or {0} is null)", "{} <=> 2")


@dataclass(frozen=True)
class Relation:
    """A query, the types of its columns, and columns that tell its rows apart; None if rows may repeat."""

    sql: str
    columns: dict[str, str]
    key: tuple[str, ...] | None

    def of_types(self, kinds: tuple[str, ...]) -> list[str]:
        """Return the columns of some types."""
        return [name for name, kind in self.columns.items() if kind in kinds]

    def fresh(self, name: str) -> str:
        """Return a name for a new column."""
        return next(one for one in (f"{name}_{number}" for number in count()) if one not in self.columns)


def table(rng: Random) -> Relation:
    """Return all rows of a table."""
    one = TABLES[rng.choice(list(TABLES))]
    columns = {name: kind.partition("(")[0] for name, kind in one.columns.items()}
    return Relation(f"select {', '.join(columns)} from {one.name}", columns, one.key)


def condition(relation: Relation, rng: Random, prefix: str = "") -> str:
    """Return a condition on a column, which the name of the source may precede."""
    name, kind = rng.choice(list(relation.columns.items()))
    return rng.choice(CONDITIONS.get(kind, OF_NUMBERS)).format(prefix + name)


def expression(kind: str, rng: Random) -> tuple[str, str]:
    """Return an expression over a column `{}` of a type, and its type."""
    return rng.choice(EXPRESSIONS[kind])


def pairs(one: Relation, other: Relation, kinds: tuple[str, ...] = KEYS) -> list[tuple[str, str]]:
    """Return the pairs of columns of two queries that can be compared."""

    def family(kind: str) -> str:
        return "int" if kind == "bigint" else kind

    return [
        (left, right)
        for left in one.of_types(kinds)
        for right in other.of_types(kinds)
        if family(one.columns[left]) == family(other.columns[right])
    ]


def pair(found: list[tuple[str, str]], other: Relation, rng: Random) -> tuple[str, str]:
    """Return one of the pairs; mostly one with a column of the second query's key."""
    of_key = [one for one in found if one[1] in (other.key or ())]
    return rng.choice(of_key if of_key and rng.random() < 0.7 else found)


def filtered(relation: Relation, rng: Random) -> Relation:
    """Return some of the rows."""
    found = condition(relation, rng)
    if rng.random() < 0.2:
        found = f"({found} or {condition(relation, rng)})"
    return Relation(f"select * from ({relation.sql}) as rows where {found}", relation.columns, relation.key)


def narrowed(relation: Relation, rng: Random, most: int = 6) -> Relation:
    """Leave out columns, so that queries stay readable; the key stays."""
    key = list(relation.key or ())
    others = [name for name in relation.columns if name not in key]
    if len(relation.columns) <= most:
        return relation
    kept = [*key, *rng.sample(others, max(0, min(len(others), most - len(key))))]
    columns = {name: relation.columns[name] for name in kept}
    return Relation(f"select {', '.join(kept)} from ({relation.sql}) as rows", columns, relation.key)
