"""Write docs/coverage.md: which queries are maintained from changes, in which way, and why others are not.

The planner decides without Spark, from the text of a query, the columns of its tables and their keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.parse import parse
from tidemark.engine.incremental.proven_key import proven_key
from tidemark.engine.incremental.request import Request
from tidemark.engine.incremental.splitting import staged
from tidemark.engine.incremental.tree import Node, leaves, type_of
from tidemark.engine.incremental.unsupported import Unsupported

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/coverage.md"
MODELS = ROOT / "benchmarks/tpch/models"
CONSTRUCT = re.compile(r"^\| (?P<what>[^|]+) \| `(?P<sql>select [^|]+)` \| [^|]+ \|$", re.MULTILINE)
MONEY = "decimal(15,2)"
TPCH = {
    "customer": "c_custkey c_nationkey bigint, c_name c_address c_phone c_mktsegment c_comment string, "
    f"c_acctbal {MONEY}",
    "lineitem": "l_orderkey l_partkey l_suppkey l_linenumber bigint, l_quantity l_extendedprice l_discount "
    f"l_tax {MONEY}, l_shipdate l_commitdate l_receiptdate date, l_returnflag l_linestatus l_shipinstruct "
    "l_shipmode l_comment string",
    "nation": "n_nationkey n_regionkey bigint, n_name n_comment string",
    "orders": "o_orderkey o_custkey o_shippriority bigint, o_orderstatus o_orderpriority o_clerk o_comment "
    f"string, o_totalprice {MONEY}, o_orderdate date",
    "part": "p_partkey p_size bigint, p_name p_mfgr p_brand p_type p_container p_comment string, "
    f"p_retailprice {MONEY}",
    "partsupp": f"ps_partkey ps_suppkey ps_availqty bigint, ps_supplycost {MONEY}, ps_comment string",
    "region": "r_regionkey bigint, r_name r_comment string",
    "supplier": f"s_suppkey s_nationkey bigint, s_name s_address s_phone s_comment string, s_acctbal {MONEY}",
}
SHOP = {
    "sales": "sale_id pieces int, day date, product string, amount decimal(10,2)",
    "products": "product label family string",
    "returns": "return_id sale_id int, day date, score decimal(10,2)",
}


@dataclass(frozen=True)
class Tables:
    """A catalog of tables without views.

    Attributes:
        schema: their schema.
        texts: by table, `name name type, name type`.
    """

    schema: str
    texts: Mapping[str, str]

    def columns(self, table: str) -> dict[str, str] | None:
        """Return the types of a table's columns by name."""
        schema, _, name = table.partition(".")
        if schema != self.schema or name not in self.texts:
            return None
        found = {}
        for part in re.split(r", (?=[a-z])", self.texts[name]):
            *names, kind = part.split()
            found |= dict.fromkeys(names, kind)
        return found

    def view(self, table: str) -> str | None:
        """Return None: there are no views."""
        del table
        return None

    def group(self, function: str) -> str:
        """Return Spark's group of a function; `my_function` is a function of a user."""
        return "" if function == "my_function" else "others"


@dataclass(frozen=True)
class Covered:
    """How a query is maintained.

    Attributes:
        ways: by table, how a change of it is applied in one step.
        stages: how the query is maintained in stages after changes of all tables; empty without stages.
        refused: why the query is computed in full in each run; empty if it is not.
    """

    ways: Mapping[str, str]
    stages: str = ""
    refused: str = ""

    @property
    def is_maintained(self) -> bool:
        """Whether one step maintains the query, whichever of its tables change."""
        return not self.refused and not any(way.startswith("full") for way in self.ways.values())

    @property
    def in_words(self) -> str:
        """The ways, of tables with the same way together."""
        if self.refused:
            return f"full: {self.refused}"
        tables: dict[str, list[str]] = {}
        for table, way in self.ways.items():
            tables.setdefault(re.sub(r" \(line \d+\)", "", way), []).append(table)
        if len(tables) == 1:
            return next(iter(tables))
        return "; ".join(f"{', '.join(names)}: {way}" for way, names in tables.items())


