"""`tidemark prove`: try models on random histories, without a lake, with a line of output for each model."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated

import typer

from tidemark.base.errors import TidemarkError, VerificationError
from tidemark.base.output import count_of, output
from tidemark.cli.options import Models, Select, selectors
from tidemark.engine.dbt_core.commands import PARSE, invoke_dbt
from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.project import enter_root
from tidemark.engine.project.session import warm_session
from tidemark.engine.prove.counterexample import DIFFER, TIED, unit_test
from tidemark.engine.prove.drawing import Drawn
from tidemark.engine.prove.histories import draw, trials
from tidemark.engine.prove.models import Candidate, candidates, reason_of
from tidemark.engine.prove.proof import Model, Tried, try_histories
from tidemark.engine.prove.roles import ordering
from tidemark.engine.prove.shrinking import shrink
from tidemark.lake.place import LAKE
from tidemark.spark.session import FEW_ROWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


HISTORIES = 50


@contextmanager
def scratch_lake() -> Iterator[None]:
    """Use an empty lake in a temporary folder while the context is open."""
    before = os.environ.get(LAKE)
    with tempfile.TemporaryDirectory(prefix="tidemark_prove_") as folder:
        os.environ[LAKE] = folder
        try:
            yield
        finally:
            os.environ.pop(LAKE)
            if before is not None:
                os.environ[LAKE] = before


def prove(  # noqa: PLR0913, PLR0917  # options of a command
    models: Models = None,
    select: Select = None,
    histories: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Random histories for each combination of changed sources (50), or kind of changes (20).",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the random histories.")] = 1,
    manifest: Annotated[
        Path | None,
        typer.Option(help="Test the incremental models of any dbt project: its target/manifest.json."),
    ] = None,
    changes: Annotated[
        str,
        typer.Option(
            help="With --manifest: the kinds of changes to try, such as `new,late`; all if not given."
        ),
    ] = "",
    unit_tests: Annotated[
        Path | None, typer.Option(help="With --manifest: a YAML file to write dbt unit tests to.")
    ] = None,
) -> None:
    """Test models on random source histories, without a lake: each table must equal its rebuild."""
    selection = selectors(models, select)
    if manifest is not None:
        from tidemark.cli.prove_manifest import asked_for, prove_manifest  # slow to import: dbt's compiler

        prove_manifest(manifest, selection, asked_for(histories, seed, changes), unit_tests)
        return
    if changes or unit_tests is not None:
        raise TidemarkError(
            "--changes and --unit-tests go with --manifest.", "Name a manifest.json: docs/prove_stock.md."
        )
    root = enter_root()
    with scratch_lake():
        parsed = invoke_dbt(["--quiet", *PARSE])
        spark = warm_session(root)
        for name, value in FEW_ROWS.items():
            spark.conf.set(name, value)
        wrong = [
            one.name
            for one in candidates(spark, parsed, selection)
            if not _prove(spark, one, histories or HISTORIES, seed)
        ]
        if wrong:
            raise VerificationError(
                f"{count_of(len(wrong), 'model')} not proven: {', '.join(wrong)}.",
                "Several right answers: end the order with a key. "
                "Rows that differ: keep the printed unit test and report the history. "
                "Findings: docs/static_checks.md.",
            )


def _prove(spark: SparkSession, candidate: Candidate, histories: int, seed: int) -> bool:
    started = time.monotonic()
    for finding in candidate.findings:
        output.row("refused", candidate.name, finding, 0.0)
    if candidate.model is None:
        output.row("not tried", candidate.name, f"not tried: {candidate.why}", 0.0)
        return not candidate.findings
    total = Total()
    try:
        for model, changed in trials(candidate.model):
            drawn = draw(model, changed, Random(f"{seed} {candidate.name} {changed}"), histories)
            # the statements of one way have the same text, but for the touched values
            way = "stages" if model.prefers_stages else choose_plan(model.tree, model.request(changed)).way
            found = try_histories(spark, model, changed, drawn, commits=way not in total.committed)
            total.committed.add(way)
            total.add(found)
            if found.wrong:
                _show(spark, model, changed, drawn, found)
                return False
    except Exception as reason:  # the other models are tried all the same
        message = f"not tried: {reason_of(reason)}"
        output.row("not tried", candidate.name, message, time.monotonic() - started)
        return not candidate.findings
    event = "proved" if total.histories else "not tried"
    output.row(event, candidate.name, total.message, time.monotonic() - started)
    return not candidate.findings


@dataclass
class Total:
    """What all combinations of changed sources showed of a model.

    Attributes:
        histories, repeated, tied: how many histories were compared, had two rows of one key, and had ties.
        ways: the ways that were tried, in words.
        committed: those whose statement was executed.
    """

    histories: int = 0
    repeated: int = 0
    tied: int = 0
    ways: set[str] = field(default_factory=set)
    committed: set[str] = field(default_factory=set)

    def add(self, found: Tried) -> None:
        """Add what one combination showed."""
        self.ways.add(found.how)
        if found.stages or found.plan.way != "full":
            self.histories += found.histories
            self.repeated += found.repeated
            self.tied += len(found.tied)

    @property
    def message(self) -> str:
        """The result in words."""
        dropped = [
            f"{number:,} more had {what}"
            for number, what in ((self.repeated, "two rows of one key"), (self.tied, "ties in an order"))
            if number
        ]
        ways = "; ".join(sorted(self.ways))
        if not self.histories:
            return "; ".join([f"not tried: {ways}", *dropped])
        return "; ".join([f"{self.histories:,} histories, 0 rows differ ({ways})", *dropped])


def _show(spark: SparkSession, model: Model, changed: tuple[str, ...], drawn: Drawn, found: Tried) -> None:
    """Print the smallest history after which the table differs, or for which there are several right ones."""
    smallest, shown, rebuilt = shrink(spark, model, changed, drawn, min(found.wrong))
    is_tied = not shown.differing
    if is_tied:
        why = "its order has ties" if ordering(model.tree) else "it depends on the order of its rows"
        message = f"the query has several right answers: {why}"
    else:
        message = f"after changes of {', '.join(changed)} ({shown.how})"
    output.row("tied" if is_tied else "differs", model.table, message, 0.0)
    output.text(unit_test(model, smallest, rebuilt, shown.wrong[0], TIED if is_tied else DIFFER))
