"""Build the tables that a run wrote once more, as queries: from its commit, on the versions that it read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from tidemark.base.errors import TidemarkError
from tidemark.base.messages import sentence
from tidemark.engine.built_with import HIDDEN
from tidemark.engine.checkpoints.rows import UNDO, Run
from tidemark.engine.checkpoints.state import State
from tidemark.engine.dbt_core.commands import PARSE, invoke_dbt
from tidemark.engine.dbt_core.profiles import target_name
from tidemark.engine.dbt_core.version import dbt_version
from tidemark.engine.project import Project
from tidemark.engine.project.compiled import Compiled, compiled
from tidemark.engine.project.compiled_models import compiled_nodes
from tidemark.engine.project.nodes import VIEWS, table_of, tables_below
from tidemark.engine.runs.checkout import code_at
from tidemark.engine.runs.past import Past
from tidemark.engine.runs.provenance import provenance
from tidemark.engine.verify.verdict import Verdict, timed
from tidemark.engine.verify.verify import AT_ONCE, compare
from tidemark.lake.delta_log import make_active
from tidemark.lake.stage_tables import names_a_stage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOT_FROM_VERSIONS = {
    "seed": "a seed is the content of its file",
    "snapshot": "a snapshot depends on when it ran",
}


@dataclass(frozen=True)
class Reproduced:
    """A table of a run.

    Attributes:
        verdict: its comparison with what the run's code gives.
        is_model: whether it should be what its code gives: not a seed, not a snapshot.
    """

    verdict: Verdict
    is_model: bool


class Reproduction:
    """A run that is built once more.

    Args:
        spark: the session.
        project: the project.
        name: the run, as `choose_run` has it.
        variables: values of `--vars` that the run did not record.

    Raises:
        TidemarkError: if there is no such run, or it wrote nothing.
    """

    def __init__(
        self, spark: SparkSession, project: Project, name: str, variables: Mapping[str, Any] | None = None
    ) -> None:
        self._spark, self._project, self._given = spark, project, dict(variables or {})
        self._past = Past(spark, project.ops_schema, name)
        if self.run.command == UNDO or not self.run.written:
            what = "is an undo" if self.run.command == UNDO else "wrote no table"
            raise TidemarkError(
                f"The run {self.run.label} {what}, so there is nothing to build.",
                f"`select * from {project.ops_schema}.runs` shows what each run wrote.",
            )

    @property
    def run(self) -> Run:
        """The run."""
        return self._past.run

    @property
    def commit(self) -> str:
        """The run's commit; empty if it ran outside of git."""
        return self._ran_with["git_commit"] or ""

    def check(self, *, allow_dirty: bool) -> None:
        """Stop if it is not known what the run ran with.

        Args:
            allow_dirty: whether files that differed from the commit are taken as those of the commit.

        Raises:
            TidemarkError: if the run had no commit, or other files; or if a variable was not recorded.
        """
        if not self.commit:
            raise TidemarkError(
                f"The run {self.run.label} recorded no commit of its code.",
                "Keep the project in git: runs from then on can be reproduced.",
            )
        if self._ran_with["git_is_dirty"] and not allow_dirty:
            raise TidemarkError(
                f"The run {self.run.label} used files that differ from its commit {self.commit[:12]}.",
                "Add --allow-dirty to build with the files of the commit; rows may differ for this reason.",
            )
        hidden = [name for name, value in self._variables.items() if HIDDEN in json.dumps(value)]
        if hidden:
            raise TidemarkError(
                f"The run did not record the value of {', '.join(hidden)}, whose name is that of a secret.",
                f"Give it: --vars '{{{hidden[0]}: …}}'.",
            )

    @property
    def changed(self) -> list[str]:
        """What differs from what the run ran with, and may change rows: locks, versions, the target."""
        now = provenance(self._project.root, {})
        then = self._ran_with
        locks = {**now["locks"], **then["locks"]}
        found = [name for name in sorted(locks) if now["locks"].get(name) != then["locks"].get(name)]
        pairs = [
            ("dbt", then["dbt_version"], dbt_version),
            ("tidemark", then["tidemark_version"], now["tidemark_version"]),
            ("the target", then["target"], target_name(self._project.root)),
        ]
        return [*found, *(f"{name} {was}, now {new}" for name, was, new in pairs if was != new)]

    def tables(self) -> Iterator[Reproduced]:
        """Build and compare; nothing is written.

        Yields:
            Each table that the run wrote, in the order of the run.

        Raises:
            TidemarkError: if the commit's project cannot be had, or does not compile.
        """
        with code_at(self._project.root, self.commit):
            nodes, models, reasons = self._compiled()

        def verdict(table: str) -> Reproduced:
            kind = nodes[table].resource_type if table in nodes else "model"
            return Reproduced(self._verdict(table, models.get(table), reasons.get(table)), kind == "model")

        with ThreadPoolExecutor(AT_ONCE) as pool:
            tables = [written.table for written in self.run.written]
            # a stage is a part of its model, whose own query is computed here
            yield from pool.map(
                verdict, [table for table in tables if table in nodes or not names_a_stage(table)]
            )

    def _compiled(self) -> tuple[dict[str, Any], dict[str, Compiled], dict[str, str]]:
        """Return by table: its node, its compiled model, and why there is none."""
        variables = json.dumps({**self._variables, "as_of": self.run.id})
        manifest = invoke_dbt(["--log-level=none", *PARSE, "--vars", variables])
        wanted = {written.table for written in self.run.written}
        nodes = {}
        for node in manifest.nodes.values():
            if node.resource_type == "model" and node.config.materialized in VIEWS:
                node.config.materialized = "ephemeral"  # the views of the commit, not those of the catalog
            elif node.resource_type in ("model", *NOT_FROM_VERSIONS) and table_of(node) in wanted:
                nodes[table_of(node)] = node
        reasons = {table: why for table in wanted if (why := self._why_not(nodes.get(table), manifest))}
        chosen = [node for table, node in nodes.items() if table not in reasons]
        if not chosen:
            return nodes, {}, reasons
        found = compiled_nodes(manifest, [f"fqn:{'.'.join(node.fqn)}" for node in chosen], variables)
        models = {table_of(node): compiled(node, manifest) for node in found}
        return nodes, {table: model for table, model in models.items() if table in wanted}, reasons

    def _why_not(self, node: Any, manifest: Any) -> str | None:
        """Return why a table cannot be built from versions, or None."""
        if node is None:
            return "the commit's project does not build it"
        if node.resource_type in NOT_FROM_VERSIONS:
            return NOT_FROM_VERSIONS[node.resource_type]
        if node.language != "sql":
            return "its model is not SQL"
        try:
            for table in (*tables_below(manifest, node), table_of(node)):
                self._past.reading(table)
        except TidemarkError as error:
            return error.what
        return None

    def _verdict(self, table: str, model: Compiled | None, reason: str | None) -> Verdict:
        make_active(self._spark)
        with timed(Verdict(table)) as verdict:
            if model is None or model.is_unproven:
                verdict.unproven = reason or (model.way.why_unproven if model else "")
                return verdict
            try:
                compare(self._spark, model, verdict, self._past.reading(table).sql)
            except PySparkException as error:
                verdict.unproven = sentence(error)
        return verdict

    @cached_property
    def _variables(self) -> dict[str, Any]:
        return {**json.loads(self._ran_with["vars"] or "{}"), **self._given}

    @cached_property
    def _ran_with(self) -> dict[str, Any]:
        return State(self._spark, self._project.ops_schema).ran_with(self.run)
