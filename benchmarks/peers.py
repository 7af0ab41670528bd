"""Measure Tidemark and its peers side by side: the same increment on tables of size 1, 10 and 100.

Run as `python -m benchmarks.peers` in the project's folder, with the extra `bench` installed; `make bench`
does both. All peers and scales share one warm session, after small rounds that are not measured. Each scale
has its own schemas in a scratch lake, which is deleted at the end.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.measuring import LAKE, ROOT, Run, Statement, plain_errors, scratch_session, where
from benchmarks.orders import Orders
from benchmarks.page import MEBIBYTE, Measured, Scale, write
from benchmarks.projects import DUCKDB, TIDEMARK, TITLES, Peer, peer
from benchmarks.truth import differing_rows
from tidemark.base.errors import TidemarkError
from tidemark.engine.dbt_core.commands import invoke_dbt

WARM_UPS = 2
BRONZE = "_bronze.orders_in"
console = Console(highlight=False, markup=False)


def measure_scale(
    spark: SparkSession, orders: Orders, names: Sequence[str], repetitions: int, *, late: bool = False
) -> Scale:
    """Let all peers build from the same table, and send all of them the same increments.

    After each increment all peers run, and each time another one is the first. So none always runs on a JVM
    that has already compiled more of the code.

    Args:
        spark: the warm session.
        orders: the bronze table, not created yet; its schema's prefix is that of all schemas.
        names: the peers.
        repetitions: number of increments, and then of builds with nothing new.
        late: whether to compare the tables again after an increment whose rows arrive late.
    """
    prefix = orders.table.removesuffix(BRONZE)
    console.rule(f"{prefix}: {orders.rows:,} rows", align="left")
    started = time.monotonic()
    orders.create()
    _say("bronze", time.monotonic() - started)
    peers = [peer(spark, name, prefix, orders.table) for name in names]
    found = {one.name: Measured(_timed("first load", one, load=True), [], [], None, 0) for one in peers}
    for number in range(repetitions):
        orders.append()
        for one in _in_turn(peers, number):
            found[one.name].increments.append(_timed(f"increment {number + 1}", one))
    before = {one.name: one.versions() for one in peers}
    for number in range(repetitions):
        for one in _in_turn(peers, number):
            found[one.name].idle.append(_timed("nothing new", one))
    for one in peers:
        measured, then = found[one.name], before[one.name]
        if then:
            measured.commits = sum(version - then.get(table, -1) for table, version in one.versions().items())
        measured.differing = _differing(one, orders)
    if late:
        orders.append(late=True)
        for one in peers:
            _timed("late increment", one)
            found[one.name].late = _differing(one, orders)
    for (schema,) in spark.sql(f"show schemas like '{prefix}_*'").collect():
        spark.sql(f"drop schema {schema} cascade")
    return Scale(orders.scale, orders.rows, 2 * orders.new_rows, found)


def _in_turn(peers: Sequence[Peer], number: int) -> Sequence[Peer]:
    first = number % len(peers)
    return [*peers[first:], *peers[:first]]


def _timed(what: str, one: Peer, *, load: bool = False) -> Run:
    run = one.load() if load else one.build()
    read = f"{run.bytes_read / MEBIBYTE:,.1f} MiB, {run.rows_read:,} rows read by Spark"
    _say(f"{TITLES[one.name]}: {what}", run.seconds, f"{run.cpu_seconds:6.1f} s of CPU, {read}")
    return run


def _differing(one: Peer, orders: Orders) -> int:
    started = time.monotonic()
    one.publish()
    differing = differing_rows(orders, one.prefix)
    _say(f"{TITLES[one.name]}: {differing:,} rows differ", time.monotonic() - started)
    return differing


def _say(what: str, seconds: float, more: str = "") -> None:
    console.print(f"  {what:<44}{seconds:8.1f} s   {more}", soft_wrap=True)


def _print_slowest(peer_name: str, statements: Sequence[Statement], count: int) -> None:
    if not statements or not count:
        return
    console.print(f"\nSlowest statements of the last increment, {TITLES[peer_name]}, of {len(statements)}:")
    for statement in sorted(statements, key=lambda statement: -statement.seconds)[:count]:
        console.print(f"  {statement}", soft_wrap=True)


def _check(names: Sequence[str]) -> None:
    if set(names) - set(TITLES) or names[0] != TIDEMARK:
        raise TidemarkError(
            f"{','.join(names)} are not peers.", f"Name {TIDEMARK} and some of: {', '.join(TITLES)}."
        )
    needed = ["matplotlib", *(["dbt.adapters.duckdb"] if DUCKDB in names else [])]
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise TidemarkError(f"Not installed: {', '.join(missing)}.", "Run `make bench`, which installs them.")


def main(  # noqa: PLR0913, PLR0917
    scales: Annotated[str, typer.Option(help="Multiples of `--rows`, smallest first.")] = "1,10,100",
    rows: Annotated[int, typer.Option(help="Orders at scale 1: ten days of them.")] = 300_000,
    repetitions: Annotated[int, typer.Option(max=5, help="Increments, and builds with nothing new.")] = 3,
    peers: Annotated[str, typer.Option(help="The peers, Tidemark first.")] = ",".join(TITLES),
    warm_ups: Annotated[int, typer.Option(help="Small rounds before, not measured.")] = WARM_UPS,
    out: Annotated[Path, typer.Option(help="The markdown file.")] = ROOT / "docs/benchmarks/peers.md",
    statements: Annotated[int, typer.Option(help="Print so many of the slowest SQL statements.")] = 0,
) -> None:
    """Measure, print, and write the markdown file and its plot."""
    os.environ.setdefault("TIDEMARK_DRIVER_MEMORY", "6g")
    os.environ["TIDEMARK_LAKE"] = str(LAKE)
    os.chdir(ROOT)
    command = f"python -m benchmarks.peers --scales {scales} --rows {rows} --repetitions {repetitions}"
    names, done = peers.split(","), list[Scale]()
    if names != list(TITLES):
        command += f" --peers {peers}"
    if warm_ups != WARM_UPS:
        command += f" --warm-ups {warm_ups}"
    with plain_errors():
        _check(names)
        invoke_dbt(["--quiet", "parse", *where(ROOT, TIDEMARK, LAKE / "profile")])
        os.chdir(ROOT)
        with scratch_session() as spark:
            for number in range(warm_ups):
                small = Orders(spark, f"warm_{number}{BRONZE}", 1, rows // 10)
                measure_scale(spark, small, names, repetitions)
            for scale in map(int, scales.split(",")):
                orders = Orders(spark, f"scale_{scale}{BRONZE}", scale, rows)
                done.append(measure_scale(spark, orders, names, repetitions, late=not done))
                write(out, command, spark, done)
                for name, measured in done[-1].peers.items():
                    _print_slowest(name, measured.increments[-1].statements, statements)
    if any(one.differing for scale in done for one in scale.peers.values()):
        console.print("Error: tables differ from the truth, so the seconds say nothing.")
        sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
