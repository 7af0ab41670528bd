"""Measure what a proof of parts of tables costs, beside that of whole tables, and when it finds altered rows.

Run as `python -m benchmarks.slices` in the project's folder. The models are those of benchmarks/tidemark.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.measuring import (
    LAKE,
    ROOT,
    BenchmarkProject,
    Run,
    cost_of,
    plain_errors,
    scratch_session,
)
from benchmarks.orders import Orders
from benchmarks.outcomes import inside
from benchmarks.report import how_measured, markdown_table
from tidemark.engine.project.compiled import Compiled
from tidemark.engine.verify.recorded import compared_since
from tidemark.engine.verify.sampling import verify_share
from tidemark.engine.verify.slices import SLICES, Slices
from tidemark.engine.verify.touched import State, state_of
from tidemark.engine.verify.verify import models_with_tables, verdict_of

NUMBERS = (1, 5, 20, SLICES)  # of slices in one comparison
ALTERED, SHARE = 10, 10  # altered rows, and the slices of each round that looks for them
console = Console(highlight=False, markup=False)


@dataclass
class Measured:
    """What was measured at one size.

    Attributes:
        rows: rows of the source.
        costs: by table, the cost of a comparison of NUMBERS slices; SLICES stands for the whole table.
        changed: by table, the cost of a comparison of the keys that one increment touched, and its result.
        found: of the altered rows, how many each round of SHARE slices found.
    """

    rows: int
    costs: dict[str, list[Run]] = field(default_factory=dict)
    changed: dict[str, tuple[Run, str]] = field(default_factory=dict)
    found: list[int] = field(default_factory=list)


def measure(spark: SparkSession, scale: int, rows_per_scale: int) -> Measured:
    """Build the tables, compare parts of them, alter rows, and look for these."""
    prefix = f"slices_{scale}"
    orders = Orders(spark, f"{prefix}_bronze.orders_in", scale, rows_per_scale)
    orders.create()
    project = BenchmarkProject(spark, ROOT, "tidemark", prefix, f"{prefix}_bronze", LAKE / "scratch")
    project.dbt("run")
    found = Measured(orders.rows)
    variables = {"bronze": project.bronze}
    with inside(ROOT / "benchmarks" / "tidemark", LAKE / "scratch" / prefix):
        models = models_with_tables(spark, [], variables)
        for model in models:
            verdict_of(spark, model, Slices((0,)))  # Spark compiles what it runs for the first time
            found.costs[model.table.partition(".")[2]] = [_cost(spark, model, number) for number in NUMBERS]
        states = {model.table: state_of(spark, model) for model in models}
    orders.append()
    project.dbt("run")
    with inside(ROOT / "benchmarks" / "tidemark", LAKE / "scratch" / prefix):
        models = models_with_tables(spark, [], variables)
        for model in models:
            found.changed[model.table.partition(".")[2]] = _cost_of_changed(spark, model, states[model.table])
        table = f"{prefix}_gold.customer_sales"
        keys = sorted(row[0] for row in spark.sql(f"select customer_id from {table}").collect())
        altered = random.Random(1).sample(keys, ALTERED)
        spark.sql(
            f"update {table} set orders = orders + 1 where customer_id in ({', '.join(map(str, altered))})"
        )
        of_table = [one for one in models if one.table == table]
        for _ in range(SLICES // SHARE):
            (verdict,) = verify_share(spark, f"{prefix}_ops", of_table, SHARE)
            found.found.append(verdict.differing // 2)  # the row of the table, and that of the rebuild
    return found


def _cost(spark: SparkSession, model: Compiled, number: int) -> Run:
    part = None if number == SLICES else Slices(tuple(range(number)))
    run = cost_of(spark, lambda: verdict_of(spark, model, part))
    console.print(f"  {model.table}: {number} slices  {run.seconds:.1f} s, {run.cpu_seconds:.1f} s of CPU")
    return run


def _cost_of_changed(spark: SparkSession, model: Compiled, since: State | None) -> tuple[Run, str]:
    verdicts = []
    base = since.base if since else None
    run = cost_of(spark, lambda: verdicts.append(compared_since(spark, model, base)[1]))
    console.print(
        f"  {model.table}: {verdicts[0].message}  {run.seconds:.1f} s, {run.cpu_seconds:.1f} s of CPU"
    )
    return run, verdicts[0].message


def write(path: Path, command: str, spark: SparkSession, measured: list[Measured]) -> None:
    """Write the markdown file."""
    lines = [
        "# What a proof of slices costs",
        "",
        "`tidemark verify --sample` and `--budget` compare some of the hundred slices of a table",
        "with its rebuild, and `--changed` the keys that changes touched ([verify.md](../verify.md)). The",
        "tables are those of [the comparison with peers](peers.md), after a first load, and for `--changed`",
        "one increment of 20,000 rows later. CPU seconds are those of Spark and of the process; the first",
        "column is a proof of the whole table.",
        "",
        *how_measured(command, spark),
    ]
    for one in measured:
        header = [
            "table",
            *(f"{_name(number)}: CPU (seconds)" for number in reversed(NUMBERS)),
            "1 slice / whole",
            "changed keys: CPU (seconds)",
            "changed / whole",
        ]
        rows = [
            [
                table,
                *(f"{run.cpu_seconds:.1f} ({run.seconds:.1f})" for run in reversed(runs)),
                f"{runs[0].cpu_seconds / runs[-1].cpu_seconds:.2f}",
                f"{one.changed[table][0].cpu_seconds:.1f} ({one.changed[table][0].seconds:.1f})",
                f"{one.changed[table][0].cpu_seconds / runs[-1].cpu_seconds:.2f}",
            ]
            for table, runs in one.costs.items()
        ]
        rounds = ", ".join(map(str, one.found))
        lines += ["", f"## {one.rows:,} orders", "", *markdown_table(header, rows), ""]
        lines += ["After an increment, `--changed`:", ""]
        lines += [*(f"- {table}: {message}" for table, (_, message) in one.changed.items()), ""]
        lines += [
            f"Of {ALTERED} rows of customer_sales that were altered by hand, ten runs of",
            f"`--sample {SHARE}%` found {rounds}: {sum(one.found)} in all.",
        ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _name(number: int) -> str:
    return "whole" if number == SLICES else f"{number} slice{'' if number == 1 else 's'}"


def main(
    scales: Annotated[
        str, typer.Option(help="Multiples of ten days of orders, separated by commas.")
    ] = "1,100",
    rows: Annotated[int, typer.Option(help="Orders in ten days.")] = 300_000,
    out: Annotated[Path, typer.Option(help="The markdown file.")] = ROOT / "docs/benchmarks/slices.md",
) -> None:
    """Measure each size, and write the markdown file."""
    os.environ.setdefault("TIDEMARK_DRIVER_MEMORY", "6g")
    os.environ["TIDEMARK_LAKE"] = str(LAKE)
    os.chdir(ROOT)
    with plain_errors(), scratch_session() as spark:
        measured = []
        for scale in map(int, scales.split(",")):
            console.print(f"{scale * rows:,} orders")
            measured.append(measure(spark, scale, rows))
        write(out, f"python -m benchmarks.slices --scales {scales}", spark, measured)


if __name__ == "__main__":
    typer.run(main)
