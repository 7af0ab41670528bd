"""A compiled model, and what the comments in its SQL say about it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.engine.built_with import Variables
from tidemark.engine.decision.ways import Way
from tidemark.engine.incremental.pinning import pinned
from tidemark.engine.project.model_code import code_of
from tidemark.engine.project.model_way import model_way
from tidemark.engine.project.nodes import table_of
from tidemark.engine.project.sql_header import statements_of

NOTE = re.compile(r"/\* tidemark (\{.*?\}) \*/")  # the engine's macro `note` writes it


@dataclass(frozen=True)
class Source:
    """What a compiled model reads from one source.

    Attributes:
        name: `schema.name`.
        state: `incremental` for some versions, `nothing new`, or the reason for a full scan.
        after: the version after which it is read; None for a full scan.
        last: the version up to which it is read; None if the source has no versions.
        message: the same in words, such as `versions 12..15`.
        unproven: why a rebuild from it proves nothing: `never read`, `another table`, `changed`; or None.
    """

    name: str
    state: str
    message: str
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
        materialized: as in dbt.
        way: how its table is written.
        request: for a plain model whose sources changed, what its plan is made from, without types.
        took: for the same, the seconds of its runs: the fields of `Usual`.
        unsettled: what in its code may change its rows by itself, such as `current_date`; None for nothing.
        key: the columns of its `unique_key`.
        other_variables: the variables that it reads, if their values are others than when it was built.
        hidden: of the variables that it reads, those whose values are not recorded.
        failed: why it does not compile; None for a model that does.
        header: the statements of its `sql_header`.
    """

    table: str
    sql: str
    reads: tuple[Source, ...]
    materialized: str
    way: Way
    request: dict[str, Any] | None = None
    key: tuple[str, ...] = ()
    other_variables: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    failed: str | None = None
    header: tuple[str, ...] = ()
    took: Mapping[str, Any] = field(default_factory=dict)
    unsettled: str | None = None

    @property
    def is_unproven(self) -> bool:
        """Whether nothing can prove its table; `way.why_unproven` says why."""
        return bool(self.way.why_unproven)

    @property
    def needs_variables(self) -> str | None:
        """Why it cannot be compiled as it was built, or None."""
        if self.hidden:
            return (
                f"built with variables whose values are not recorded: {', '.join(self.hidden)}; "
                "give them with --vars"
            )
        return None


def failed(node: Any, message: str, manifest: Any, variables: Variables) -> Compiled:
    """Return a model that does not compile.

    Args:
        node: its node.
        message: dbt's message.
        manifest: dbt's manifest.
        variables: the variables with which it was to be compiled.
    """
    read = code_of(manifest, node.unique_id)["variables"] if node.language == "sql" else ()
    hidden = tuple(name for name in read if name in variables.hidden)
    return Compiled(table_of(node), "", (), node.config.materialized, Way(""), hidden=hidden, failed=message)


def compiled(node: Any, manifest: Any, variables: Variables | None = None) -> Compiled:
    """Return what the comments of a compiled node say about it.

    Args:
        node: the node.
        manifest: dbt's manifest.
        variables: the variables with which it was compiled; None if it does not matter.
    """
    notes = [json.loads(text) for text in NOTE.findall(node.compiled_code)]
    reads = {note["reads"]: Source(note.pop("reads"), **note) for note in notes if "reads" in note}
    versions = {note["pins"]: note["as_of"] for note in notes if "pins" in note}
    plan: dict[str, Any] = next((note for note in notes if "plan" in note), {})
    built: dict[str, Any] = next((note for note in notes if "built_with" in note), {})
    code = code_of(manifest, node.unique_id)
    is_other = built.get("built_with") not in (None, built.get("compiled_with"))
    key = node.config.unique_key
    return Compiled(
        table_of(node),
        pinned(node.compiled_code, versions) if versions else node.compiled_code,
        tuple(reads.values()),
        node.config.materialized,
        model_way(manifest, node.unique_id),
        plan.get("plan"),
        key=() if not key else (key,) if isinstance(key, str) else tuple(key),
        other_variables=(*code["variables"], *code["environment"]) if is_other else (),
        hidden=tuple(name for name in code["variables"] if variables and name in variables.hidden),
        header=tuple(statements_of(node.config.get("sql_header"))),
        took=plan.get("took", {}),
        unsettled=code["unsettled"],
    )
