"""The `external:` block of a feed from a database table or query."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from python_ingest.feeds.external_files import Names, OnLostRows, Seconds
from python_ingest.feeds.strict import Strict

CONNECTION = r"^[a-z][a-z0-9_]*$"
DAY = 86_400


def _window(value: Any) -> Any:
    return None if value == "all" else value


TablePolicy = Literal["evolve", "rescue", "fail"]


class TableContract(Strict):
    """How to treat a table whose columns differ from the declared ones.

    Attributes:
        new_column: `evolve` adds it to bronze, `rescue` keeps it in `_rescued_data`.
        missing_column: `evolve` and `rescue` leave it NULL.
        type_change: `evolve` widens bronze's column, or stops if that is impossible; `rescue` keeps the
            values that do not fit in `_rescued_data`.

    For all three, `fail` stops the landing before anything lands.
    """

    new_column: TablePolicy = "evolve"
    missing_column: TablePolicy = "fail"
    type_change: TablePolicy = "evolve"


class Lookback(Strict):
    """Rows that each landing reads again: those with `column` within `span` before the mark.

    Attributes:
        column: a column with dates or times.
        span: how far back.
    """

    column: str = Field(min_length=1)
    span: Seconds = 7 * DAY


class TableExternal(Strict):
    """The block of a feed from PostgreSQL.

    Attributes:
        connector: `postgresql`.
        connection: the connection's name, see `tidemark.base.connections`.
        table: `schema.table`, or a view.
        query: a SELECT, instead of a table.
        key: the columns that identify a row.
        cursor: the column that grows when a row changes. Of several columns, the first that is not NULL
            counts. Without a cursor, every landing makes a full scan and keeps the rows that changed.
        lookback: rows to read again although their cursor did not grow.
        overlap: how far before the mark rows are read again, in case clocks differ.
        first_window: how far back the first landing reads; `all` for everything.
        safety_lag: rows younger than this, by the database's clock, are left for the next landing.
        max_rows: the limit of one batch.
        detect_deletes: compare the keys in each landing, and land a deleted row for each missing key.
        max_deleted_share: the share of keys (0 to 1) that may be missing at once; with more, landing stops.
        on_lost_rows: what to do if landed rows are missing from bronze: `stop` the landing, `land_again`
            those that the source still has, or `accept` the loss.
        time_zone: the time zone of `timestamp` columns, which do not contain one.
        contract: how to treat other columns.
        pii: columns with personal values, which the proof of `tidemark erase` searches in all files.
    """

    connector: Literal["postgresql"]
    connection: str = Field(pattern=CONNECTION)
    table: str | None = Field(default=None, min_length=1)
    query: str | None = Field(default=None, min_length=1)
    key: Names = Field(min_length=1)
    cursor: Names = ()
    lookback: Lookback | None = None
    overlap: Seconds | None = None
    first_window: Annotated[Seconds | None, BeforeValidator(_window)] = 30 * DAY
    safety_lag: Seconds = 10
    max_rows: int = Field(default=20_000_000, gt=0)
    detect_deletes: bool = False
    max_deleted_share: float = Field(default=0.5, ge=0, le=1)
    on_lost_rows: OnLostRows = "stop"
    time_zone: str = "UTC"
    contract: TableContract = TableContract()
    pii: tuple[str, ...] = ()

    @field_validator("query")
    @classmethod
    def _is_one_select(cls, query: str | None) -> str | None:
        return query.strip().rstrip(";") if query else query

    @model_validator(mode="after")
    def _fit_together(self) -> TableExternal:
        if bool(self.table) == bool(self.query):
            raise ValueError("set either table or query")
        if self.lookback and not self.cursor:
            raise ValueError("lookback needs a cursor; without one all rows are read anyway")
        return self

    @property
    def named_columns(self) -> list[str]:
        """The columns of the key, the cursor and the lookback, each once."""
        lookback = [self.lookback.column] if self.lookback else []
        return list(dict.fromkeys((*self.key, *self.cursor, *lookback)))

    @property
    def source(self) -> str:
        """The name of the source: the table, or `query`."""
        return self.table or "query"
