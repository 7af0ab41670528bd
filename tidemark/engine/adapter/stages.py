"""Maintain the stages of a model: the parts of its query that have tables of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt_common.exceptions import CompilationError

from tidemark.engine.adapter.models import ModelsAdapter
from tidemark.engine.adapter.writing import DbtExecutor
from tidemark.engine.checkpoints.rows import STAGED, Checkpoints, Contract
from tidemark.engine.checkpoints.window import Window
from tidemark.engine.decision.costs import are_few
from tidemark.engine.decision.stages import base_version, stages_wanted
from tidemark.engine.decision.states import FULL, INCREMENTAL, NOTHING_NEW
from tidemark.engine.decision.tables import ICEBERG
from tidemark.engine.incremental.choosing import choose_plan
from tidemark.engine.incremental.plan import Plan, full
from tidemark.engine.incremental.readings import filled, present
from tidemark.engine.incremental.request import Request, request_of
from tidemark.engine.incremental.tree import leaves, render
from tidemark.engine.writing import merging, plans
from tidemark.engine.writing.target import Batch, Target
from tidemark.lake.stage_tables import STAGE_OF, stage_table

if TYPE_CHECKING:
    from dbt.adapters.base.relation import BaseRelation

    from tidemark.engine.decision.tables import TableState
    from tidemark.engine.incremental.stages import Stage, Staged


@dataclass(frozen=True)
class StageRun:
    """What a run did with a stage, for its record.

    Attributes:
        table: the table of the stage.
        windows: what it read of each table.
        contract: the fingerprint of its query.
        table_id: the id of its table.
        before, version: the version before the run, None if there was no table, and after it.
        how: how it was brought up to date, in words.
    """

    table: str
    windows: Sequence[Window]
    contract: Contract
    table_id: str | None
    before: int | None
    version: int
    how: str


@dataclass
class OverStages:
    """A model's query over its stages, after these were brought up to date.

    Attributes:
        staged: the query in stages.
        plan: how the model's table is brought up to date; None if no stage has changed.
        readings: what reads the sources and the stages.
        sql: the query over the stages, at their present versions.
        runs: what the run did with each stage.
    """

    staged: Staged
    plan: Plan | None
    readings: dict[str, dict[str, Any]]
    sql: str
    runs: list[StageRun] = field(default_factory=list)

    @property
    def how(self) -> str:
        """The ways of the stages and of the table over them, in words."""
        return self.staged.in_words([run.how for run in self.runs], self.plan)


class StagesAdapter(ModelsAdapter):
    """The part of the adapter that maintains stages."""

    @available
    def staged(self, table: str, plan: Plan) -> Staged | None:
        """Return a model's query in stages; None if its plan is the way.

        Args:
            table: the model's table, `schema.name`.
            plan: how one step brings it up to date.
        """
        from tidemark.engine.incremental.analysis import staged_of

        first = self._relation_of(stage_table(table, 1))
        wanted = stages_wanted(plan.way, plan.request, are_there=lambda: self.is_there(first))
        return staged_of(
            plan.root, plan.request, lambda number: stage_table(table, number), self._types_of, wanted
        )

    @available
    def why_not_maintained(self, table: str, sql: str, request: Mapping[str, Any]) -> str:
        """Return why a query is computed in full after a change; empty if it is maintained.

        Args:
            table: the model's table, `schema.name`.
            sql: its query.
            request: the values of a `Request`; each of its `changed` tables is tried.
        """
        from tidemark.engine.incremental.analysis import plans_of

        wanted = request_of(request)
        changes = [frozenset([changed]) for changed in sorted(wanted.changed)]
        plans = plans_of(self._catalog(), sql, wanted, changes)
        lacking = next((plan for plan in plans if plan.way == "full"), None)
        return "" if lacking is None or self.staged(table, lacking) else lacking.why

    @available
    def write_stages(self, staged: Staged, run: Mapping[str, Any]) -> OverStages:
        """Bring the stages of a model up to date, and plan the model's table over them.

        Args:
            staged: the model's query in stages.
            run: `table`, the model's; `request`, the values of a `Request`; `readings` and `windows`, by
                table; `checkpoints`; `properties` of a new table; the macros `as_of` and `change_rows`;
                `views` and `view_name`, as in `writer`.
        """
        writing = _Writing(self, run, request_of(run["request"]))
        for stage in staged.stages:
            writing.write(stage)
        rest = frozenset(leaf.table for leaf in leaves(staged.rest))
        changed = frozenset(writing.changed & rest)
        if writing.rebuilt & rest:
            plan: Plan | None = full(writing.request, "a stage was made anew")
        else:
            plan = choose_plan(staged.rest, replace(writing.request, changed=changed)) if changed else None
        sql = filled(render(staged.rest, present), writing.readings)
        return OverStages(staged, plan, writing.readings, sql, writing.runs)

    @available
    def drop_stages(self, table: str) -> None:
        """Drop the tables of a model's stages, so that the next run makes them anew.

        Args:
            table: the model's table, `schema.name`.
        """
        lake: Any = self
        purge = " purge" if lake.table_format() == ICEBERG else ""
        relations = (self._relation_of(stage_table(table, number)) for number in count(1))
        for relation in reversed(
            [*takewhile(self.is_there, relations)]
        ):  # a killed drop leaves the first ones
            if self.table_state(relation).properties.get(STAGE_OF) == table.lower():
                self.execute(f"drop table {relation}{purge}")
                self.forget_table(relation)

    @available
    def stage_checkpoints(self, runs: Sequence[StageRun], known: Checkpoints) -> list[dict[str, Any]]:
        """Return the checkpoints that the stages of a model move."""
        moved = [
            known.moved(run.table, window, run.contract, {"id": run.table_id, "version": run.version})
            for run in runs
            for window in run.windows
        ]
        return [each for each in moved if each is not None]

    def _relation_of(self, table: str) -> Any:
        schema, _, name = table.partition(".")
        return self.Relation.create(schema=schema, identifier=name)

    def _types_of(self, sql: str) -> dict[str, str]:
        return {column.name: column.kind for column in self._columns_of_query(sql)}


@dataclass
class _Writing:
    adapter: Any
    run: Mapping[str, Any]
    request: Request
    runs: list[StageRun] = field(default_factory=list)
    rebuilt: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.readings: dict[str, dict[str, Any]] = dict(self.run["readings"])
        self.windows: dict[str, Window] = {name.lower(): one for name, one in self.run["windows"].items()}
        self.changed = set(self.request.changed)

    def write(self, stage: Stage) -> None:
        """Bring a stage up to date, and note what reads it."""
        relation = self.adapter._relation_of(stage.table)
        reads = {leaf.table for leaf in leaves(stage.tree)}
        windows = [replace(self.windows[table], kind=STAGED) for table in sorted(reads)]
        sql = filled(render(stage.tree, present), self.readings)
        contract = Contract(code=_fingerprint(stage))
        now = self.adapter.table_state(relation) if self.adapter.is_there(relation) else None
        before = now.version if now else None  # a commit moves `now`
        base = base_version(stage.table, windows, contract, self.run["checkpoints"], now)
        if base is None or reads & self.rebuilt:
            how, base = "made anew", None
            self._create(relation, sql, now)
            self.rebuilt.add(stage.table)
            windows = [replace(window, state=FULL) for window in windows]
        elif reads & self.changed:
            plan = stage.plan(frozenset(reads & self.changed), self.request)
            how = plan.how
            self._update(stage, relation, base, plan, sql)
        else:
            how = "unchanged"
        state = self.adapter.table_state(relation)
        self._note(stage, relation, base, state)
        self.runs.append(StageRun(stage.table, windows, contract, state.id, before, state.version, how))

    def _note(self, stage: Stage, relation: BaseRelation, base: int | None, state: Any) -> None:
        is_changed = base != state.version
        kind = NOTHING_NEW if not is_changed else FULL if base is None else INCREMENTAL
        window = Window(stage.table, kind, STAGED, state.id, base if is_changed else None, state.version)
        self.windows[stage.table] = window
        if is_changed:
            self.changed.add(stage.table)
        if kind == INCREMENTAL and are_few(state.since(base)):
            self.request = replace(self.request, few=self.request.few | {stage.table})
        as_of, change_rows = self.run["as_of"], self.run["change_rows"]
        self.readings[stage.table] = {
            "present": as_of(relation, state.version),
            "previous": as_of(relation, state.version if base is None else base),
            "changes": change_rows(relation, window) if kind == INCREMENTAL else "",
        }

    def _create(self, relation: BaseRelation, sql: str, now: TableState | None) -> None:
        model = self.run["table"].lower()
        if now is not None and now.properties.get(STAGE_OF) != model:
            raise CompilationError(
                f"{relation} exists, and no run of {model} has made it. That is the name of a stage of its "
                "query: rename or drop the table, or set `meta: {maintain: never}`."
            )
        properties = ", ".join(
            f"'{name}' = '{value}'" for name, value in {**self.run["properties"], STAGE_OF: model}.items()
        )
        self.adapter.execute(f"create schema if not exists {relation.schema}")
        self.adapter.execute(
            f"create or replace table {relation} using {self.adapter.table_format()} "
            f"tblproperties ({properties}) as {sql}"
        )
        self.adapter.forget_table(relation)

    def _update(self, stage: Stage, relation: BaseRelation, base: int, plan: Plan, sql: str) -> None:
        executor = DbtExecutor(self.adapter, relation, self.run["views"], self.run["view_name"])
        target = Target(
            str(relation.identifier), relation.render(), stage.types, stage.key,
            self.run["as_of"](relation, base), is_embedded=self.adapter.is_embedded(),
        )  # fmt: skip
        if plan.way == "full":
            change = merging.make_equal(executor, target, Batch(sql))
        else:
            change = plans.prepare(executor, target, plan, self.readings)
        if change.statement:
            self.adapter.execute(change.statement)
            self.adapter.note_commit(relation)
        for name in change.views:
            executor.drop_view(name)


def _fingerprint(stage: Stage) -> str:
    """Return a fingerprint of a stage's query: another query needs another table."""
    text = f"{render(stage.tree, present).sql('spark')} {stage.key} {dict(stage.types)}"
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:12]
