"""Plan with Spark at hand: it describes tables and functions, and checks what sqlglot understood."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import TokenType, exp

from python_ingest.incremental.parse import Parsed, parse
from python_ingest.incremental.plan import Plan, Request, choose_plan, full
from python_ingest.incremental.shape import Shape
from python_ingest.incremental.splicing import spliced
from python_ingest.incremental.tree import Block, Leaf, Node, render
from python_ingest.incremental.unsupported import Unsupported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNITS = {
    "year",
    "years",
    "quarter",
    "month",
    "months",
    "week",
    "weeks",
    "day",
    "days",
    "hour",
    "hours",
    "minute",
    "second",
}
NOTATION = ("EliminateSubqueryAliases", "EliminateView")
RULES = ("BooleanSimplification", "RemoveRedundantAliases", "CollapseProject", "RemoveNoopOperators")
# not 'today', which only a literal knows
MOMENT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?")
OPERATOR = r"^[\s:+|'-]*{} \["


@dataclass
class SparkCatalog:
    """Describes the tables and functions of a Spark session, each once.

    Attributes:
        spark: the session.
        known: the types of the tables' columns.
        never_null: their columns that are declared NOT NULL, as `schema.table.column`.
    """

    spark: SparkSession
    known: dict[str, dict[str, str] | None] = field(default_factory=dict)
    never_null: set[str] = field(default_factory=set)

    def columns(self, table: str) -> dict[str, str] | None:
        """Return the types of a table's or view's columns, by name; None if there is no such table."""
        if table not in self.known:
            fields = self.spark.table(table).schema.fields if self.spark.catalog.tableExists(table) else None
            self.known[table] = (
                {one.name: one.dataType.simpleString() for one in fields} if fields is not None else None
            )
            self.never_null |= {f"{table}.{one.name}".lower() for one in fields or () if not one.nullable}
        return self.known[table]

    def view(self, table: str) -> str | None:
        """Return the query of a view; None for a table."""
        if self.spark.catalog.getTable(table).tableType != "VIEW":
            return None
        rows = self.spark.sql(f"describe extended {table}").where("col_name = 'View Text'").collect()
        return str(rows[0]["data_type"]) if rows else None

    def group(self, function: str) -> str:
        """Return Spark's group of a function; empty for a user-defined function."""
        sessions: Any = self.spark._jsparkSession
        catalog = sessions.sessionState().catalog()
        parsed = sessions.sessionState().sqlParser().parseFunctionIdentifier(function)
        if not catalog.isRegisteredFunction(parsed) or not catalog.isBuiltinFunction(parsed):
            return ""
        return str(catalog.lookupFunctionInfo(parsed).getGroup()) or "others"


def plan_of(spark: SparkSession, sql: str, request: Request) -> Plan:
    """Plan how a model's table is brought up to date.

    Args:
        spark: the session.
        sql: the model's query.
        request: its key, its types and the tables that changed.

    Returns:
        A plan; its way is `full`, with the reason, where the query cannot be handled incrementally.
    """
    catalog = SparkCatalog(spark)
    try:
        parsed = parse(sql, catalog)
        checked(spark, parsed)
        return choose_plan(parsed.tree, replace(request, never_null=request.never_null | catalog.never_null))
    except Unsupported as found:
        return full(request, found.where)
    except Exception as error:  # at worst the run is slow
        return full(request, f"{type(error).__name__} in its analysis: {str(error).splitlines()[0][:200]}")


def types_of(spark: SparkSession, sql: str) -> dict[str, str]:
    """Return the Spark types of a query's columns, by name in lower case."""
    return {one.name.lower(): one.dataType.simpleString() for one in spark.sql(sql).schema.fields}


def checked(spark: SparkSession, parsed: Parsed) -> None:
    """Refuse a query that Spark reads in another way than sqlglot.

    Raises:
        Unsupported: for such a query.
    """
    for given, tree in parsed.parts:
        written = _without_aliases(render(tree, _table)).sql("spark")
        plan = _normalized(spark, _with_casts(given))
        if _normalized(spark, written) != plan or _texts(given) - _texts(written):
            raise Unsupported("SQL that sqlglot writes in another way")
        for operator, part in (("aggregate", "groups"), ("window", "partitions")):
            found = len(re.findall(OPERATOR.format(operator), plan, re.MULTILINE))
            blocks = _count(tree, part)
            if found != blocks and (operator == "aggregate" or not (found and blocks)):
                raise Unsupported(f"{found} {operator} operators, where the query shows {blocks}")


def _without_aliases(query: exp.Query) -> exp.Query:
    """Leave out aliases that repeat a column's name, as in what Spark makes of `*`."""
    for alias in list(query.find_all(exp.Alias)):
        if isinstance(alias.this, exp.Column) and alias.this.name == alias.alias:
            alias.replace(alias.this)
    return query


def _normalized(spark: SparkSession, sql: str) -> str:
    """Return a query's analysed plan as text, without what belongs to its notation alone.

    That is aliases, CTEs, views, and the case of words such as 'week'.
    """
    plan = spark.sql(sql)._jdf.queryExecution().analyzed()
    for rule in _rules(spark):
        plan = rule.apply(plan)
    return str(plan.canonicalized().treeString(True, False, 1_000_000, False)).lower().replace("!", "")


@lru_cache(maxsize=1)
def _rules(spark: SparkSession) -> tuple[Any, ...]:
    """Return the rules of Spark's optimizer that take the notation out of a plan."""
    jvm: Any = spark.sparkContext._jvm
    catalyst = jvm.org.apache.spark.sql.catalyst
    first = [getattr(getattr(catalyst.analysis, f"{rule}$"), "MODULE$") for rule in NOTATION]
    then = [getattr(getattr(catalyst.optimizer, f"{rule}$"), "MODULE$") for rule in RULES]
    return (*first, catalyst.optimizer.InlineCTE(True, False), *then, *then)


def _with_casts(sql: str) -> str:
    """Write literals such as `date '2025-01-01'` as casts of a text, as sqlglot does."""
    parts = []
    for kind, text in pairwise(sqlglot.tokenize(sql, dialect="spark")):
        is_moment = text.token_type == TokenType.STRING and MOMENT.fullmatch(text.text)
        if is_moment and kind.token_type in (TokenType.DATE, TokenType.TIMESTAMP, TokenType.TIMESTAMPTZ):
            parts.append((kind.start, text.end, f"cast('{text.text}' as {kind.text})"))
    return spliced(sql, parts)


def _texts(sql: str) -> set[str]:
    """Return the string literals of a query that are not units of time."""
    tokens = sqlglot.tokenize(sql, dialect="spark")
    return {
        token.text
        for token in tokens
        if token.token_type == TokenType.STRING and token.text.lower() not in UNITS
    }


def _table(leaf: Leaf) -> exp.Query:
    return exp.select(*(exp.column(name, quoted=True) for name in leaf.names)).from_(
        exp.to_table(leaf.table, dialect="spark")
    )


def _count(node: Node, part: str) -> int:
    if isinstance(node, Leaf):
        return 0
    below = sum(_count(child, part) for _, child in node.children())
    if not isinstance(node, Block):
        return below
    shape = Shape(node)
    return below + int(shape.groups is not None if part == "groups" else bool(shape.partitions))
