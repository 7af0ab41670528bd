"""How models read and write, as macros ask for it: gathers the facts, and `engine/decision` decides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt_common.exceptions import CompilationError

from tidemark.engine.adapter.tables import TablesAdapter
from tidemark.engine.checkpoints.rows import Checkpoint, Checkpoints, Contract, latest
from tidemark.engine.checkpoints.window import Window
from tidemark.engine.decision import losses, windows, writing
from tidemark.engine.decision.facts import MAX_REBUILD_BYTES, Command, Facts, Source
from tidemark.engine.decision.reading import decide_reading
from tidemark.engine.decision.states import COLUMNS_ADDED, FULL, INCREMENTAL, Reading

if TYPE_CHECKING:
    from dbt.adapters.base.relation import BaseRelation

    from tidemark.engine.decision.tables import TableState
    from tidemark.engine.decision.ways import Way


class DecidingAdapter(TablesAdapter):
    """The part of the adapter that decides what a run does with a model."""

    @available
    def command(self, **asked: Any) -> Command:
        """Return what the command asks of a model: the fields of `Command`."""
        values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in asked.items()}
        return Command(**values)

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
        table = f"{relation.schema}.{relation.identifier}"
        looks_back = model["is_built"] or command.verifies or command.dates or command.columns
        read = [self._source(each, table, checkpoints, bool(looks_back)) for each in sources]
        known = [
            each.checkpoint for each in read if each.checkpoint and each.checkpoint.table_version is not None
        ]
        meta = model["meta"]
        return Facts(
            table,
            model["way"],
            model["is_built"],
            self._own(relation, known) if model["has_table"] else None,
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

    @available
    def decide_reading(self, facts: Facts) -> Reading:
        """Return how a model reads, for all its sources at once."""
        return decide_reading(facts)

    @available
    def change_window(self, facts: Facts, reading: Reading, relation: BaseRelation) -> Window:
        """Return what a model reads of a source by `changes()`.

        Raises:
            CompilationError: if there is no such table, or it was not read by the runs before.
        """
        name, now = f"{relation.schema}.{relation.identifier}", self.table_state(relation)
        source = _find(facts, name) or Source(name, checkpoint=facts.checkpoints.of(facts.table, name))
        try:
            return windows.change_window(facts, reading, replace(source, now=now))
        except windows.FirstReading as error:
            raise CompilationError(str(error)) from error

    @available
    def past_window(self, source: str, version: int) -> Window:
        """Return the window of a table that is read as of a run."""
        return windows.past_window(source, version)

    @available
    def joined_window(self, facts: Facts, reading: Reading, relation: BaseRelation) -> Window:
        """Return what a model reads of a source by a plain `ref()` or `source()`."""
        name, now = f"{relation.schema}.{relation.identifier}", self.table_state(relation)
        source = _find(facts, name) or Source(name, checkpoint=facts.checkpoints.of(facts.table, name))
        return windows.joined_window(facts, reading, replace(source, now=now))

    @available
    def planned_windows(self, facts: Facts, reading: Reading) -> list[Window]:
        """Return what the next run of a plain model would read of each source."""
        tables = [source for source in facts.sources if not source.is_view]
        return [windows.planned_window(facts, reading, source) for source in tables]

    @available
    def watermark_window(
        self, source: str, column: str, reading: Reading, checkpoint: Checkpoint | None
    ) -> Window | None:
        """Return what a model reads of a source by a watermark, without its end; None for a rebuild."""
        try:
            return windows.watermark_window(source, column, reading, checkpoint)
        except windows.FirstReading:
            return None

    @available
    def up_to(self, window: Window, reading: Reading, high: Mapping[str, Any], lookback: Any) -> Window:
        """Return a window of a watermark that ends with a value: `value` and `type`."""
        return windows.up_to(window, reading, high["value"], high["type"], str(lookback or ""))

    @available
    def tested_window(
        self, relation: BaseRelation, last: int, checkpoint: Checkpoint | None, contract: Contract, full: bool
    ) -> Window:
        """Return what a test reads of a table."""
        now = self.table_state(relation)
        if checkpoint and checkpoint.version is not None:
            now = self.state_since(relation, checkpoint.version)
        name = f"{relation.schema}.{relation.identifier}"
        return windows.tested_window(name, now, last, checkpoint, contract, full=full)

    @available
    def read_changes(self, facts: Facts, reading: Reading, joined: Collection[Window], how: str) -> None:
        """Note that a plain model reads the changes of the sources that changed, and `how` it uses them."""
        reading.state = reading.why = INCREMENTAL
        for window in joined:
            source = _find(facts, window.source)
            if source:
                windows.read_changes(window, source, window.source in reading.changed, how)

    @available
    def read_in_full(self, reading: Reading, joined: Collection[Window], why: str) -> None:
        """Note that a plain model's query is computed in full."""
        reading.state, reading.why = FULL, why
        windows.read_in_full(joined, FULL, why)

    @available
    def with_new_columns(self, joined: Collection[Window], why: str) -> Reading:
        """Return the reading of a model that is rebuilt because its columns have changed."""
        windows.read_in_full(joined, COLUMNS_ADDED, why)
        return Reading(COLUMNS_ADDED, why)

    @available
    def lost_table(self, facts: Facts) -> str | None:
        """Return why a model's table is not as its runs left it; None if it is."""
        return losses.lost_table(facts)

    @available
    def is_written_since_checkpoint(self, facts: Facts) -> bool:
        """Return whether a run wrote a model's table, and was interrupted before it recorded that."""
        return losses.is_written_since_checkpoint(facts)

    @available
    def step_of(self, way: Way, command: Command, exists: bool, states: list[str], has_sources: bool) -> str:
        """Return what a run does with a model's table: the name of a `Step`."""
        return writing.step_of(way, command, exists, states, has_sources).name

    @available
    def addition_of(self, way: Way, command: Command, config: Mapping[str, Any], has_key: bool) -> str:
        """Return how an increment is written: the name of an `Addition`."""
        return writing.addition_of(way, command, config, has_key).name

    @available
    def refused_grain(self, name: str, state: str, keeps: bool, config: Mapping[str, Any]) -> str:
        """Return why a model that keeps rows cannot add to them; empty if it can."""
        return writing.refused_grain(name, state, keeps, config)

    def _source(
        self, given: Mapping[str, Any], table: str, checkpoints: Checkpoints, looks_back: bool
    ) -> Source:
        relation = given["relation"]
        name = f"{relation.schema}.{relation.identifier}"
        checkpoint = checkpoints.of(table, name)
        now: TableState | None = None
        if given["has_versions"]:
            now = self.table_state(relation)
            if looks_back and checkpoint and checkpoint.version is not None:
                now = self.state_since(relation, checkpoint.version)
        return Source(name, now, checkpoint, given["is_view"], given["is_landed"], given["is_named"])

    def _own(self, relation: BaseRelation, known: Sequence[Checkpoint]) -> TableState:
        oldest = min((each.table_version or 0 for each in latest(known)), default=None)
        own: TableState = self.table_state(relation) if oldest is None else self.state_since(relation, oldest)
        return own

    def _look_for(self, relation: BaseRelation, declared: Sequence[str]) -> Callable[[], Sequence[str]]:
        def look() -> Sequence[str]:
            present = self.columns_of(relation) if declared else []
            return [name for name in declared if name not in present]

        return look


def _find(facts: Facts, name: str) -> Source | None:
    return next((source for source in facts.sources if source.name == name), None)