def covered(sql: str, tables: Tables, key: Sequence[str] = ()) -> Covered:
    """Return how a query is maintained.

    Args:
        sql: the query.
        tables: what it reads.
        key: its `unique_key`; if it has none, the one that it proves.
    """
    try:
        tree = parse(sql, tables).tree
    except Unsupported as found:
        return Covered({}, refused=found.construct)
    types = _types(tree)
    request = Request(tuple(key) or proven_key(tree, {}) or (), types, frozenset())
    names = sorted({leaf.table for leaf in leaves(tree)})
    plans = {name: choose_plan(tree, _after(request, name)).how for name in names}
    ways = {name.partition(".")[2]: how for name, how in plans.items()}
    if not any(how.startswith("full") for how in plans.values()):
        return Covered(ways)
    found = staged(tree, request, lambda number: f"stages.s__{number}", _types)
    how = found.how(_after(request, *names)) if found else ""
    return Covered(ways, re.sub(r" \(line \d+\)", "", how))


def _after(request: Request, *changed: str) -> Request:
    return Request(request.key, request.types, frozenset(changed))


def _types(node: Node) -> dict[str, str]:
    """Return the types of a query's columns; of these, the ways depend on floating-point numbers alone."""
    kinds = [type_of(node, number) for number in range(len(node.names))]
    return {
        name: kind if kind in ("double", "float") else "bigint"
        for name, kind in zip(node.names, kinds, strict=True)
    }


def tpch() -> Iterator[tuple[str, Covered]]:
    """Yield the queries of TPC-H, as the models of the benchmark have them."""
    for path in sorted(MODELS.glob("q*.sql")):
        sql, key = _model(path.read_text(encoding="utf-8"))
        yield path.stem, covered(sql, Tables("tpch", TPCH), key)


def _model(text: str) -> tuple[str, list[str]]:
    """Return the SQL and the `unique_key` of a model."""
    settings: dict[str, Any] = {}

    def config(**given: Any) -> str:
        settings.update(given)
        return ""

    environment = jinja2.Environment(autoescape=False)  # noqa: S701  # it renders SQL
    environment.globals |= {
        "config": config,
        "source": lambda _, name: f"tpch.{name}",
        "env_var": lambda _, default: default,
    }
    sql = environment.from_string(text).render()
    key = settings.get("unique_key") or []
    return sql, [key] if isinstance(key, str) else key


def constructs() -> Iterator[tuple[str, Covered]]:
    """Yield the examples of docs/incremental.md."""
    page = (ROOT / "docs/incremental.md").read_text(encoding="utf-8")
    for row in CONSTRUCT.finditer(page):
        sql = re.sub(r"(\bfrom|\bjoin|,) (sales|products|returns)\b(?!\.)", r"\1 shop.\2", row["sql"])
        yield row["what"], covered(sql, Tables("shop", SHOP))


def page() -> str:
    """Return the text of the page."""
    queries, examples = list(tpch()), list(constructs())
    lines = [
        "# Coverage",
        "",
        "Which queries are maintained from the changes of their sources, and how "
        "([incremental.md](incremental.md) explains the ways).",
        "`python -m scripts.coverage` writes this page from the planner; a test compares them.",
        "",
        "## TPC-H",
        "",
        _sum(queries),
        "[The benchmark](benchmarks/tpch.md) runs them and compares each table with its rebuild.",
        "",
        "| query | one step | stages, after changes of all its tables |",
        "|---|---|---|",
        *(_row(name, one) for name, one in queries),
        "",
        "## Constructs",
        "",
        _sum(examples),
        "The examples are those of [incremental.md](incremental.md#plain-queries), without a `unique_key`.",
        "",
        "| construct | one step | stages, after changes of all its tables |",
        "|---|---|---|",
        *(_row(what, one) for what, one in examples),
    ]
    return "\n".join(lines) + "\n"


def _sum(found: Sequence[tuple[str, Covered]]) -> str:
    steps = sum(one.is_maintained for _, one in found)
    staged_ones = [one.stages for _, one in found if one.stages]
    at_times = sum("then full: " in how for how in staged_ones)
    return (
        f"Of {len(found)}, {steps} are maintained in one step, {len(staged_ones)} in stages, "
        f"{len(found) - steps - len(staged_ones)} in neither way. Of those in stages, {at_times} are "
        "computed in full when certain values change (`full` at the end)."
    )


def _row(name: str, one: Covered) -> str:
    return f"| {name} | {one.in_words} | {one.stages} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
