"""What of a run cannot be compared by digests, so that the run is not remembered."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tidemark.engine.project.model_code import CLOCK_AND_CHANCE, code_of, normalized
from tidemark.engine.project.nodes import VIEWS, stored, table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KINDS = ("model", "snapshot", "test")
CONSTANT = ("seed", "exposure")  # files of the project
COMPARED = ("incremental", "table", "snapshot", "test", *VIEWS)
ENGINE = "dbt_tidemark"
OF_ENGINE = (ENGINE, "dbt", "dbt_spark")  # the packages whose materializations are known
CATALOGS = ("", "spark_catalog", "lakehouse")
EARLIER = re.compile(r"\b(state|result|source_status):")  # selectors that read earlier artifacts
FUNCTIONS = ("table_changes", "range", "explode", "stack", "inline")
PLACE = re.compile(r"(\.uris?|connectionurl|\.warehouse|warehouse\.dir)$", re.IGNORECASE)  # settings of Spark
BEFORE_PATH = re.compile(r"^(file:/*(?=/)|jdbc:derby:;databaseName=|jdbc:sqlite:)")
Name = tuple[str, str]


def is_elsewhere(spark: SparkSession, lake: Path) -> bool:
    """Return whether tables, a catalog, or files without a scheme are not in local folders.

    Args:
        spark: the session of the run.
        lake: the lake's folder.
    """
    context: Any = spark.sparkContext
    places = [value for name, value in context.getConf().getAll() if PLACE.search(name)]
    inside = Path(os.path.abspath(lake))  # it may be a link, or have links
    paths = (BEFORE_PATH.sub("", unquote(place)).partition(";")[0] for place in places)
    if not all(Path(os.path.abspath(path)).is_relative_to(inside) for path in paths):
        return True
    return not str(context._jsc.hadoopConfiguration().get("fs.defaultFS")).startswith("file:")


def obstacles(manifest: Any, nodes: Sequence[Any], selection: Sequence[str], lake: Path) -> Iterator[str]:
    """Yield why another run may have other results though no file of the project, a feed or the lake changed.

    Args:
        manifest: dbt's manifest.
        nodes: the nodes that the run built or tested, with their compiled code.
        selection: dbt's selectors.
        lake: the folder of the lake.
    """
    if EARLIER.search(" ".join(selection)):
        yield "the selection depends on earlier runs"
    operations = [one for one in manifest.nodes.values() if one.resource_type == "operation"]
    if any(one.package_name != ENGINE for one in operations):
        yield "the project has hooks"
    macros = (macro for macro in manifest.macros.values() if macro.package_name not in OF_ENGINE)
    yield from (f"{one.name} is of the project" for one in macros if one.name.startswith("materialization_"))
    tables = {_name(one) for one in (*manifest.sources.values(), *stored(manifest))}
    models = (one for one in nodes if one.resource_type == "model")
    views = {_name(one) for one in models if one.config.materialized == "view"}
    known = views | {name for name in tables if _is_in(lake, name)}
    for node in nodes:
        if (reason := _obstacle(manifest, node, known)) is not None:
            yield f"{node.name} {reason}"


def _obstacle(manifest: Any, node: Any, known: Collection[Name]) -> str | None:
    """Return why a node may give another result; None for no reason."""
    config, kind = node.config, node.resource_type
    if getattr(config, "pre_hook", None) or getattr(config, "post_hook", None):
        return "has hooks"
    if kind in CONSTANT:
        return None
    reasons = {
        f"is a {kind}": kind not in KINDS,
        f"is materialized as {config.materialized}": str(config.materialized) not in COMPARED,
        "is not in SQL": getattr(node, "language", "sql") != "sql",
        "has batches by the clock": config.get("incremental_strategy") == "microbatch",
        "is not in the lake": kind in ("model", "snapshot")
        and config.materialized not in VIEWS
        and (_name(node) not in known or config.get("location_root")),
    }
    if found := [reason for reason, holds in reasons.items() if holds]:
        return found[0]
    if unsettled := code_of(manifest, node.unique_id)["unsettled"]:
        return f"uses `{unsettled}`"
    if clock := CLOCK_AND_CHANCE.search(normalized(node.compiled_code or "")):
        return f"is compiled with `{clock.group()}`"
    other = _reads_outside(node, known)
    return f"reads {other}" if other else None


def _reads_outside(node: Any, known: Collection[Name]) -> str | None:
    """Return a relation of a node's compiled code that is not a table of the lake; None if there is none."""
    try:
        trees = [tree for tree in sqlglot.parse(node.compiled_code or "", dialect="spark") if tree]
    except SqlglotError:
        return "what cannot be told"
    tables = (one for tree in trees for one in tree.find_all(exp.Table) if not one.find_ancestor(exp.Hint))
    return next((table.sql("spark") for table in tables if not _is_inside(table, known)), None)


def _is_inside(table: exp.Table, known: Collection[Name]) -> bool:
    """Return whether what stands in a FROM is a table of the lake, a CTE, or a function of these."""
    if isinstance(table.this, exp.Anonymous):
        return table.this.name.lower() in FUNCTIONS
    if not isinstance(table.this, exp.Identifier):
        return True  # a function of values, which sqlglot knows
    name = table.name.lower()
    if table.db:
        return table.catalog.lower() in CATALOGS and (table.db.lower(), name) in known
    around = {id(cte) for cte in _around(table)}
    return any(cte.alias.lower() == name and id(cte) not in around for cte in table.root().find_all(exp.CTE))


def _around(table: exp.Table) -> Iterator[exp.CTE]:
    """Yield the CTEs in whose definition a table stands: it does not read them."""
    cte = table.find_ancestor(exp.CTE)
    while cte is not None:
        yield cte
        cte = cte.find_ancestor(exp.CTE)


def _name(node: Any) -> Name:
    schema, _, name = table_of(node).lower().rpartition(".")
    return schema, name


def _is_in(lake: Path, name: Name) -> bool:
    """Return whether a table has its folder in the lake, of either format."""
    schema, table = name
    places = (lake / "warehouse" / f"{schema}.db" / table, lake / "iceberg" / schema / table)
    return any(place.is_dir() for place in places)
