"""A dbt project of any adapter, compiled from its manifest.json without that adapter or a database."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections import Counter
from collections.abc import Collection, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from dbt.artifacts.schemas.manifest import WritableManifest
from dbt.compilation import Compiler
from dbt.config.profile import Profile
from dbt.config.runtime import RuntimeConfig, load_project
from dbt.contracts.graph.manifest import Manifest
from dbt.contracts.graph.nodes import ModelNode, SeedNode
from dbt.contracts.project import ProjectFlags
from dbt.flags import set_from_args
from dbt.graph.cli import parse_difference
from dbt.graph.selector import NodeSelector
from dbt_common.context import set_invocation_context
from dbt_common.exceptions import DbtBaseException
from dbt_common.invocation import reset_invocation_id

from tidemark.base.errors import TidemarkError
from tidemark.base.messages import plain_message
from tidemark.engine.dbt_core.stand_in import Ask, Columns, StandIn, install, view_of

AGAIN = "Run `dbt parse` in the project, with the adapter that it uses."


class ForeignProject:
    """A project that was parsed by its own dbt.

    Attributes:
        manifest: dbt's manifest.
        kind: the type of its adapter, such as `snowflake`.
        folder: the project's folder.
    """

    def __init__(self, file: Path) -> None:
        """Read a manifest.

        Args:
            file: a `manifest.json`, in a folder below that of its `dbt_project.yml`.

        Raises:
            TidemarkError: if there is none, or dbt cannot read it or its project.
        """
        self.manifest = _manifest(file)
        self.folder = _folder(file)
        self.kind = str(self.manifest.metadata.adapter_type or "")
        models = [one for one in self.manifest.nodes.values() if isinstance(one, ModelNode)]
        if not self.kind or not models:
            raise TidemarkError(f"{file} has no models, or names no adapter.", AGAIN)
        if self.kind == "tidemark":
            raise TidemarkError(
                f"{file} is of a project that uses Tidemark.",
                "Run `tidemark prove` in it, without --manifest.",
            )
        catalog = Counter(one.database or "" for one in models).most_common(1)[0][0]
        schema = Counter(one.schema or "" for one in models).most_common(1)[0][0]
        credentials, adapter_for = install(self.kind, catalog, schema)
        try:
            self._config = _config(self.folder, credentials)
        except DbtBaseException as error:
            raise TidemarkError(
                f"{self.folder}/dbt_project.yml: {plain_message(str(error))}", AGAIN
            ) from None
        self._adapter: StandIn = adapter_for(self._config)
        self._adapter.set_macro_resolver(self.manifest)
        self._compiler = Compiler(self._config)

    def selected(self, selection: Sequence[str]) -> list[Any]:
        """Return the incremental models that dbt's selectors choose, each after those that it reads.

        Args:
            selection: dbt selectors; empty for all models of the project and of its packages.
        """
        chosen: Collection[str] = self.manifest.nodes
        if selection:
            selector = NodeSelector(self._compiler.compile(self.manifest, write=False), self.manifest, None)
            try:
                chosen = selector.get_selected(parse_difference(list(selection), []))
            except DbtBaseException as error:
                raise TidemarkError(
                    f"{' '.join(selection)}: {plain_message(str(error))}", "Name models, paths or tags."
                ) from None
        models = {name: node for name, node in self.manifest.nodes.items() if isinstance(node, ModelNode)}
        below = {name: sorted(node.depends_on_nodes) for name, node in models.items()}
        return [
            models[name]
            for name in TopologicalSorter(dict(sorted(below.items()))).static_order()
            if name in models and name in chosen and models[name].config.materialized == "incremental"
        ]

    def answer(self, ask: Ask) -> None:
        """Let queries that macros run while dbt compiles a model be answered.

        Args:
            ask: runs a query; None if it cannot be run without rows.
        """
        self._adapter.ask = ask

    def seeds(self) -> dict[str, Any]:
        """Return the seeds by the view that stands for each."""
        return {self.view(one): one for one in self.manifest.nodes.values() if isinstance(one, SeedNode)}

    def compiled(self, node: Any, columns: Columns, *, incremental: bool = False) -> str:
        """Return a model's SQL.

        Args:
            node: its node.
            columns: the columns of the views that stand for tables, by view.
            incremental: whether its table is there, so that `is_incremental()` is true.

        Raises:
            TidemarkError: if dbt cannot compile it without a database.
        """
        self._adapter.columns = columns
        self._adapter.built = frozenset([self.view(node)] if incremental else [])
        node.compiled, node.compiled_code, node.extra_ctes, node.extra_ctes_injected = False, None, [], False
        try:
            return str(self._compiler.compile_node(node, self.manifest, {}, write=False).compiled_code)
        except DbtBaseException as error:
            message = plain_message(str(error))
            raise TidemarkError(f"dbt cannot compile it: {message}", AGAIN) from None

    def view(self, node: Any) -> str:
        """Return the name of the view that stands for a node."""
        return view_of(node.database, node.schema, getattr(node, "alias", None) or node.identifier)


def _manifest(file: Path) -> Manifest:
    try:
        version = str(json.loads(file.read_text())["metadata"]["dbt_schema_version"])
    except OSError as error:
        raise TidemarkError(f"{file} cannot be read: {error.strerror}.", AGAIN) from None
    except (ValueError, KeyError, TypeError):
        raise TidemarkError(f"{file} is no manifest.json of dbt.", AGAIN) from None
    try:
        return Manifest.from_writable_manifest(WritableManifest.read_and_check_versions(str(file)))
    except Exception:
        name = version.rsplit("/", 1)[-1].removesuffix(".json")
        raise TidemarkError(
            f"{file} is a manifest of version {name}, which this dbt-core cannot read.",
            "Parse the project with dbt-core 1.6 to 1.12.",
        ) from None


def _folder(file: Path) -> Path:
    for folder in file.resolve().parents:
        if (folder / "dbt_project.yml").is_file():
            return folder
    raise TidemarkError(
        f"No dbt_project.yml in a folder above {file}.", "Name the manifest.json in its project."
    )


def _config(folder: Path, credentials: Any) -> RuntimeConfig:
    set_invocation_context(os.environ)
    reset_invocation_id()
    set_from_args(Namespace(), ProjectFlags())
    profile = Profile("prove", "prove", 1, credentials)
    project = load_project(str(folder), False, profile, {})
    config = RuntimeConfig.from_parts(project, profile, Namespace(vars={}, which="list"))
    packages = config._get_project_directories() if project.packages_install_path else ()
    config.dependencies = {config.project_name: config, **dict(config.load_projects(packages))}
    return config
