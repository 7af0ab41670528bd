"""`tidemark verify --repair`: write the rows that differ from a rebuild, and prove the tables again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidemark.base.output import output
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.cli.verdicts import shown
from tidemark.engine.project import Project
from tidemark.engine.project.nodes import stored_node
from tidemark.engine.verify.recorded import verify_all
from tidemark.engine.verify.verdict import Verdict
from tidemark.engine.verify.verify import models_with_tables
from tidemark.lake.versions_by_format import reading_at, versions_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def repaired(
    spark: SparkSession, project: Project, verdicts: Sequence[Verdict], given: Mapping[str, Any]
) -> list[Verdict]:
    """Write the rows of tables that differ, run and test what reads them, and compare the tables again.

    Only the rows that differ are written, unless they are more than half of the table. The version of before
    stays until `tidemark maintain` deletes it.

    Args:
        spark: the session.
        project: the project.
        verdicts: the comparisons.
        given: values of `--vars`.

    Returns:
        The comparisons, in which those of repaired tables are replaced.

    Raises:
        DbtError: when a model or a test fails.
    """
    tables = list(dict.fromkeys(one.table for one in verdicts if one.differing))
    if not tables:
        return [*verdicts]
    for table in tables:
        before = reading_at(spark, table, versions_of(spark, table).present)
        output.note(
            "before", f"{table}: its rows before the repair are `select * from {before}`", table=table
        )
    names = [stored_node(project.manifest, table).name for table in tables]
    variables = json.dumps({**given, "tidemark_repaired": tables})
    build_models([*DATA_ONLY, "--select", *(f"{name}+" for name in names), "--vars", variables])
    again = verify_all(spark, project.ops_schema, models_with_tables(spark, names, given))
    return [*(one for one in verdicts if one.table not in tables), *shown(again)]
