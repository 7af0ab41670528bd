"""The state of the lake's tables, as macros ask for it: read once per command, and again after a write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt.flags import get_flags
from dbt_common.exceptions import CompilationError

from tidemark.engine.adapter.map_text import map_of
from tidemark.engine.adapter.state import StateAdapter
from tidemark.engine.decision.commits import Commit, delta_commit, iceberg_commits
from tidemark.engine.decision.tables import DELTA, ICEBERG, TableState

if TYPE_CHECKING:
    from dbt.adapters.base.relation import BaseRelation

RUNS = ("build", "run", "test")  # other commands work on an empty lake, too


class TablesAdapter(StateAdapter):
    """The part of the adapter that knows versions and commits of tables."""

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        self._tables: dict[str, TableState] = {}

    @available
    def table_state(self, relation: BaseRelation) -> TableState:
        """Return the state of a table.

        Raises:
            CompilationError: if a command that runs models finds no table.
        """
        name = name_of(relation)
        if name not in self._tables:
            if not self.is_there(relation):
                return self._missing(relation)
            self._tables[name] = self._read_table(relation)
        state: TableState = self._tables[name]
        return state

    @available
    def known_state(self, relation: BaseRelation) -> TableState | None:
        """Return the state of a table if this command has read it."""
        return self._tables.get(name_of(relation))

    @available
    def version_now(self, relation: BaseRelation) -> int:
        """Return the version that a table has at this moment."""
        return self._read_table(relation).version

    @available
    def forget_table(self, relation: BaseRelation) -> None:
        """Let the next reader of a table's state read it again, because the table was replaced or altered."""
        self._tables.pop(name_of(relation), None)

    @available
    def state_since(self, relation: BaseRelation, version: int) -> TableState:
        """Return the state of a table with its commits after a version."""
        now: TableState = self.table_state(relation)
        age = now.age(version)
        if now.format == DELTA and age is not None and len(now.commits) < age:
            found = self.newest_commits(relation, age)
            now.commits = [commit for commit in found if commit.version <= now.version]
        return now

    @available
    def commits_between(self, relation: BaseRelation, after: int, last: int) -> list[Commit]:
        """Return the commits of a table after one version up to another, newest first."""
        return list(self.state_since(relation, after).between(after, last))

    @available
    def newest_commits(self, relation: BaseRelation, number: int) -> list[Commit]:
        """Return the newest commits of a table, newest first; of Iceberg all."""
        lake: Any = self
        if lake.table_format() == ICEBERG:
            return self._iceberg_commits(relation)
        log = lake.delta_log(name_of(relation))
        rows = log.commits(number) if log else self._rows(f"describe history {relation} limit {number}")
        return [delta_commit(_with_maps(row), lake.has_one_session()) for row in rows]

    @available
    def last_commit(self, relation: BaseRelation) -> Commit:
        """Return the newest commit of a table."""
        commit: Commit = self.newest_commits(relation, 1)[0]
        return commit

    @available
    def note_commit(self, relation: BaseRelation) -> Commit:
        """Return the commit that this command has just made in a table whose state is known."""
        commit: Commit = self.last_commit(relation)
        if not self.table_state(relation).add(commit):
            self.forget_table(relation)
        return commit

    def columns_of(self, relation: BaseRelation) -> list[str]:
        """Return the names of a table's columns."""
        lake: Any = self
        log = lake.delta_log(name_of(relation)) if lake.table_format() == DELTA else None
        return (
            list(log.columns) if log else [column.name for column in lake.get_columns_in_relation(relation)]
        )

    def _read_table(self, relation: BaseRelation) -> TableState:
        lake: Any = self
        if lake.table_format() == ICEBERG:
            return self._iceberg_state(relation)
        log = lake.delta_log(name_of(relation))
        if log:
            return TableState(**log.state())
        detail = self._rows(f"describe detail {relation}")[0]
        commits = self.newest_commits(relation, 1)  # each is a file to read
        properties = _map(detail["properties"])
        files, size = int(detail["numFiles"]), int(detail["sizeInBytes"])
        return TableState(detail["id"], commits[0].version, DELTA, properties, files, size, commits)

    def _iceberg_state(self, relation: BaseRelation) -> TableState:
        """Return the state of an Iceberg table; one that was never written has no snapshot and version 0."""
        rows = self._rows(f"show tblproperties {relation}")
        commits = self._iceberg_commits(relation)
        state = TableState(ICEBERG, 0, ICEBERG, {row["key"]: row["value"] for row in rows}, commits=commits)
        for newest in commits[:1]:
            state.version, state.files, state.bytes = newest.version, newest.total_files, newest.total_bytes
        return state

    def _iceberg_commits(self, relation: BaseRelation) -> list[Commit]:
        lake: Any = self
        rows = self._rows(
            "select snapshot_id, parent_id, operation, committed_at, summary, (select max(snapshot_id) "
            f"from {relation}.refs where name = 'main') as present_id from {relation}.snapshots"
        )
        return iceberg_commits(map(_with_maps, rows), lake.has_one_session())

    def _missing(self, relation: BaseRelation) -> TableState:
        flags: Any = get_flags()  # type: ignore[no-untyped-call]
        lake: Any = self
        if getattr(flags, "WHICH", None) not in RUNS:
            return TableState(None, 0, lake.table_format())
        sources: Iterator[Any] = iter(lake.get_macro_resolver().sources.values())
        place = (relation.schema, relation.identifier)
        is_landed = any((source.schema, source.identifier) == place for source in sources)
        todo = f"Land it first: `tidemark land {relation.identifier}`."
        if not is_landed:
            todo = f"Build it first: `dbt build --select {relation.identifier}`."
        raise CompilationError(f"{name_of(relation)} does not exist yet. {todo}")


def name_of(relation: BaseRelation) -> str:
    """Return `schema.table`, the name of a relation in the state tables."""
    return f"{relation.schema}.{relation.identifier}"


def _with_maps(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row whose maps are dictionaries; results may have them as texts."""
    maps = ("operationParameters", "operationMetrics", "summary")
    return {**row, **{name: _map(row[name]) for name in maps if name in row}}


def _map(value: Any) -> dict[str, Any]:
    return map_of(value) if isinstance(value, str) else dict(value or {})
