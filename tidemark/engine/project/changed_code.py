"""Find the models whose code has changed since their last run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tidemark.engine.checkpoints.rows import Contract
from tidemark.engine.checkpoints.state import State
from tidemark.engine.project import Project
from tidemark.engine.project.model_code import code_of
from tidemark.engine.project.nodes import table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def changed_models(spark: SparkSession, project: Project, tables: Sequence[str]) -> dict[str, str]:
    """Return the models whose code has changed since their last run, with the changed part.

    The models' checkpoints have the fingerprints of their code. Values of variables are not compared here.

    Args:
        spark: the session.
        project: the project, parsed.
        tables: the models' tables, `schema.name`.

    Returns:
        By table: `its SQL` or `a macro that it uses`.
    """
    recorded = State(spark, project.ops_schema).contracts()
    found = {}
    for node in project.manifest.nodes.values():
        table = table_of(node)
        if table in tables and node.resource_type == "model" and table in recorded:
            code = code_of(project.manifest, node.unique_id)
            now = Contract(code=code["sql"], macros=code["macros"])
            if changed := recorded[table].changed_code(now, among=("code", "macros")):
                found[table] = changed
    return found
