"""What a Spark in another process tells of tables, functions and queries, by statements of SQL alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot.errors import SqlglotError

from tidemark.engine.incremental.analysis import Analysed
from tidemark.engine.incremental.session_catalog import SessionCatalog, of_notation
from tidemark.engine.incremental.unsupported import Unsupported
from tidemark.lake.delta_log import has_jvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BUILTIN = "org.apache.spark.sql.catalyst.expressions."
# by group, the functions whose class is not in the package of their group
GROUPS = {
    "agg_funcs": ("BitmapAndAgg", "BitmapConstructAgg", "BitmapOrAgg", "Grouping", "GroupingID"),
    "window_funcs": (
        *("RowNumber", "Rank", "DenseRank", "PercentRank", "CumeDist"),
        *("NTile", "Lag", "Lead", "NthValue"),
    ),
    "generator_funcs": (
        *("ExplodeExpressionBuilder", "PosExplodeExpressionBuilder", "InlineExpressionBuilder"),
        *("Stack", "SQLKeywords", "Collations"),
    ),
}
ANALYSED = "== Analyzed Logical Plan =="
OPTIMIZED = "== Optimized Logical Plan =="
PHYSICAL = "== Physical Plan =="
NUMBER = re.compile(r"\w*#(\d+)L?")
OPERATOR = re.compile(r"^(?P<depth>[\s:+|'-]*)(?P<name>[A-Za-z]+)(?P<rest>.*)")
KIND = re.compile(r": ([^:]*?)(?=, [^:,]*:|$)")  # in `a: int, b: decimal(10,2)`
OF_ICEBERG = "# Detailed View Information"  # of a view in a catalog of Iceberg, without its text
DEFINITION = re.compile(r" (\d+)")

Row = Mapping[str, Any]


@dataclass
class StatementCatalog:
    """Describes the tables, functions and queries of a server, each table once.

    Attributes:
        run: runs a statement and returns its rows; raises an error if it fails.
        known: the rows of `describe extended` of each table.
        groups: the groups of the functions.
        never_null: no columns: `describe` does not tell which ones are declared NOT NULL.
    """

    run: Callable[[str], Iterable[Row]]
    known: dict[str, dict[str, str] | None] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    never_null: set[str] = field(default_factory=set)
    groups: dict[str, str] = field(default_factory=dict)

    def columns(self, table: str) -> dict[str, str] | None:
        """Return the types of a table's or view's columns, by name; None if there is no such table."""
        if table not in self.known:
            self.known[table] = self._described(table)
        return self.known[table]

    def view(self, table: str) -> str | None:
        """Return the query of a view; None for a table."""
        self.columns(table)
        return self.views.get(table)

    def group(self, function: str) -> str:
        """Return Spark's group of a function; empty for a user-defined function."""
        if function not in self.groups:
            self.groups[function] = self._group(function)
        return self.groups[function]

    def _group(self, function: str) -> str:
        for row in self.run(f"describe function {function}"):
            name, _, value = str(row["function_desc"]).partition(": ")
            if name == "Class" and value.startswith(BUILTIN):
                return _group_of(value.removeprefix(BUILTIN))
        return ""

    def analysed(self, sql: str) -> Analysed:
        """Return a query's optimized plan, with its expressions numbered in their order.

        Spark's optimizer takes the notation out. It also looks at the data: a plan with rows that are not in
        the query says nothing about it.

        Raises:
            Unsupported: if Spark does not explain the query, or answers it from statistics.
        """
        text = "\n".join(str(row["plan"]) for row in self.run(f"explain extended {sql}"))
        analysed, found, rest = text.partition(ANALYSED)[2].partition(OPTIMIZED)
        optimized, ends, _ = rest.partition(PHYSICAL)
        if not found or not ends or " more fields" in text:
            raise Unsupported("a query that Spark does not explain")
        if "LocalRelation" in optimized and "LocalRelation" not in analysed:
            raise Unsupported("a query that Spark answers without reading its tables")
        numbers: dict[str, int] = {}
        plain = NUMBER.sub(lambda one: f"#{numbers.setdefault(one[1], len(numbers))}", optimized)
        operators = _operators(analysed)
        types = tuple(KIND.findall(analysed.strip().partition("\n")[0].lower()))
        return Analysed(of_notation(plain), types, operators["Aggregate"], operators["Window"])

    def _described(self, table: str) -> dict[str, str] | None:
        try:
            found = self.run(f"describe extended {table}")
        except Exception:  # there is no such table
            return None
        rows = [(str(row["col_name"] or ""), str(row["data_type"])) for row in found]
        columns = [*takewhile(lambda row: row[0] and not row[0].startswith("#"), rows)]
        facts = dict(rows[len(columns) :])
        if facts.get("Type") == "VIEW":
            self.views[table] = facts["View Text"]
        elif OF_ICEBERG in facts:
            (created,) = self.run(f"show create table {table}")
            self.views[table] = _query_of(str(created["createtab_stmt"]))
        return dict(columns)


def _query_of(statement: str) -> str:
    """Return the query of a `create view`: what follows the first `as` that is in no parentheses."""
    depth, kinds = 0, sqlglot.TokenType
    try:
        tokens = sqlglot.tokenize(statement, dialect="spark")
    except SqlglotError as error:
        raise Unsupported("a view that sqlglot cannot read") from error
    for token in tokens:
        depth += (token.token_type == kinds.L_PAREN) - (token.token_type == kinds.R_PAREN)
        if token.token_type == kinds.ALIAS and not depth:
            return statement[token.end + 1 :]
    raise Unsupported("a view that Spark does not describe")


def catalog_of(spark: SparkSession) -> SessionCatalog | StatementCatalog:
    """Return what describes the tables, functions and queries of a session."""
    if has_jvm(spark):
        return SessionCatalog(spark)
    return StatementCatalog(lambda sql: [row.asDict() for row in spark.sql(sql).collect()])


def _group_of(name: str) -> str:
    """Return the group of one of Spark's functions by the name of its class."""
    if name.startswith("aggregate."):
        return "agg_funcs"
    return next((group for group, names in GROUPS.items() if name in names), "others")


def _operators(plan: str) -> Counter[str]:
    """Count the operators of an analysed plan; those of a CTE count where it is read."""
    own: dict[str, Counter[str]] = {"": Counter()}  # by CTE
    reads: dict[str, list[str]] = {"": []}
    open_: list[tuple[int, str]] = [(-1, "")]
    for line in plan.splitlines():
        found = OPERATOR.match(line)
        if found is None:
            continue
        depth, name = len(found["depth"]), found["name"]
        while depth <= open_[-1][0]:
            open_.pop()
        number = DEFINITION.match(found["rest"])
        if name == "CTERelationDef" and number:
            open_.append((depth, number[1]))
            own[number[1]], reads[number[1]] = Counter(), []
        elif name == "CTERelationRef" and number:
            reads[open_[-1][1]].append(number[1])
        elif found["rest"].startswith(" ["):
            own[open_[-1][1]][name] += 1

    def total(cte: str) -> Counter[str]:
        return sum((total(below) for below in reads[cte]), own[cte])

    return total("")
