"""Run the queries of TPC-DS as incremental models, and compare each table with its rebuild.

Run as `python -m benchmarks.tpcds` in the project's folder, with this project's extra `bench`: DuckDB's
extension has the generator and the queries. The models are written into the scratch lake, which is deleted at
the end. The sources are small, so that each query is maintained only because `meta.maintain` says `always`.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import sqlglot
import typer
import yaml
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.measuring import LAKE, ROOT, plain_errors, scratch_session, where
from benchmarks.outcomes import newest_ways, proofs
from benchmarks.report import how_measured, markdown_table
from benchmarks.tpcds_sources import BRONZE, NAME, SETS, generate, load, model_of
from tidemark.engine.dbt_core.commands import invoke_dbt
from tidemark.engine.project.build import summarize

PROJECT = LAKE / NAME / "project"
ALWAYS, AUTO = "always", "auto"
REFUSED = re.compile(r"its query would be computed in full: (.*?)\. Write it in another way")
console = Console(highlight=False, markup=False)


@dataclass
class Query:
    """A model's runs.

    Attributes:
        name: the model.
        failed: why it is not a model, or was not built; empty if it was.
        why_full: the construct for which it stays full.
        ways: how its table was brought up to date, by the name of the set of changes.
        differing: rows that differed from a rebuild, after any of the runs; -1 if they cannot be compared.
        rows: the rows of its table at the end.
    """

    name: str
    failed: str = ""
    why_full: str = ""
    ways: dict[str, str] = field(default_factory=dict)
    differing: int = 0
    rows: int = 0


def write_project(queries: dict[str, str], tables: list[str]) -> dict[str, Query]:
    """Write the models into the scratch project."""
    models = PROJECT / "models"
    models.mkdir(parents=True)
    project = {
        "name": NAME,
        "profile": "tidemark",
        "model-paths": ["models"],
        "macro-paths": [str(ROOT / "macros")],
        "models": {NAME: {"+materialized": "incremental", "+schema": "gold"}},
    }
    sources = {"sources": [{"name": NAME, "schema": BRONZE, "tables": [{"name": name} for name in tables]}]}
    for file, content in ((PROJECT / "dbt_project.yml", project), (models / "_sources.yml", sources)):
        file.write_text(yaml.safe_dump(content), encoding="utf-8")
    found = {}
    for name, query in queries.items():
        found[name] = Query(name)
        try:
            _write_model(name, model_of(query, tables), ALWAYS)
        except sqlglot.errors.SqlglotError as error:
            found[name].failed = str(error).partition("\n")[0]
    return found


def _write_model(name: str, sql: str, maintain: str) -> None:
    config = f"{{{{ config(meta={{'maintain': '{maintain}'}}) }}}}\n\n"
    (PROJECT / "models" / f"{name}.sql").write_text(config + sql + "\n", encoding="utf-8")


def build(spark: SparkSession, queries: dict[str, Query], step: str) -> None:
    """Run all models; one that would be computed in full is maintained as far as it can be from then on."""
    options = ["--project-dir", str(PROJECT), "--profiles-dir", str(ROOT)]
    scratch = LAKE / NAME
    options += ["--target-path", str(scratch / "target"), "--log-path", str(scratch / "logs")]
    is_first = step == ""
    selected = [name for name, query in queries.items() if not query.failed]
    while selected:
        command = ["--quiet", "--log-level", "none", "run", "--threads", "1", "--select", *selected, *options]
        outcome: Any = dbtRunner().invoke(command)
        built = summarize(outcome.result.results)
        os.chdir(ROOT)
        selected = []
        for node, message in built.failed:
            name = node.rpartition(".")[2]
            refused = REFUSED.search(" ".join(message.split()))
            if refused and is_first:
                queries[name].why_full = refused[1]
                path = PROJECT / "models" / f"{name}.sql"
                path.write_text(path.read_text().replace(f"'{ALWAYS}'", f"'{AUTO}'"), encoding="utf-8")
                selected.append(name)
            else:
                queries[name].failed = " ".join(message.split())[:200]
    for name, (_, way) in newest_ways(spark, NAME).items() if step else ():
        queries[name].ways[step] = way


def prove(spark: SparkSession, queries: dict[str, Query]) -> None:
    """Compare all tables with their rebuilds."""
    for verdict in proofs(spark, PROJECT, LAKE / NAME):
        query = queries[verdict.table.split(".")[1]]
        if query.failed:
            continue
        query.rows = verdict.rows
        query.differing = -1 if verdict.unproven else query.differing + verdict.differing
        if verdict.differing or verdict.unproven:
            console.print(f"    {verdict.table}: {verdict.unproven or verdict.shown[:2]}")


def write(path: Path, command: Sequence[str], spark: SparkSession, queries: dict[str, Query]) -> None:
    """Write the markdown file."""
    built = [query for query in queries.values() if not query.failed]
    kept = [query for query in built if not query.why_full]
    empty = [query for query in built if not query.rows]
    partly = [query for query in kept if any("full:" in way for way in query.ways.values())]
    lines = [
        "# TPC-DS as incremental models",
        "",
        "The queries of TPC-DS, as DuckDB's extension has them, are models with `meta.maintain: always`.",
        "Its tables are Delta tables with a change data feed. After each set of changes, `dbt run` brings",
        "all tables up to date, and `tidemark verify` compares each with its rebuild, row for row.",
        "",
        "```",
        " \\\n    ".join(command),
        "```",
        "",
        *how_measured(None, spark),
        "",
        f"In short: {len(built)} of {len(queries)} queries are models; {len(kept)} are maintained whichever",
        f"table changes, {len(partly)} of them with a stage that was computed in full.",
        f"{sum(max(query.differing, 0) for query in built)} rows differ from the rebuilds.",
        f"{len(empty)} of the tables have no row at this scale, which proves little.",
        "",
        "## The sets of changes",
        "",
        *(
            line
            for name, (what, _) in SETS.items()
            for line in textwrap.wrap(f"- **{name}**: {what}", 110, subsequent_indent="  ")
        ),
        "",
        "## The queries",
        "",
        *markdown_table(
            ["query", *SETS, "full, and why", "rows", "rows that differ"],
            [
                [query.name, *(query.ways.get(name, "not read") for name in SETS), query.why_full or "–",
                 f"{query.rows:,}", str(query.differing)]
                for query in built
            ],
            align="---",
        ),
    ]  # fmt: skip
    failed = [query for query in queries.values() if query.failed]
    lines += ["", "## Not built", ""] * bool(failed)
    lines += [f"- {query.name}: {query.failed}" for query in failed]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(
    scale: Annotated[float, typer.Option(help="TPC-DS' scale factor.")] = 0.01,
    out: Annotated[Path, typer.Option(help="The markdown file.")] = ROOT / "docs/benchmarks/tpcds.md",
    only: Annotated[str, typer.Option(help="Names of queries, separated by commas.")] = "",
) -> None:
    """Build, change, run, compare, and write the markdown file."""
    os.environ.setdefault("TIDEMARK_DRIVER_MEMORY", "6g")
    os.environ |= {"TIDEMARK_LAKE": str(LAKE), "TIDEMARK_SCHEMA": NAME}
    os.chdir(ROOT)
    with plain_errors():
        invoke_dbt(["--quiet", "parse", *where(ROOT, "tpch", LAKE / "profile")])
        os.chdir(ROOT)
        with scratch_session() as spark:
            queries = generate(scale, LAKE / "generated")
            chosen = {name: query for name, query in queries.items() if not only or name in only.split(",")}
            models = write_project(chosen, load(spark, LAKE / "generated"))
            build(spark, models, "")
            for name, (_, statements) in SETS.items():
                for statement in statements:
                    spark.sql(statement.format(bronze=BRONZE))
                build(spark, models, name)
                prove(spark, models)
            command = f"python -m benchmarks.tpcds --scale {scale:g}"
            write(out, [command, f"--only {only}"] if only else [command], spark, models)
    if any(query.differing for query in models.values()):
        console.print("Error: tables differ from their rebuilds.")
        sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
