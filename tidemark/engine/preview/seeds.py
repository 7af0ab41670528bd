"""The rows that a seed's table would have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from tidemark.engine.dbt_core.seed_files import seed_file
from tidemark.engine.incremental.canonical import quoted
from tidemark.engine.project.nodes import table_of
from tidemark.lake.table_format import table_exists
from tidemark.lake.tables import local_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def seed_rows(spark: SparkSession, node: Any) -> DataFrame:
    """Return the rows of a seed's file, with the types of its table and of its `column_types`.

    Args:
        spark: the session.
        node: the seed's node.
    """
    table = table_of(node)
    names, rows = seed_file(node)
    types = dict(spark.table(table).dtypes) if table_exists(spark, table) else {}
    types |= {name: str(kind) for name, kind in (node.config.column_types or {}).items()}
    text = local_rows(spark, ", ".join(f"{quoted(name)} string" for name in names), rows)
    return text.select(
        *(f.col(quoted(name)).try_cast(types.get(name, "string")).alias(name) for name in names)
    )
