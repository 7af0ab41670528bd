"""Names of datasets, by OpenLineage's naming rules: a table is where its files are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    DatasetFacet,
    dataset_version_dataset,
    output_statistics_output_dataset,
    schema_dataset,
    symlinks_dataset,
)
from openlineage.client.naming.dataset import LocalFileSystem

from tidemark.lake.place import is_remote, lake_location
from tidemark.lake.table_format import location_of, table_exists

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Name = tuple[str, str]


def name_of(location: str) -> Name:
    """Return namespace and name of a folder.

    Args:
        location: a path, or a URL such as `file:/lake/a` or `s3a://bucket/a`.
    """
    parts = urlsplit(location)
    if parts.scheme in ("", "file"):
        local = LocalFileSystem(unquote(parts.path) if parts.scheme else str(Path(location).absolute()))
        return local.get_namespace(), local.get_name()
    scheme = {"s3a": "s3", "s3n": "s3"}.get(parts.scheme, parts.scheme)
    return f"{scheme}://{parts.netloc.rpartition('@')[2]}", parts.path.strip("/")


class Tables:
    """The tables of the lake as datasets.

    Args:
        locate: returns where a table (`schema.name`) is, or None if there is no such table.
    """

    def __init__(self, locate: Callable[[str], str | None]) -> None:
        self._locate = locate
        self._names: dict[str, Name] = {}

    def read(self, table: str) -> InputDataset:
        """Return a table that was read: `schema.name`."""
        namespace, name = self._name(table)
        return InputDataset(namespace=namespace, name=name, facets=_symlink(table))

    def written(
        self,
        table: str,
        columns: Mapping[str, tuple[str | None, str]],
        statistics: Mapping[str, Any] | None = None,
        version: int | None = None,
    ) -> OutputDataset:
        """Return a table that was written.

        Args:
            table: `schema.name`.
            columns: type and description by column.
            statistics: `rowCount`, `size` in bytes, and `fileCount` of what was written; None if it failed.
            version: the table's version afterwards.
        """
        namespace, name = self._name(table)
        fields = [
            schema_dataset.SchemaDatasetFacetFields(name=column, type=of, description=message or None)
            for column, (of, message) in columns.items()
        ]
        facets: dict[str, DatasetFacet] = _symlink(table)
        if fields:
            facets["schema"] = schema_dataset.SchemaDatasetFacet(fields=fields)
        if version is not None:
            facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(str(version))
        done: dict[str, Any] = {}
        if statistics is not None:
            facet = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet
            done["outputStatistics"] = facet(**statistics)
        return OutputDataset(namespace=namespace, name=name, facets=facets, outputFacets=done)

    def _name(self, table: str) -> Name:
        if table not in self._names:
            # a run that failed may have left no table: it has a name in the lake then
            self._names[table] = name_of(self._locate(table) or f"{lake_location()}/{table}")
        return self._names[table]


def located_by(spark: SparkSession) -> Callable[[str], str | None]:
    """Return a function that looks for tables in the catalog of a session."""

    def locate(table: str) -> str | None:
        return location_of(spark, table) if table_exists(spark, table) else None

    return locate


def _symlink(table: str) -> dict[str, DatasetFacet]:
    """Return the facet that says the table's name in the catalog, whose namespace is the lake."""
    location = lake_location()
    namespace = location if is_remote() else Path(location).absolute().as_uri()
    known = symlinks_dataset.Identifier(namespace=namespace, name=table, type="TABLE")
    return {"symlinks": symlinks_dataset.SymlinksDatasetFacet(identifiers=[known])}
