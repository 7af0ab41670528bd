"""Typed rows of `ops.runs`: runs, the tables that they wrote, and checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from tidemark.base.clock import utc_time
from tidemark.engine.checkpoints.window import Window

UNDO = "undo"  # the command of a run that takes others back
CHANGES, JOINED, WATERMARK, STAGED = KINDS = ("changes", "joined", "watermark", "staged")
ID_LENGTH = 8  # characters of a run's id
CODE = (("code", "its SQL"), ("macros", "a macro that it uses"), ("variables", "a variable that it reads"))
Pair = tuple[str, str]  # a reader and a source


@dataclass(frozen=True)
class Contract:
    """Fingerprints of what a model or test declares, and of its code. None: not recorded.

    Attributes:
        contract: columns, constraints and descriptions of a model; the settings of a test.
        grain: `unique_key`, `newest_by`, `insert_only` and `prune_by`; None for a test.
        code: the written SQL of the node and of the views that it reads.
        macros: the macros that this SQL uses.
        variables: the values of the variables that it reads.
    """

    contract: str | None = None
    grain: str | None = None
    code: str | None = None
    macros: str | None = None
    variables: str | None = None

    def has_other_grain(self, now: Contract) -> bool:
        """Return whether the grain is known and was another one."""
        return self.grain is not None and self.grain != now.grain

    def changed_code(self, now: Contract, among: Sequence[str] = ("code", "macros", "variables")) -> str:
        """Return the part of the code that changed, in words; empty if none did or if it is not known.

        Args:
            now: the present fingerprints.
            among: the parts that are compared.
        """
        if self.code is None:
            return ""
        parts = ((name, words) for name, words in CODE if name in among)
        return next((words for name, words in parts if getattr(self, name) != getattr(now, name)), "")


@dataclass(frozen=True)
class Checkpoint:
    """Up to where a reader has read a source.

    Attributes:
        model: the reader: a model's table as `schema.name`, or the id of a test.
        source: the table that was read, `schema.name`.
        sequence: grows by one each time the checkpoint moves.
        kind: `changes`: read by its changes. `joined`: named by a plain `ref()` or `source()`. `watermark`:
            read by a column. `staged`: read by a stage of a model, which is the reader. None: an undo took
            the reader's first checkpoint back.
        source_id: the id of the source; None for a watermark.
        version: the version up to which it was read; None for a watermark.
        watermark, watermark_column: the highest value that was read, as text, and its column.
        table_version, table_id: the model's own table after the run.
        contract: what the reader declared, and its code.
        recorded_at: when the run began, in microseconds since 1970.
    """

    model: str
    source: str
    sequence: int
    kind: str | None = None
    source_id: str | None = None
    version: int | None = None
    watermark: str | None = None
    watermark_column: str | None = None
    table_version: int | None = None
    table_id: str | None = None
    contract: Contract = Contract()
    recorded_at: int = 0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Checkpoint:
        """Return the checkpoint of a row with the columns of `ops.checkpoints`; other columns are ignored."""
        parts = {name: row[name] for name in CONTRACT_FIELDS}
        values = {
            each.name: row[each.name] for each in fields(cls) if each.name in row and each.name not in parts
        }
        numbers = {name: int(values[name]) for name in NUMBERS if values.get(name) is not None}
        return cls(**{**values, **numbers, "contract": Contract(**parts)})

    @property
    def pair(self) -> Pair:
        """The reader and the source."""
        return self.model, self.source

    @property
    def is_of_test(self) -> bool:
        """Whether the reader is a test."""
        return self.model.startswith("test.")

    @property
    def place(self) -> tuple[Any, ...]:
        """What was read of the source; another place moves the checkpoint."""
        return self.kind, self.source_id, self.version, self.watermark_column

    @property
    def columns(self) -> dict[str, Any]:
        """The values to store, by column."""
        values = {**asdict(self), **asdict(self.contract)}
        del values["recorded_at"]
        return values


CONTRACT_FIELDS = tuple(each.name for each in fields(Contract))
NUMBERS = ("sequence", "version", "table_version", "recorded_at")


class Checkpoints:
    """The newest checkpoint of each reader and source.

    Args:
        newest: these, also those that an undo took back.
    """

    def __init__(self, newest: Iterable[Checkpoint] = ()) -> None:
        self._newest = {each.pair: each for each in newest}

    def of(self, reader: str, source: str) -> Checkpoint | None:
        """Return the checkpoint of a reader on a source; None if there is none."""
        found = self._newest.get((reader, source))
        return found if found and found.kind else None

    def sources_of(self, reader: str) -> list[str]:
        """Return the sources on which a reader has checkpoints."""
        return [source for (other, source), each in self._newest.items() if other == reader and each.kind]

    def moved(
        self,
        reader: str,
        window: Window,
        contract: Contract,
        table: Mapping[str, Any],
        *,
        keeps_contract: bool = False,
    ) -> dict[str, Any] | None:
        """Return the columns of the next checkpoint of a reader; None if it does not move.

        Args:
            reader: a model's table, or the id of a test.
            window: what was read of one source.
            contract: what the reader declares now.
            table: `version` and `id` of the model's own table.
            keeps_contract: whether the run computed a part of the table only.
        """
        source = window.source
        before, last = self.of(reader, source), self._newest.get((reader, source))
        new = Checkpoint(
            reader,
            source,
            last.sequence + 1 if last else 1,
            window.kind,
            window.source_id,
            window.last,
            window.watermark,
            window.watermark_column,
            table["version"],
            table["id"],
            contract,
        )
        is_same = before is not None and (before.place, before.contract) == (new.place, contract)
        if window.state == "nothing new" and is_same:
            return None
        if keeps_contract:
            new = replace(new, contract=before.contract if before else Contract())
        return new.columns


def latest(own: Iterable[Checkpoint]) -> list[Checkpoint]:
    """Return the checkpoints of a reader's latest run, one for each version of its table that they name.

    The checkpoint of a source may be older, because a source without news does not move it.

    Args:
        own: the checkpoints of one reader.
    """
    known = list(own)
    last = max((each.recorded_at for each in known), default=0)
    return list({each.table_version: each for each in known if each.recorded_at == last}.values())


@dataclass(frozen=True)
class Written:
    """A table that a run wrote.

    Attributes:
        table: `schema.name`.
        table_id: its id afterwards.
        before, after: its version before the run, None if there was no table, and after it.
    """

    table: str
    table_id: str
    before: int | None
    after: int


@dataclass(frozen=True)
class Run:
    """A row of `ops.runs`.

    Attributes:
        id: dbt's invocation_id.
        command: `run`, `build` and so on, or `undo`.
        started, ended: in microseconds since 1970.
        written: the tables that it wrote.
        undone: for an undo, the runs that it took back.
        checkpoints: those that it moved, for runs that were read with them.
    """

    id: str
    command: str
    started: int
    ended: int
    written: tuple[Written, ...] = ()
    undone: tuple[str, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = field(default=(), repr=False)

    @property
    def label(self) -> str:
        """The run in words: `3f2a91c4 (build, 2026-01-31 04:00:12)`."""
        return f"{self.id[:ID_LENGTH]} ({self.command}, {utc_time(self.started):%Y-%m-%d %H:%M:%S})"

    @property
    def models(self) -> set[str]:
        """The tables that it wrote, or whose checkpoints it moved."""
        moved = {each.model for each in self.checkpoints if not each.is_of_test}
        return moved | {each.table for each in self.written}
