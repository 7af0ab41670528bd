"""The moments at which a run is killed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

STATEMENT = "pyspark.sql.session:SparkSession.sql"  # dbt's statements pass there, and those of landing
CREATE = "pyspark.sql.readwriter:DataFrameWriterV2.createOrReplace"  # of the tables that landing writes
MANIFEST, BRONZE = (
    "python_ingest.ops.ingested_files:IngestedFiles.",
    "python_ingest.bronze.table:BronzeTable.",
)
When = Literal["before", "writing", "committed", "running", "after"]


@dataclass(frozen=True)
class Point:
    """A moment of a run.

    Attributes:
        name: the moment in words.
        when: `before` or `after` the call; `writing`: new data files are in the table's folder, the commit
            is not; `committed`: the commit is, the call has not returned; `running`: Spark works on it.
        statement: what the SQL statement looks like, as a regular expression.
        call: the method that is called, as `module:Class.method`.
        table: the table whose folder is watched.
        first_run: the run is the first one of its lake, but for others killed at first-run points.
        full_refresh: the run is a full refresh.
        more_comes: another file comes before the next run.
        from_store: the raw files are in an object store.
        on_iceberg: the tables are Iceberg's.
        nightly: much like another point, so not among those of every test run.
        core: also among those of `make test`.
    """

    name: str
    when: When
    statement: str = ""
    call: str = STATEMENT
    table: str = ""
    first_run: bool = False
    full_refresh: bool = False
    more_comes: bool = False
    from_store: bool = False
    on_iceberg: bool = False
    nightly: bool = False
    core: bool = False


def _create(table: str) -> str:
    return rf"\bcreate .*\btable .*\b{re.escape(table)}\b"


def _folder_only(name: str, table: str, *, landed: bool = False, nightly: bool = False) -> Point:
    moment = f"first run: {name} in the folder, not in the catalog"
    statement, call = ("", CREATE) if landed else (_create(table), STATEMENT)
    return Point(moment, "committed", statement, call, table, first_run=True, nightly=nightly)


MERGE_SILVER, MERGE_CITIES, MERGE_TOTALS = (
    rf"\bmerge into\s+{re.escape(table)}\b"
    for table in ("silver.people", "gold.people_by_city", "gold.people_totals")
)
RECORD = r"\binsert into\s+ops\.runs\b"  # the checkpoints are in it
A_GOLD_MODEL = r'"node_id": "model\.tidemark\.people_\w+"'
A_TEST = r'"node_id": "test\.tidemark\.in_range_people'  # that of a key runs no statement
BRONZE_TABLE = "bronze.people"
PLAN, APPEND, CONFIRM = MANIFEST + "plan", BRONZE + "append", MANIFEST + "confirm"

POINTS = (
    _folder_only("manifest", "ops.ingested_files", landed=True, nightly=True),
    _folder_only("bronze", "bronze.people", landed=True, nightly=True),
    _folder_only("runs", "ops.runs", nightly=True),
    _folder_only("silver", "silver.people", nightly=True),
    Point("first run: no checkpoint yet", "after", _create("silver.people"), first_run=True, nightly=True),
    Point("planned", "after", call=PLAN, nightly=True),
    Point("half written", "writing", call=APPEND, table=BRONZE_TABLE),
    Point("written but not confirmed", "before", call=CONFIRM, core=True),
    Point("planned, from an object store", "after", call=PLAN, from_store=True, nightly=True),
    Point("half written, from an object store", "writing", "", APPEND, BRONZE_TABLE, from_store=True,
          nightly=True),
    Point("not confirmed, from an object store", "before", call=CONFIRM, from_store=True, nightly=True),
    Point("confirmed, before dbt", "after", call=CONFIRM, nightly=True),
    Point("before the silver merge", "before", MERGE_SILVER, nightly=True),
    Point("in the silver merge", "writing", MERGE_SILVER, table="silver.people", nightly=True),
    Point("after the silver merge, before its checkpoint", "after", MERGE_SILVER,
          nightly=True),  # the simulated month has it each time
    Point("between two models", "before", A_GOLD_MODEL, nightly=True),
    Point("in the gold merge", "writing", MERGE_CITIES, table="gold.people_by_city", nightly=True),
    Point("after the gold merge", "after", MERGE_TOTALS, nightly=True),
    Point("while a test runs", "running", A_TEST, nightly=True),
    Point("in on-run-end, before the checkpoints", "before", RECORD, more_comes=True, nightly=True),
    Point("in on-run-end, writing the checkpoints", "writing", RECORD, table="ops.runs", more_comes=True,
          nightly=True),
    Point("after the checkpoints", "after", RECORD, nightly=True),
    Point("half written, on Iceberg", "writing", "", APPEND, BRONZE_TABLE, on_iceberg=True, nightly=True),
    Point("not confirmed, on Iceberg", "before", call=CONFIRM, on_iceberg=True, nightly=True),
    Point("in the silver merge, on Iceberg", "writing", MERGE_SILVER, table="silver.people", on_iceberg=True,
          nightly=True),
    Point("after the gold merge, on Iceberg", "after", MERGE_TOTALS, on_iceberg=True, nightly=True),
    Point("before the checkpoints, on Iceberg", "before", RECORD, on_iceberg=True, nightly=True),
    Point("in a full refresh, between two models", "after", _create("silver.people"), full_refresh=True,
          nightly=True),
)  # fmt: skip


@dataclass(frozen=True)
class Files:
    """Names of a table's data files and commits."""

    data: frozenset[str]
    commits: frozenset[str]

    @classmethod
    def of(cls, warehouse: Path, table: str) -> Files:
        """List a table's files as they are now; an absent table has none.

        Args:
            warehouse: the folder of Delta tables, or one named `iceberg`.
            table: `schema.name`; empty for no table.
        """
        if not table:
            return cls(frozenset(), frozenset())
        schema, _, name = table.partition(".")
        is_iceberg = warehouse.name == "iceberg"
        folder = warehouse / (schema if is_iceberg else f"{schema}.db") / name
        found = {path.relative_to(folder) for path in folder.rglob("[!.]*")}
        log = {path for path in found if path.parts[0] in ("_delta_log", "metadata")}
        commits = r".*\.metadata\.json" if is_iceberg else r"\d+\.json"
        return cls(
            data=frozenset(str(path) for path in found - log if path.suffix == ".parquet"),
            commits=frozenset(path.name for path in log if re.fullmatch(commits, path.name)),
        )


def warehouse_of(lake: Path, target: str | None) -> Path:
    """Return the folder of a lake's tables."""
    return lake / ("iceberg" if target == "iceberg" else "warehouse")
