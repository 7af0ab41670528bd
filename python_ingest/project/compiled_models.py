"""Compile models with dbt and collect what each would read, for commands that do not run models."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from python_ingest.console.messages import plain_message
from python_ingest.errors import DbtError
from python_ingest.incremental.pinning import pinned
from python_ingest.project import PARSE, invoke_dbt
from python_ingest.project.model_way import Way, model_way
from python_ingest.project.nodes import table_of
from python_ingest.project.selection import similar_names

NOTE = re.compile(r"/\* tidemark (\{.*?\}) \*/")  # the engine's macro `note` writes it
PLAIN_READS = "\n{{ dbt.plain_reads() }}"  # a model without changes() and its kin says what it reads


@dataclass(frozen=True)
class Source:
    """What a compiled model reads from one source.

    Attributes:
        name: `schema.name`.
        state: `incremental` for some versions, `nothing new`, or the reason for a full scan.
        after: the version after which it is read; None for a full scan.
        last: the version up to which it is read; None if the source has no versions.
        said: the same in words, such as `versions 12..15`.
        unproven: why a rebuild from it proves nothing: `never read`, `another table`, `changed`; or None.
    """

    name: str
    state: str
    said: str
    after: int | None
    last: int | None
    unproven: str | None


@dataclass(frozen=True)
class Compiled:
    """A compiled model.

    Attributes:
        table: `schema.name`.
        sql: its query.
        reads: its sources.
        prunes: by name of a source, a text such as `event_date: 2 values, 2025-01-01 .. 2025-01-02`, if the
            model reads only what its changes touch.
        materialized: as in dbt.
        way: how its table is written.
        request: for a plain model whose sources changed, what its plan is made from, without types.
    """

    table: str
    sql: str
    reads: tuple[Source, ...]
    prunes: dict[str, str]
    materialized: str
    way: Way
    request: dict[str, Any] | None = None

    @property
    def is_unproven(self) -> bool:
        """Whether nothing can prove its table; `way.why_unproven` says why."""
        return bool(self.way.why_unproven)


def compiled_models(selection: Sequence[str], purpose: str) -> list[Compiled]:
    """Compile models with dbt without running them.

    Args:
        selection: dbt selectors; empty for all models.
        purpose: `verify` makes a model read each source in full, as of its checkpoint; `explain` makes it
            read what the next run would read.

    Raises:
        DbtError: if a model cannot be compiled.
    """
    selected = model_selectors(selection)
    manifest = invoke_dbt(["--log-level=none", *PARSE])
    for node in manifest.nodes.values():
        if node.resource_type == "model" and node.language == "sql":
            node.raw_code += PLAIN_READS
    nodes = compiled_nodes(manifest, selected, json.dumps({"tidemark_purpose": purpose}))
    if not nodes:
        raise no_model(manifest, selection)
    return [compiled(node, manifest) for node in nodes]


def no_model(manifest: Any, selection: Sequence[str]) -> DbtError:
    """Return the error for selectors that match no model."""
    return DbtError(
        f"No model matches {' '.join(selection)}.",
        f"{similar_names(manifest, selection)}`dbt ls --resource-type model` lists them.",
    )


def model_selectors(selection: Sequence[str]) -> list[str]:
    """Return selectors of the models among what dbt selectors choose; of all models for none."""
    return [f"{name},resource_type:model" for name in selection] or ["resource_type:model"]


def compiled_nodes(manifest: Any, selectors: Sequence[str], variables: str = "{}") -> list[Any]:
    """Compile with dbt and return the models' nodes, in dbt's order.

    Args:
        manifest: dbt's manifest.
        selectors: dbt selectors.
        variables: values of `var()`, as JSON.

    Raises:
        DbtError: if a model does not compile.
    """
    from dbt.cli.main import dbtRunner

    arguments = ["--log-level", "none", "--no-write-json", "compile", "--select", *selectors]
    outcome = dbtRunner(manifest).invoke([*arguments, "--vars", variables])
    result: Any = outcome.result
    if result is None:
        raise DbtError(f"dbt compile did not start: {outcome.exception}", "Run `dbt debug`.")
    failed = [node for node in result.results if node.status in ("error", "fail")]
    if failed:
        name, message = failed[0].node.name, plain_message(failed[0].message)
        raise DbtError(f"{name} does not compile: {message}", "Fix it and try again.")
    return [node.node for node in result.results if node.node.resource_type == "model"]


def compiled(node: Any, manifest: Any) -> Compiled:
    """Return what the comments of a compiled node say about it."""
    notes = [json.loads(text) for text in NOTE.findall(node.compiled_code)]
    reads = {note["reads"]: Source(note.pop("reads"), **note) for note in notes if "reads" in note}
    prunes = {note["prunes"]: note["said"] for note in notes if "prunes" in note}
    versions = {note["pins"]: note["as_of"] for note in notes if "pins" in note}
    return Compiled(
        table_of(node),
        pinned(node.compiled_code, versions) if versions else node.compiled_code,
        tuple(reads.values()),
        prunes,
        node.config.materialized,
        model_way(manifest, node.unique_id),
        next((note["plan"] for note in notes if "plan" in note), None),
    )
