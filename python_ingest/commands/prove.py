"""`tidemark prove`: try models on random histories, without a lake, with a line of output for each model."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from python_ingest.console.output import count_of, output
from python_ingest.errors import VerificationError
from python_ingest.incremental.unsupported import Unsupported
from python_ingest.lake.place import LAKE
from python_ingest.project import PARSE, invoke_dbt
from python_ingest.project.session import warm_session
from python_ingest.prove.counterexample import unit_test
from python_ingest.prove.drawing import Drawn
from python_ingest.prove.models import Candidate, candidates
from python_ingest.prove.proof import Model, draw, subsets, try_histories
from python_ingest.prove.shrinking import shrink

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# settings for many queries of few rows
FEW_ROWS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


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


def prove_models(root: Path, selection: Sequence[str], histories: int, seed: int) -> None:
    """Try models on random histories of their sources, and print a line for each model.

    Args:
        root: the project's folder.
        selection: dbt selectors; empty for all models.
        histories: how many histories to try for each combination of changed sources.
        seed: the seed of the random histories.

    Raises:
        VerificationError: when a table differs from its rebuild, or a model's SQL cannot give what a rebuild
            gives.
    """
    with scratch_lake():
        manifest = invoke_dbt(["--quiet", *PARSE])
        spark = warm_session(root)
        for name, value in FEW_ROWS.items():
            spark.conf.set(name, value)
        wrong = [
            one.name
            for one in candidates(spark, manifest, selection)
            if not _prove(spark, one, histories, seed)
        ]
        if wrong:
            raise VerificationError(
                f"{count_of(len(wrong), 'model')} not proven: {', '.join(wrong)}.",
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
    tried, ways = 0, set()
    for changed in subsets(candidate.model):
        drawn = draw(candidate.model, changed, Random(f"{seed} {candidate.name} {changed}"), histories)
        try:
            found = try_histories(spark, candidate.model, changed, drawn)
        except (Unsupported, ValueError) as reason:
            output.row("not tried", candidate.name, f"not tried: {reason}", time.monotonic() - started)
            return not candidate.findings
        ways.add(found.plan.how)
        tried += found.histories if found.plan.way != "full" else 0
        if found.differing:
            _show(spark, candidate.model, changed, drawn, min(found.differing))
            return False
    if not tried:
        said = f"not tried: {'; '.join(sorted(ways))}"
        output.row("not tried", candidate.name, said, time.monotonic() - started)
        return not candidate.findings
    said = f"{tried:,} histories, 0 rows differ ({'; '.join(sorted(ways))})"
    output.row("proved", candidate.name, said, time.monotonic() - started)
    return not candidate.findings


def _show(spark: SparkSession, model: Model, changed: tuple[str, ...], drawn: Drawn, index: int) -> None:
    smallest, shown, rebuilt = shrink(spark, model, changed, drawn, index)
    output.row("differs", model.table, f"after changes of {', '.join(changed)} ({shown.plan.how})", 0.0)
    output.text(unit_test(model, smallest, rebuilt, shown.differing[0]))
