"""Models compiled by dbt, and what each would read, for commands that look and do not run."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from python_ingest.build import plain_message
from python_ingest.errors import DbtError
from python_ingest.model_code import code_of
from python_ingest.project import invoke_dbt

READS = re.compile(r"/\* consumes (?P<source>\S+) (?P<said>.*?) \*/")
PLAIN_READS = "\n{{ tidemark.plain_reads() }}"  # a model without changes() and its kin says what it reads
PRUNES = re.compile(r"/\* prunes (?P<source>\S+) (?P<said>.*?) \*/")


@dataclass(frozen=True)
class Compiled:
    """A compiled model.

    Attributes:
        table: `schema.name`.
        sql: its query.
        reads: source and words, such as (`bronze.events`, `versions 12..15`), for each source.
        prunes: source and words, such as `event_date: 2 values, 2025-01-01 .. 2025-01-02`, where it
            reads only what its changes touch.
        materialized: as in dbt.
        asks_incremental: whether its SQL asks `is_incremental()`.
    """

    table: str
    sql: str
    reads: tuple[tuple[str, str], ...]
    prunes: dict[str, str]
    materialized: str
    asks_incremental: bool

    @property
    def is_unproven(self) -> bool:
        """Whether nothing says what it has read: it asks `is_incremental()` and reads by plain `ref()`."""
        return self.asks_incremental and not self.reads


def compiled_models(selection: Sequence[str], purpose: str) -> list[Compiled]:
    """Compile models with dbt; nothing is run.

    Args:
        selection: dbt selectors; empty for all models.
        purpose: `verify` reads each source whole as of the model's checkpoint; `explain` reads what
            the next run would.

    Raises:
        DbtError: when a model cannot be compiled.
    """
    from dbt.cli.main import dbtRunner

    selected = [f"{name},resource_type:model" for name in selection] or ["resource_type:model"]
    arguments = ["--log-level", "none", "--no-write-json", "compile", "--select", *selected]
    os.environ["TIDEMARK_PURPOSE"] = purpose
    try:
        manifest = invoke_dbt(["--log-level", "none", "parse"])
        for node in manifest.nodes.values():
            if node.resource_type == "model" and node.language == "sql":
                node.raw_code += PLAIN_READS
        outcome = dbtRunner(manifest).invoke(arguments)
    finally:
        del os.environ["TIDEMARK_PURPOSE"]
    result: Any = outcome.result
    if result is None:
        raise DbtError(f"dbt compile did not start: {outcome.exception}", "Run `dbt debug`.")
    failed = [node for node in result.results if node.status in ("error", "fail")]
    if failed:
        name, message = failed[0].node.name, plain_message(failed[0].message)
        raise DbtError(f"{name} does not compile: {message}", "Mend it and try again.")
    nodes = [node.node for node in result.results if node.node.resource_type == "model"]
    if not nodes:
        raise DbtError(
            f"No model matches {' '.join(selection)}.", "`dbt ls --resource-type model` lists them."
        )
    return [_compiled(node, manifest) for node in nodes]


def _compiled(node: Any, manifest: Any) -> Compiled:
    reads, prunes = (
        {match["source"]: match["said"] for match in pattern.finditer(node.compiled_code)}
        for pattern in (READS, PRUNES)
    )
    return Compiled(
        f"{node.schema}.{node.alias}",
        node.compiled_code,
        tuple(reads.items()),
        prunes,
        node.config.materialized,
        code_of(manifest, node.unique_id)["asks_incremental"],
    )
