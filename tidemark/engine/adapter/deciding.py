"""How models read and write, as macros ask for it: gathers the facts, and `engine/decision` decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt_common.exceptions import CompilationError

from tidemark.engine import decision
from tidemark.engine.adapter.tables import TablesAdapter, name_of
from tidemark.engine.checkpoints.rows import Checkpoint, Checkpoints, Contract, latest
from tidemark.engine.checkpoints.window import Window
from tidemark.engine.decision import windows
from tidemark.engine.decision.facts import MAX_REBUILD_BYTES, Command, Facts, Source
from tidemark.engine.decision.states import Reading

if TYPE_CHECKING:
    from dbt.adapters.base.relation import BaseRelation

    from tidemark.engine.decision.tables import TableState


class DecidingAdapter(TablesAdapter):
    """The part of the adapter that gathers what decisions about models are made from."""

    @available
    def decide(self) -> ModuleType:
        """Return the room of decisions: macros call its functions with facts."""
        return decision

    @available
    def facts_of(
        self,
        relation: BaseRelation,
        sources: Sequence[Mapping[str, Any]],
        checkpoints: Checkpoints,
        command: Command,
        model: Mapping[str, Any],
    ) -> Facts:
        """Return what decides how a model reads.

        Args:
            relation: its table.
            sources: what it reads: the fields of `Source`, with `relation` and `has_versions`.
            checkpoints: all checkpoints.
            command: what the command asks.
            model: fields of `Facts`, with `meta`, `has_table` and `declared`: the columns that its table may
                gain.
        """
        table = name_of(relation)
        looks_back = model["is_built"] or command.verifies or command.dates or command.columns
        read = [self._source(each, table, checkpoints, bool(looks_back)) for each in sources]
        meta = model["meta"]
        facts = Facts(
            table,
            model["way"],
            model["is_built"],
            None,
            read,
            checkpoints,
            model["contract"] or Contract(),
            model["has_hooks"],
            self.config.credentials.has_one_session,
            model["calls_incremental"],
            meta.get("on_code_change"),
            meta.get("max_rebuild_bytes", MAX_REBUILD_BYTES),
            self._look_for(relation, model["declared"]),
            command,
        )
        return replace(facts, own=self._own(relation, facts.own_checkpoints)) if model["has_table"] else facts

    @available
    def change_window(self, facts: Facts, reading: Reading, relation: BaseRelation) -> Window:
        """Return what a model reads of a source by `changes()`.

        Raises:
            CompilationError: if there is no such table, or it was not read by the runs before.
        """
        try:
            return windows.change_window(facts, reading, self._present(facts, relation))
        except windows.FirstReading as error:
            raise CompilationError(str(error)) from error

    @available
    def joined_window(self, facts: Facts, reading: Reading, relation: BaseRelation) -> Window:
        """Return what a model reads of a source by a plain `ref()` or `source()`."""
        return windows.joined_window(facts, reading, self._present(facts, relation))

    @available
    def tested_window(
        self, relation: BaseRelation, last: int, checkpoint: Checkpoint | None, contract: Contract, full: bool
    ) -> Window:
        """Return what a test reads of a table."""
        now = self.table_state(relation)
        if checkpoint and checkpoint.version is not None:
            now = self.state_since(relation, checkpoint.version)
        return windows.tested_window(name_of(relation), now, last, checkpoint, contract, full=full)

    def _source(
        self, given: Mapping[str, Any], table: str, checkpoints: Checkpoints, looks_back: bool
    ) -> Source:
        relation = given["relation"]
        name = name_of(relation)
        checkpoint = checkpoints.of(table, name)
        now: TableState | None = None
        if given["has_versions"]:
            now = self.table_state(relation)
            if looks_back and checkpoint and checkpoint.version is not None:
                now = self.state_since(relation, checkpoint.version)
        return Source(name, now, checkpoint, given["is_view"], given["is_landed"], given["is_named"])

    def _present(self, facts: Facts, relation: BaseRelation) -> Source:
        return replace(facts.source(name_of(relation)), now=self.table_state(relation))

    def _own(self, relation: BaseRelation, known: Sequence[Checkpoint]) -> TableState:
        oldest = min((each.table_version or 0 for each in latest(known)), default=None)
        own: TableState = self.table_state(relation) if oldest is None else self.state_since(relation, oldest)
        return own

    def _look_for(self, relation: BaseRelation, declared: Sequence[str]) -> Callable[[], Sequence[str]]:
        def look() -> Sequence[str]:
            present = self.columns_of(relation) if declared else []
            return [name for name in declared if name not in present]

        return look
