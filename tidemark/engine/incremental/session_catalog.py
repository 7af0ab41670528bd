"""What a Spark in this process tells of tables, functions and queries."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tidemark.engine.incremental.analysis import Analysed
from tidemark.engine.incremental.operand_order import in_order
from tidemark.lake.table_format import ICEBERG, iceberg_view, table_format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTATION = ("EliminateSubqueryAliases", "EliminateView")
RULES = ("BooleanSimplification", "RemoveRedundantAliases", "RemoveNoopOperators")
LATERAL = re.compile(r"^([\s:+|'-]*LateralJoin .*, )Cross(?=,|$)", re.MULTILINE)
# a join without a condition, and one whose condition is true
CROSS = re.compile(r"^([\s:+|'-]*)Join (?:Cross|Inner, true)(?=,|$)", re.MULTILINE)
UNIT = re.compile(r"(date_trunc|timestampdiff|timestampadd)\(\w+,|trunc\([^()]*, \w+\)", re.IGNORECASE)
OPERATOR = r"^[\s:+|'!-]*{} \["


@dataclass
class SessionCatalog:
    """Describes the tables, functions and queries of a Spark session with a JVM, each table once.

    Attributes:
        spark: the session.
        known: the types of the tables' columns.
        views: the queries of the views in Iceberg's catalog, by name.
        never_null: their columns that are declared NOT NULL, as `schema.table.column`.
    """

    spark: SparkSession
    known: dict[str, dict[str, str] | None] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    never_null: set[str] = field(default_factory=set)

    def columns(self, table: str) -> dict[str, str] | None:
        """Return the types of a table's or view's columns, by name; None if there is no such table."""
        if table not in self.known:
            fields = self.spark.table(table).schema.fields if self._is_there(table) else None
            self.known[table] = (
                {one.name: one.dataType.simpleString() for one in fields} if fields is not None else None
            )
            self.never_null |= {f"{table}.{one.name}".lower() for one in fields or () if not one.nullable}
        return self.known[table]

    def view(self, table: str) -> str | None:
        """Return the query of a view; None for a table."""
        if self._is_there(table) and table in self.views:
            return self.views[table]
        if self.spark.catalog.getTable(table).tableType != "VIEW":
            return None
        rows = self.spark.sql(f"describe extended {table}").where("col_name = 'View Text'").collect()
        return str(rows[0]["data_type"]) if rows else None

    def _is_there(self, table: str) -> bool:
        if self.spark.catalog.tableExists(table):
            return True
        view = iceberg_view(self.spark, table) if table_format(self.spark) == ICEBERG else None
        if view is not None:
            self.views[table] = view
        return view is not None

    def group(self, function: str) -> str:
        """Return Spark's group of a function; empty for a user-defined function."""
        sessions: Any = self.spark._jsparkSession
        catalog = sessions.sessionState().catalog()
        parsed = sessions.sessionState().sqlParser().parseFunctionIdentifier(function)
        if not catalog.isRegisteredFunction(parsed) or not catalog.isBuiltinFunction(parsed):
            return ""
        return str(catalog.lookupFunctionInfo(parsed).getGroup()) or "others"

    def analysed(self, sql: str) -> Analysed:
        """Return a query's analysed plan, without what belongs to its notation alone.

        That is aliases, CTEs, views, and the case of words such as 'week'.
        """
        query = self.spark.sql(sql)
        plan = query._jdf.queryExecution().analyzed()
        first, collapse, then = _rules(self.spark)
        for rule in first:
            plan = rule.apply(plan)
        for _ in range(2):
            for rule in then:
                plan = rule.apply(plan)
            plan = collapse.apply(plan, True)  # an alias that the same select uses again, too
        text = str(plan.canonicalized().treeString(True, False, 1_000_000, False, False))
        found = {
            name: len(re.findall(OPERATOR.format(name), text, re.MULTILINE | re.IGNORECASE))
            for name in ("aggregate", "window")
        }
        types = tuple(one.dataType.simpleString().lower() for one in query.schema.fields)
        return Analysed(of_notation(text), types, **found)


def types_of(spark: SparkSession, sql: str) -> dict[str, str]:
    """Return the Spark types of a query's columns, by name in lower case."""
    return {one.name.lower(): one.dataType.simpleString() for one in spark.sql(sql).schema.fields}


def of_notation(plan: str) -> str:
    """Return the text of a plan without what belongs to a query's notation alone: case, and kinds of joins.

    Where columns name fields of a struct, case is a part of the result: `to_json(struct(Id))`.
    """
    plan = CROSS.sub(r"\1Join Inner", LATERAL.sub(r"\1Inner", plan)).replace("!", "")
    if "struct" not in plan.lower():
        return in_order(plan.lower())
    return in_order(UNIT.sub(lambda found: found[0].lower(), plan))


@lru_cache(maxsize=1)
def _rules(spark: SparkSession) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
    """Return the rules of Spark's optimizer that take the notation out of a plan.

    The second one puts expressions in the place of their aliases.
    """
    jvm: Any = spark.sparkContext._jvm
    catalyst = jvm.org.apache.spark.sql.catalyst
    first = [getattr(getattr(catalyst.analysis, f"{rule}$"), "MODULE$") for rule in NOTATION]
    then = [getattr(getattr(catalyst.optimizer, f"{rule}$"), "MODULE$") for rule in RULES]
    collapse = getattr(getattr(catalyst.optimizer, "CollapseProject$"), "MODULE$")
    return (*first, catalyst.optimizer.InlineCTE(True, False)), collapse, tuple(then)
