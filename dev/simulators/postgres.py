"""The simulated shop in a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from types import TracebackType

import psycopg
from psycopg import sql

from dev.simulators.messages import paced
from dev.simulators.operations import CHANGED_AT, KEYS, LATER_COLUMNS, TABLES, Kind, Operation
from tidemark.base.connections import Connection, variable
from tidemark.base.databases import parameters
from tidemark.base.errors import TidemarkError

_MARK = "made by tidemark simulate"  # the tables' comment; tables without it are never changed


class PostgresTarget:
    """Applies a shop's operations in transactions of up to 500. Use it as a context manager to close it.

    Args:
        connection: of the kind `postgresql`; options that libpq does not know are ignored.
        schema: the schema of the tables; created with its tables if they do not exist.
        rate: operations per second; None means as fast as possible.

    Raises:
        TidemarkError: when the server cannot be reached, refuses, or has other tables with these names.
    """

    def __init__(self, connection: Connection, schema: str = "public", rate: float | None = None) -> None:
        self.connection, self.schema, self.rate = connection, schema, rate
        with self._with_plain_errors("cannot be reached"):
            known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
            options = {name: value for name, value in connection.options.items() if name in known}
            to = replace(connection, options=options)
            self._session = psycopg.connect(**parameters(to), autocommit=True)
        try:
            self._create()
        except BaseException:
            self.close()
            raise

    def apply(self, operations: Iterable[Operation]) -> None:
        """Apply operations in their order.

        Raises:
            TidemarkError: when the server refuses an operation or fails; earlier transactions stay.
        """
        for batch in paced(operations, self.rate):
            with (
                self._with_plain_errors("did not accept a change"),
                self._session.transaction(),
                self._session.pipeline() as sent,
            ):
                for operation in batch:
                    self._add_columns(operation)
                    text = _statement(self.schema, operation.table, operation.kind, tuple(operation.row))
                    self._session.execute(text, operation.row)
                sent.sync()

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def __enter__(self) -> PostgresTarget:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _create(self) -> None:
        with self._with_plain_errors("refused to create the tables"), self._session.transaction():
            query = "select from pg_namespace where nspname = %s"
            if self._session.execute(query, [self.schema]).fetchone() is None:
                self._session.execute(sql.SQL("create schema {}").format(sql.Identifier(self.schema)))
            for table in TABLES:
                self._create_table(table)
            query = "select table_name, column_name from information_schema.columns where table_schema = %s"
            self._columns = set(self._session.execute(query, [self.schema]).fetchall())

    def _create_table(self, table: str) -> None:
        name = sql.Identifier(self.schema, table)
        query = "select obj_description(to_regclass(%s), 'pg_class'), to_regclass(%s) is null"
        text = name.as_string(self._session)
        comment, is_absent = self._session.execute(query, [text, text]).fetchone() or (None, True)
        if not is_absent and comment != _MARK:
            raise TidemarkError(
                f"Connection '{self.connection.name}': {self.schema}.{table} was not made by a simulation.",
                "Set the connection to another database. Nothing was changed in this one.",
            )
        if is_absent:
            columns = [
                sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(type_))
                for column, type_ in TABLES[table].items()
            ]
            key, changed = sql.Identifier(KEYS[table]), sql.Identifier(CHANGED_AT[table])
            listed = sql.SQL(", ").join(columns)
            for statement in (
                sql.SQL("create table {} ({}, primary key ({}))").format(name, listed, key),
                sql.SQL("create index on {} ({})").format(name, changed),
                sql.SQL("comment on table {} is {}").format(name, sql.Literal(_MARK)),
            ):
                self._session.execute(statement)

    def _add_columns(self, operation: Operation) -> None:
        for column, type_ in LATER_COLUMNS.get(operation.table, {}).items():
            if column in operation.row and (operation.table, column) not in self._columns:
                table = sql.Identifier(self.schema, operation.table)
                text = sql.SQL("alter table {} add column if not exists {} {}")
                self._session.execute(text.format(table, sql.Identifier(column), sql.SQL(type_)))
                self._columns.add((operation.table, column))

    @contextmanager
    def _with_plain_errors(self, what: str) -> Iterator[None]:
        """Turn a server error into one sentence, without the password."""
        try:
            yield
        except psycopg.errors.UniqueViolation:
            tables = ", ".join(f"{self.schema}.{table}" for table in TABLES)
            raise TidemarkError(
                f"PostgreSQL of connection '{self.connection.name}' already has the rows of this simulation.",
                f"Drop {tables} and simulate again.",
            ) from None
        except psycopg.Error as error:
            message = self.connection.redacted(" ".join(str(error).split()))
            raise TidemarkError(
                f"PostgreSQL of connection '{self.connection.name}' {what}: {message}",
                f"Check the server, and {variable(self.connection.name)}.",
            ) from None


@cache
def _statement(schema: str, table: str, kind: Kind, columns: tuple[str, ...]) -> bytes:
    """Return the SQL of an operation; its parameters are the row's values."""
    into, key = sql.Identifier(schema, table), sql.Identifier(KEYS[table])
    names, values = [sql.Identifier(name) for name in columns], [sql.Placeholder(name) for name in columns]
    where = sql.SQL("{} = {}").format(key, sql.Placeholder(KEYS[table]))
    comma = sql.SQL(", ")
    if kind == "delete":
        text = sql.SQL("delete from {} where {}").format(into, where)
    elif kind == "insert":
        listed, given = comma.join(names), comma.join(values)
        text = sql.SQL("insert into {} ({}) values ({})").format(into, listed, given)
    else:
        pairs = [sql.SQL("{} = {}").format(*pair) for pair in zip(names, values, strict=True)]
        text = sql.SQL("update {} set {} where {}").format(into, comma.join(pairs), where)
    return text.as_bytes()
