"""Find the models whose code has changed since their last run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tidemark.engine.project import Project
from tidemark.engine.project.model_code import code_of
from tidemark.engine.project.nodes import table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def changed_models(spark: SparkSession, project: Project, tables: Sequence[str]) -> dict[str, str]:
    """Return the models whose code has changed since their last run, with the changed part.

    The code's fingerprints are the last part of `contract` in the model's checkpoints, as the
    engine's macro `contract_of` writes it. Values of variables are not compared here.

    Args:
        spark: the session.
        project: the project, parsed.
        tables: the models' tables, `schema.name`.

    Returns:
        By table: `its SQL` or `a macro that it uses`.
    """
    checkpoints = spark.table(f"{project.ops_schema}.checkpoints").where("contract is not null")
    newest = checkpoints.selectExpr("model", "contract", "recorded_at").orderBy("recorded_at").collect()
    ran = {row["model"]: row["contract"].split(".")[2:] for row in newest}
    found = {}
    for node in project.manifest.nodes.values():
        table = table_of(node)
        if table in tables and node.resource_type == "model" and ran.get(table):
            sql, macros, _ = ran[table][0].split("-")
            code = code_of(project.manifest, node.unique_id)
            if (code["sql"], code["macros"]) != (sql, macros):
                found[table] = "its SQL" if code["sql"] != sql else "a macro that it uses"
    return found
