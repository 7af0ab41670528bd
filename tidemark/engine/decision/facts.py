"""What the decision about one model is made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.engine.checkpoints.rows import Checkpoint, Checkpoints, Contract, latest
from tidemark.engine.decision.tables import TableState
from tidemark.engine.decision.ways import DERIVED, Way

MAX_REBUILD_BYTES = 100 * 1024**3


@dataclass(frozen=True)
class Source:
    """A table or view that a model reads, directly or through views.

    Attributes:
        name: `schema.table`.
        now: its state; None for a view, and for a table without versions.
        checkpoint: up to where the model has read it.
        is_view: whether it is a view, whose tables are sources, too.
        is_landed: whether a feed lands it.
        is_named: whether the model's own SQL names it; else a view does.
    """

    name: str
    now: TableState | None = None
    checkpoint: Checkpoint | None = None
    is_view: bool = False
    is_landed: bool = False
    is_named: bool = True

    @property
    def known(self) -> Checkpoint:
        """The checkpoint of a source that has one."""
        assert self.checkpoint is not None  # noqa: S101
        return self.checkpoint

    @property
    def is_read_before(self) -> bool:
        """Whether it has a checkpoint: of a watermark, or of a table that still has versions."""
        return self.checkpoint is not None and (self.checkpoint.version is None or self.now is not None)

    @property
    def versioned(self) -> tuple[TableState, Checkpoint]:
        """The state and the checkpoint of a table that has both."""
        assert self.now is not None  # noqa: S101
        assert self.checkpoint is not None  # noqa: S101
        return self.now, self.checkpoint


@dataclass(frozen=True)
class Command:
    """What this command asks of each model.

    Attributes:
        verifies: whether `tidemark verify` asks for the query as it was consumed.
        explains: whether `tidemark explain` asks what the next run would do.
        reads_past: whether tables are read as of a run.
        full_refresh: whether tables are built anew.
        repairs: whether the rows of this model that differ from a rebuild are written.
        dates: the first and the last date to rebuild, or none.
        columns: the columns to rebuild, or none.
        is_limited: whether models get only a part of their rows: `--empty` or `--sample`.
    """

    verifies: bool = False
    explains: bool = False
    reads_past: bool = False
    full_refresh: bool = False
    repairs: bool = False
    dates: Sequence[str] = ()
    columns: Sequence[str] = ()
    is_limited: bool = False


@dataclass(frozen=True)
class Facts:
    """A model, its table and its sources, as a run finds them.

    Attributes:
        table: `schema.name`.
        way: how it is written.
        is_built: whether it has a table that a run can add to.
        own: the state of this table; None if there is none.
        sources: what it reads.
        checkpoints: all checkpoints.
        contract: what it declares, and its code.
        has_hooks: whether it has hooks of its own.
        has_one_session: whether all statements go through one session, so that runs sign their commits.
        calls_incremental: whether its SQL calls `is_incremental()`.
        on_code_change: its `meta.on_code_change`.
        max_rebuild_bytes: its `meta.max_rebuild_bytes`.
        look_for_columns: returns declared columns that the table does not have yet; a query of the catalog.
        command: what this command asks.
    """

    table: str
    way: Way = field(default_factory=lambda: Way(DERIVED))
    is_built: bool = True
    own: TableState | None = None
    sources: Sequence[Source] = ()
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    contract: Contract = field(default_factory=Contract)
    has_hooks: bool = False
    has_one_session: bool = True
    calls_incremental: bool = False
    on_code_change: Any = None
    max_rebuild_bytes: int = MAX_REBUILD_BYTES
    look_for_columns: Callable[[], Sequence[str]] = tuple
    command: Command = field(default_factory=Command)

    @property
    def name(self) -> str:
        """The model's name, for messages."""
        return self.table.partition(".")[2]

    @property
    def is_plain(self) -> bool:
        """Whether its table is kept equal to its query, from the changes of its sources."""
        return self.way.name == DERIVED and not self.command.is_limited

    @property
    def own_checkpoints(self) -> list[Checkpoint]:
        """Its checkpoints on present sources."""
        found = [source.checkpoint for source in self.sources if source.checkpoint]
        return [each for each in found if each.table_version is not None]

    @property
    def newest(self) -> Checkpoint | None:
        """The checkpoint of its latest run; None if there is none.

        The checkpoint of one source may be older if it had nothing new. If a run was killed and the next one
        finished it, two versions of the table have been recorded by one run: the newer one counts.
        """
        candidates = latest(self.own_checkpoints)
        if len(candidates) < 2 or self.own is None:
            return candidates[-1] if candidates else None
        ages = [(self.own.age(each.table_version or 0), each) for each in candidates]
        known = [(age, each) for age, each in ages if age is not None]
        return min(known, key=lambda pair: pair[0])[1] if known else candidates[-1]

    def source(self, name: str) -> Source:
        """Return the source of a name; a table that dbt's graph does not have is one, too."""
        known = next((source for source in self.sources if source.name == name), None)
        return known or Source(name, checkpoint=self.checkpoints.of(self.table, name))

    def other_source(self, newest: Checkpoint) -> str | None:
        """Return the table that its last run read in the place of a present source; None if it did not.

        With `--defer`, runs read the tables of another schema.

        Args:
            newest: the newest checkpoint of the present sources.
        """
        present = {source.name for source in self.sources}
        for name in self.checkpoints.sources_of(self.table):
            other = self.checkpoints.of(self.table, name) if name not in present else None
            if other and other.recorded_at >= newest.recorded_at:
                return name
        return None

    @property
    def source_bytes(self) -> dict[str, int]:
        """The size of each table with versions that a rebuild reads, by name in lower case."""
        tables = {source.name.lower(): source.now for source in self.sources if not source.is_view}
        return {name: now.bytes or 0 for name, now in tables.items() if now is not None}

    @property
    def leaves_checkpoints(self) -> bool:
        """Whether a run on all rows would leave checkpoints: it reads a table with versions."""
        return any(source.now is not None and not source.is_view for source in self.sources)

    def rebuild_command(self) -> str:
        """Return the command that builds the table anew."""
        return f"`dbt run --full-refresh --select {self.name}`"
