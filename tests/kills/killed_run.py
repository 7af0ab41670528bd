"""A run in a process of its own that recovers from the last kill, and is killed in turn.

Started in the run folder as `python -m tests.kills.killed_run ORDER`, in a session of its own: SIGKILL goes
to the whole process group, the JVM included. Points are planted from outside: the product has no hooks.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from pyspark.sql import SparkSession

from tests import many_commands
from tests.kills.people import write_file
from tests.kills.points import POINTS, Files, Point, warehouse_of
from tidemark.cli.run import run
from tidemark.engine.verify.verify import verify

NEVER_REACHED = 3
ROWS = {
    "ops.ingested_files": "path, max_by(state, _sequence) as state, max_by(row_count, _sequence) as rows",
    "bronze.people": "_source_file, id, city, age, updated_at",
    "silver.people": "id, city, age, cast(updated_at as string) as updated_at",
    "gold.people_by_city": "city, people, youngest",
    "gold.people_totals": "city, people, age_sum, oldest",
}


@dataclass(frozen=True)
class Order:
    """What the process is to do.

    Attributes:
        recover: make a plain run first and tell what the tables hold then.
        point: the name of the point at which the next run is killed; None for no further run, but a proof
            of all tables by `tidemark verify`.
        number: the file that is put into the raw folder for that run, if it is not there.
        raw: the raw folder.
        result: the file for what the tables hold.
        reached: the file for the state of the watched table when the point came near.
    """

    recover: bool
    point: str | None
    number: int
    raw: str
    result: str
    reached: str

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Order:
        return cls(**json.loads(path.read_text(encoding="utf-8")))


def main() -> None:
    """Carry out the order."""
    many_commands.prepare()
    order = Order.load(Path(sys.argv[1]))
    if order.recover:
        run()
        spark = SparkSession.builder.getOrCreate()
        result = {"rows": _rows(spark), "differing": {} if order.point else _differing(spark)}
        Path(order.result).write_text(json.dumps(result), encoding="utf-8")
    if order.point is not None:
        point = next(point for point in POINTS if point.name == order.point)
        write_file(Path(order.raw), order.number)
        plant(point, Path(order.reached))
        run(full_refresh=point.full_refresh)
        sys.exit(NEVER_REACHED)


def _rows(spark: SparkSession) -> dict[str, list[list[Any]]]:
    """Return the sorted rows of all tables, read by one query."""
    queries = (
        f"select '{table}', to_json(struct(*)) from (select {columns} from {table}"
        f"{' group by path' if table.startswith('ops.') else ''})"
        for table, columns in ROWS.items()
    )
    found: dict[str, list[list[Any]]] = {table: [] for table in ROWS}
    for table, row in sorted(tuple(row) for row in spark.sql(" union all ".join(queries)).collect()):
        found[table].append([*json.loads(row).values()])
    return found


def _differing(spark: SparkSession) -> dict[str, str | int]:
    """Return how many rows of each table `tidemark verify` finds to differ, or why it cannot tell."""
    return {verdict.table: verdict.unproven or verdict.differing for verdict in verify(spark, [])}


def plant(point: Point, reached: Path) -> None:
    """Make the first matching call of this process the last one."""
    module, _, path = point.call.partition(":")
    owner_name, _, method = path.partition(".")
    owner = getattr(importlib.import_module(module), owner_name)
    original: Callable[..., Any] = getattr(owner, method)
    warehouse = warehouse_of(Path(os.environ["TIDEMARK_LAKE"]), os.environ.get("DBT_TARGET"))

    @functools.wraps(original)
    def wrapped(self: Any, *arguments: Any, **named: Any) -> Any:
        if point.statement and not re.search(point.statement, arguments[0], re.IGNORECASE):
            return original(self, *arguments, **named)
        before = Files.of(warehouse, point.table)
        reached.write_text(
            json.dumps({"data": sorted(before.data), "commits": sorted(before.commits)}), encoding="utf-8"
        )
        if point.when == "before":
            kill()
        returned = threading.Event()
        if point.when != "after":
            come = _sign(point, warehouse, before)
            threading.Thread(target=_watch, args=(come, returned), daemon=True).start()
        result = original(self, *arguments, **named)
        if point.when == "after":
            kill()
        if point.when != "running":  # a query has returned before Spark works on it
            returned.set()
        return result

    setattr(owner, method, wrapped)


def _sign(point: Point, warehouse: Path, before: Files) -> Callable[[], bool]:
    """Return what tells that the moment has come."""
    if point.when == "running":
        tracker = SparkSession.builder.getOrCreate().sparkContext.statusTracker()
        return lambda: bool(tracker.getActiveJobsIds())
    if point.when == "committed":
        return lambda: Files.of(warehouse, point.table).commits > before.commits
    return lambda: Files.of(warehouse, point.table).data > before.data


def _watch(come: Callable[[], bool], returned: threading.Event) -> None:
    while not come():
        if returned.wait(0.0005):
            return
    kill()


def kill() -> NoReturn:
    """SIGKILL to this process, its JVM and whatever else is in the group."""
    os.killpg(os.getpgrp(), signal.SIGKILL)
    raise AssertionError("killed")


if __name__ == "__main__":
    main()
