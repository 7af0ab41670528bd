"""The tables of stages: parts of a model's query that are maintained in tables of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUFFIX = "_stages"  # of their schema
STAGE_OF = "tidemark.stage_of"  # the property of a stage's table that names its model


def stage_table(model: str, number: int) -> str:
    """Return the table of a stage: `gold_stages.daily_sales__1` for stage 1 of `gold.daily_sales`."""
    schema, _, name = model.lower().partition(".")
    return f"{schema}{SUFFIX}.{name}__{number}"


def names_a_stage(table: str) -> bool:
    """Return whether a table (`schema.name`) has the name of a stage; another table may have one, too."""
    return re.fullmatch(rf"[^.]+{SUFFIX}\.[^.]+__\d+", table) is not None


def stage_tables(spark: SparkSession, schema: str) -> dict[str, str]:
    """Return the tables of the stages of all models of a schema, each with its model (`schema.name`)."""
    stages = f"{schema.lower()}{SUFFIX}"
    if not spark.catalog.databaseExists(f"{spark.catalog.currentCatalog()}.{stages}"):
        return {}
    found = {}
    for row in spark.sql(f"show tables in `{stages}`").where("not isTemporary").collect():
        table = f"{stages}.{row['tableName']}"
        properties = {one["key"]: one["value"] for one in spark.sql(f"show tblproperties {table}").collect()}
        if STAGE_OF in properties:
            found[table] = properties[STAGE_OF]
    return found
