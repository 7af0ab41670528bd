"""Staging models that are read by their changes: `changes(ref('stg_orders'))` (decision 0046).

A staging model is ephemeral and reads one table, row by row. Its changes are its query over the changes of
that table, so the query is compiled once more for the reading model, with these rows instead of the table.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.spark.relation import SparkRelation

from tidemark.base.errors import TidemarkError
from tidemark.engine.adapter.wrapping import wrap_once
from tidemark.engine.project.nodes import is_ephemeral, read_nodes

if TYPE_CHECKING:
    from dbt.compilation import Compiler
    from dbt.context.providers import RuntimeRefResolver, RuntimeSourceResolver


@dataclass(frozen=True, eq=False, repr=False)
class RowsOf(SparkRelation):
    """A relation in whose place a query reads only some rows.

    Attributes:
        rows: what stands in FROM.
    """

    rows: str = ""

    def __str__(self) -> str:
        return self.rows


def staged_changes(
    ref: RuntimeRefResolver, source: RuntimeSourceResolver, name: str, changes: Callable[[Any], Any]
) -> str:
    """Return the changes of a staging model, as a query in parentheses.

    Args:
        ref: dbt's `ref` of the reading model; it knows the manifest and the configuration.
        source: its `source`.
        name: the staging model, as `ref()` names it in the query.
        changes: the macro `changes` of the reading model, which gives the changed rows of a relation.

    Raises:
        TidemarkError: if the staging model reads no table, or several.
    """
    from dbt.compilation import Compiler

    prefixed = Compiler(ref.config).add_ephemeral_prefix
    below = _ephemeral_below(ref.manifest, ref.model)
    staging = copy.deepcopy(next(node for node in below if prefixed(node.identifier) == name))
    _check(ref.manifest, staging)
    staging.extra_ctes_injected = True  # the ephemeral models that it reads are written in place
    resolve_ref = type(ref)(ref.db_wrapper, staging, ref.config, ref.manifest)
    resolve_source = type(source)(source.db_wrapper, staging, source.config, source.manifest)

    def changed(relation: Any) -> Any:
        found = {name: getattr(relation, name) for name in ("database", "schema", "identifier", "type")}
        return RowsOf.create(**found).replace(rows=str(changes(relation)))

    context = {
        "ref": lambda *names, **version: changed(resolve_ref(*names, **version)),
        "source": lambda *names: changed(resolve_source(*names)),
    }
    compiled = Compiler(ref.config).compile_node(staging, ref.manifest, context, write=False)
    return f"(\n{compiled.compiled_code}\n)"


def attach() -> None:
    """Let dbt leave out the rows of a staging model that a query reads by its changes alone."""
    from dbt.compilation import Compiler

    wrap_once(Compiler, "_recursively_prepend_ctes", _with_named_ctes)


def _with_named_ctes(of_dbt: Callable[..., Any]) -> Callable[..., Any]:
    def prepend(compiler: Compiler, model: Any, manifest: Any, extra_context: Any) -> Any:
        if model.resource_type == "model" and not model.extra_ctes_injected:
            code = model.compiled_code.lower()
            names = {
                cte.id: compiler.add_ephemeral_prefix(manifest.nodes[cte.id].identifier).lower()
                for cte in model.extra_ctes
            }
            model.extra_ctes = [cte for cte in model.extra_ctes if names[cte.id] in code]
        return of_dbt(compiler, model, manifest, extra_context)

    return prepend


def _ephemeral_below(manifest: Any, node: Any) -> Iterator[Any]:
    for below in read_nodes(manifest, node):
        if is_ephemeral(below):
            yield below
            yield from _ephemeral_below(manifest, below)


def _check(manifest: Any, staging: Any) -> None:
    read = [below.name for below in read_nodes(manifest, staging)]
    if len(read) != 1:
        found = f"{len(read)} relations: {', '.join(read)}" if read else "no table"
        raise TidemarkError(
            f"changes(ref('{staging.name}')) needs a staging model that reads one table; it reads {found}.",
            "Read the others in the model that reads the staging model.",
        )
