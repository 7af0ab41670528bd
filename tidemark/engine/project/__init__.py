"""The dbt project of the lake: its folder and its parsed manifest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tidemark.base.errors import TidemarkError
from tidemark.engine.dbt_core.commands import PARSE, invoke_dbt
from tidemark.engine.project.nodes import stored, table_of

OPS_SCHEMA = "analysis.dbt_tidemark.ops_schema"


@dataclass(frozen=True)
class Project:
    """A parsed project.

    Attributes:
        root: the folder of dbt_project.yml.
        ops_schema: the schema of the state tables.
        tables: the tables that the project lands, builds and keeps, as `schema.name`.
        manifest: dbt's parsed manifest, so that later commands in this process need not parse again.
    """

    root: Path
    ops_schema: str
    tables: tuple[str, ...] = ()
    manifest: Any = None

    @classmethod
    def load(cls, *, silent: bool = False) -> Self:
        """Parse the project with dbt.

        Args:
            silent: whether dbt prints no messages; an error has one of them.

        Raises:
            DbtError: if dbt cannot parse the project.
        """
        root = enter_root()
        return cls.of(root, invoke_dbt(["--log-level=none" if silent else "--quiet", *PARSE]))

    @classmethod
    def of(cls, root: Path, manifest: Any) -> Self:
        """Return the project of a parsed manifest.

        Raises:
            TidemarkError: if the profile's target does not use the adapter `tidemark`.
        """
        if OPS_SCHEMA not in manifest.disabled:
            raise TidemarkError(
                "The target in profiles.yml does not use the adapter `tidemark`.",
                "Write `type: tidemark` in the target, or choose another one with DBT_TARGET.",
            )
        sources = [source.to_dict() for source in manifest.sources.values()]
        kept = [source for source in sources if not source["config"].get("meta", {}).get("is_view")]
        tables = [f"{source['schema']}.{source['identifier']}" for source in kept]
        tables += [table_of(node) for node in stored(manifest)]
        return cls(root, own_schema(manifest, "ops_schema"), tuple(sorted(tables)), manifest)

    @property
    def audit_schema(self) -> str:
        """The schema of the batches that have failed an audit."""
        return own_schema(self.manifest, "audit_schema")


def enter_root() -> Path:
    """Change to the project's folder, searched from the current folder upwards, and return it.

    Raises:
        TidemarkError: if there is no dbt project.
    """
    root = find_root()
    if root is None:
        raise TidemarkError(
            f"There is no dbt project in {Path.cwd()} or above it.",
            "Run tidemark inside the project's folder, the one with dbt_project.yml.",
        )
    os.chdir(root)
    return root


def find_root() -> Path | None:
    """Return the project's folder, searched from the current folder upwards; None if there is no project."""
    here = Path.cwd()
    return next((one for one in (here, *here.parents) if (one / "dbt_project.yml").is_file()), None)


def own_schema(manifest: Any, name: str) -> str:
    """Return a schema of the engine's own tables: `ops_schema` of state, `audit_schema` of failed batches.

    The engine's project has a disabled analysis that says them, since only dbt can call the project's
    `generate_schema_name`; disabled, it is not a node of the user's project.
    """
    (analysis,) = manifest.disabled[OPS_SCHEMA]
    return str(analysis.config.meta[name])
