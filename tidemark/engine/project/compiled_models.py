"""Compile models with dbt and collect what each would read, for commands that do not run models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidemark.base.errors import DbtError
from tidemark.base.messages import plain_message
from tidemark.engine.built_with import Variables, recorded_variables
from tidemark.engine.dbt_core.broken_nodes import every_node
from tidemark.engine.dbt_core.commands import SILENT, outcome_of
from tidemark.engine.decision.ways import Way
from tidemark.engine.project import own_schema
from tidemark.engine.project.compiled import Compiled, compiled, failed
from tidemark.engine.project.nodes import table_of
from tidemark.engine.project.selection import similar_names
from tidemark.engine.project.to_read import parsed_to_read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAIN_READS = "\n{{ dbt.tidemark__plain_reads() }}"  # a plain model says what it reads


def compiled_models(
    spark: SparkSession,
    selection: Sequence[str],
    purpose: str,
    given: Mapping[str, Any] | None = None,
    *,
    as_built: bool = True,
) -> list[Compiled]:
    """Compile models with dbt without running them.

    Args:
        spark: the session.
        selection: dbt selectors; empty for all models.
        purpose: `verify` makes a model read each source in full, as of its checkpoint; `explain` makes it
            read what the next run would read.
        given: values of `--vars`.
        as_built: whether each model has the variables of the run that built its table, beside the given ones.

    Returns:
        The models in dbt's order; one that does not compile has `failed`.

    Raises:
        DbtError: if the project cannot be parsed, or no model is selected.
    """
    given = dict(given or {})
    manifest, broken = parsed_to_read(given)
    ops_schema = own_schema(manifest, "ops_schema")
    recorded = recorded_variables(spark, ops_schema) if as_built else {}
    plain = Variables().with_given(given)
    groups = {one.group: one for one in (plain, *(found.with_given(given) for found in recorded.values()))}
    selected = model_selectors(selection)
    found: dict[str, Compiled] = {}
    for group, variables in groups.items():
        values = {**variables.values, "tidemark_purpose": purpose}
        own = manifest if group == plain.group else parsed_to_read(variables.values)[0]

        def is_here(node: Any, group: str = group) -> bool:
            return recorded.get(table_of(node), plain).with_given(given).group == group

        for model in _compiled_group(own, selected, values, variables, is_here):
            found.setdefault(model.table, model)
    for name, message in broken.models.items() if not selection else ():
        found.setdefault(name, Compiled(name, "", (), "", Way(""), failed=message))
    if not found:
        raise no_model(manifest, selection)
    return list(found.values())


def _compiled_group(
    manifest: Any,
    selected: Sequence[str],
    values: Mapping[str, Any],
    variables: Variables,
    is_here: Callable[[Any], bool],
) -> Iterator[Compiled]:
    """Compile the selected models that were built with the same variables."""
    models = [node for node in manifest.nodes.values() if node.resource_type == "model"]
    for node in models:
        if node.language == "sql":
            node.raw_code += PLAIN_READS
    excluded = [f"fqn:{'.'.join(node.fqn)}" for node in models if not is_here(node)]
    if len(excluded) == len(models):
        return
    options = ["--exclude", *excluded] if excluded else []
    for result in node_results(manifest, [*selected, *options], json.dumps(values, default=str)):
        node = result.node
        if node.resource_type != "model":
            continue
        if is_failed(result):
            yield failed(node, plain_message(result.message), manifest, variables)
        else:
            yield compiled(node, manifest, variables)


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
    results = node_results(manifest, selectors, variables)
    broken = [result for result in results if is_failed(result)]
    if broken:
        name, message = broken[0].node.name, plain_message(broken[0].message)
        raise DbtError(f"{name} does not compile: {message}", "Fix it and try again.")
    return [result.node for result in results if result.node.resource_type == "model"]


def node_results(manifest: Any, selectors: Sequence[str], variables: str = "{}") -> list[Any]:
    """Compile with dbt and return its results, in its order; a node that fails stops no other.

    Args:
        manifest: dbt's manifest.
        selectors: dbt selectors.
        variables: values of `var()`, as JSON.

    Raises:
        DbtError: if dbt compiles nothing at all.
    """
    arguments = [*SILENT, "--no-write-json", "compile", "--select", *selectors, "--vars", variables]
    with every_node():
        outcome = outcome_of(arguments, manifest)
    result: Any = outcome.result
    if result is None:
        raise DbtError(
            f"dbt compile did not start: {plain_message(str(outcome.exception))}", "Run `dbt debug`."
        )
    return list(result.results)


def is_failed(result: Any) -> bool:
    """Return whether a node of dbt's results failed."""
    return str(result.status) in ("error", "fail")
