"""`tidemark export-rejected`: rejected records as a CSV file in which a spreadsheet sees no formula."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pyspark.sql import functions as f

from python_ingest.feeds.declarations import choose
from tidemark.base.output import output
from tidemark.cli.opening import opened
from tidemark.cli.options import Feeds
from tidemark.engine.project.session import warm_session
from tidemark.lake.table_format import table_exists

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = ("feed", "path", "reason", "raw_record", "batch_id", "row_id", "rejected_at")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def export_rejected(
    path: Annotated[Path, typer.Argument(help="The CSV file to write.", resolve_path=True)],
    feeds: Feeds = None,
) -> None:
    """Write rejected records to a CSV file. Values that look like formulas are escaped."""
    lakehouse = opened()
    names = [feed.name for feed in choose(lakehouse.feeds, feeds or [], lakehouse.invalid)]
    number = write_rejected(warm_session(lakehouse.root), lakehouse.ops_schema, names, path)
    output.text(f"{number:,} records in {path}", "exported", records=number, path=path)


def write_rejected(spark: SparkSession, ops_schema: str, feeds: Sequence[str], target: Path) -> int:
    """Write the records that are not replayed yet, in the order in which they landed.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.
        feeds: names of feeds.
        target: the CSV file; an existing file is replaced.

    Returns:
        The number of records.
    """
    table = f"{ops_schema}.rejected_records"
    number = 0
    with target.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        if table_exists(spark, table):
            waiting = spark.table(table).where(f.col("feed").isin(*feeds) & f.col("replayed_batch").isNull())
            ordered = waiting.orderBy("feed", "batch_id", "row_id").select(*COLUMNS)
            for row in ordered.toLocalIterator():
                writer.writerow([harmless(value) for value in row])
                number += 1
    return number


def harmless(value: object) -> object:
    """Return a value that a spreadsheet reads as text; a formula gets a `'` in front.

    See OWASP, «CSV Injection».
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
