"""Compare landing from PostgreSQL and Kafka with Spark's plain copies, and measure increments by table size.

Run as `python -m benchmarks.sources` in the project's folder. Servers and lake are deleted at the end.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.pairs import LAKE, console
from benchmarks.report import how_measured
from benchmarks.tables import first_load, increments
from benchmarks.topics import topic
from dev.servers.kafka import kafka
from dev.servers.postgresql import postgres
from tidemark.base.connections import variable
from tidemark.engine.dbt_core.commands import invoke_dbt
from tidemark.engine.project.session import warm_session

ROOT = Path(__file__).resolve().parent.parent
WARM_UP = 20_000


def main(
    rows: Annotated[int, typer.Option(help="Rows of the first load.")] = 10_000_000,
    messages: Annotated[int, typer.Option(help="Messages of the topic.")] = 1_000_000,
    tables: Annotated[
        str, typer.Option(help="Sizes of the tables that get an increment.")
    ] = "1000000,10000000",
    repetitions: Annotated[int, typer.Option(help="Copies and landings of each kind.")] = 2,
    out: Annotated[Path, typer.Option(help="The markdown file.")] = ROOT / "docs/benchmarks/sources.md",
) -> None:
    """Measure, print, and write the markdown file."""
    os.environ.setdefault("TIDEMARK_DRIVER_MEMORY", "4g")
    os.environ["TIDEMARK_LAKE"] = str(LAKE)
    os.chdir(ROOT)
    command = f"python -m benchmarks.sources --rows {rows} --messages {messages} --tables {tables}"
    invoke_dbt(["--quiet", "parse"])
    spark = warm_session(ROOT, empty=True)
    try:
        with postgres() as server, kafka() as broker:
            os.environ |= {variable("shop"): server.create_database("shop"), variable("stream"): broker.url}
            for _ in range(2):
                first_load(spark, server, WARM_UP, 1)
            topic(spark, broker, WARM_UP, 2)
            parts = [
                first_load(spark, server, rows, repetitions),
                increments(spark, server, [int(size) for size in tables.split(",")], repetitions),
                topic(spark, broker, messages, repetitions),
            ]
        lines = [
            "# Landing from PostgreSQL and Kafka",
            "",
            "First loads and topics, beside Spark's plain copy of the same rows into a new Delta table,",
            "declared columns only; landing adds state, the contract, rescued values, confirming counts, and",
            "the columns of metadata, in tables that are new too. Server and broker share the machine with",
            "Spark. Seconds are medians (fastest..slowest), copy and landing in turn, on a warm session.",
            "",
            *how_measured(command, spark, after=f"Repetitions: {repetitions}."),
            *(line for part in parts for line in ("", *part)),
        ]
        out.write_text("\n".join(lines) + "\n", encoding="utf-8")
        console.print("\n".join(lines), soft_wrap=True)
    finally:
        spark.stop()
        shutil.rmtree(LAKE, ignore_errors=True)


if __name__ == "__main__":
    typer.run(main)
