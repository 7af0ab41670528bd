"""`tidemark verify --repair`: write the rows that differ from a rebuild, and prove the tables again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidemark.base.errors import DbtError, TidemarkError
from tidemark.base.output import output
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.cli.verdicts import shown
from tidemark.engine.built_with import Variables, recorded_variables
from tidemark.engine.project import Project
from tidemark.engine.project.nodes import stored, table_of, with_readers
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
        TidemarkError: when the tables, or those that are made of them, were built with different variables.
        DbtError: when a model or a test fails; the tables are compared again before.
    """
    nodes = {table_of(node): node for node in stored(project.manifest)}
    tables = [name for name in dict.fromkeys(one.table for one in verdicts if one.differing) if name in nodes]
    if not tables:
        return [*verdicts]
    ids = [nodes[table].unique_id for table in tables]
    readers = with_readers(project.manifest, ids)
    below = [name for name, node in nodes.items() if node.unique_id in readers]
    built_with = recorded_variables(spark, project.ops_schema)
    variables = common_variables({table: built_with.get(table, Variables()) for table in below}, given)
    for table in tables:
        before = reading_at(spark, table, versions_of(spark, table).present)
        output.note(
            "before", f"{table}: its rows before the repair are `select * from {before}`", table=table
        )
    selectors = [f"fqn:{'.'.join(nodes[table].fqn)}" for table in tables]
    options = json.dumps({**variables, "tidemark_repaired": tables}, default=str)
    failed = None
    try:
        build_models([*DATA_ONLY, "--select", *(f"{one}+" for one in selectors), "--vars", options])
    except DbtError as error:
        failed = error
    again = verify_all(spark, project.ops_schema, models_with_tables(spark, selectors, given))
    found = [*(one for one in verdicts if one.table not in tables), *shown(again)]
    if failed is not None:
        raise failed
    return found


def common_variables(built_with: Mapping[str, Variables], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of variables with which all of some tables were built.

    Args:
        built_with: by table, the recorded ones.
        given: values of `--vars`, which come before the recorded ones.

    Raises:
        TidemarkError: if a value is not recorded, or two tables have different ones.
    """
    found = {table: one.with_given(given) for table, one in built_with.items()}
    hidden = sorted({name for one in found.values() for name in one.hidden})
    if hidden:
        raise TidemarkError(
            f"The values of {', '.join(hidden)} are not recorded, so the tables cannot be repaired as built.",
            "Give them with --vars.",
        )
    if len({one.group for one in found.values()}) > 1:
        values = {name for one in found.values() for name in one.values}
        differ = [
            name for name in sorted(values) if len({repr(one.values.get(name)) for one in found.values()}) > 1
        ]
        raise TidemarkError(
            f"The tables to repair, and those made of them, were built with different values of "
            f"{', '.join(differ)}: {', '.join(sorted(found))}.",
            "Give the values with --vars, or repair the tables one by one: `tidemark verify MODEL --repair`.",
        )
    return dict(next(iter(found.values())).values)
