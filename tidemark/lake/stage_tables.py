"""The tables of stages: parts of a model's query that are maintained in tables of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUFFIX = "_stages"  # of their schema


def stage_table(model: str, number: int) -> str:
    """Return the table of a stage: `gold_stages.daily_sales__1` for stage 1 of `gold.daily_sales`."""
    schema, _, name = model.lower().partition(".")
    return f"{schema}{SUFFIX}.{name}__{number}"


def model_of(stage: str) -> str:
    """Return the model (`schema.name`, in lower case) of a stage's table."""
    schema, _, name = stage.partition(".")
    return f"{schema.removesuffix(SUFFIX)}.{name.rpartition('__')[0]}"


def stage_tables(spark: SparkSession, schema: str) -> list[str]:
    """Return the tables of the stages of all models of a schema."""
    stages = f"{schema.lower()}{SUFFIX}"
    if not spark.catalog.databaseExists(f"{spark.catalog.currentCatalog()}.{stages}"):
        return []
    rows = spark.sql(f"show tables in `{stages}`").where("not isTemporary").collect()
    return sorted(f"{stages}.{row['tableName']}" for row in rows)
