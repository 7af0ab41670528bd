"""The `external:` block of a feed that is a table of a database, or a query there."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from python_ingest.feeds.external_files import OnLostRows, Seconds, Strict

CONNECTION = r"^[a-z][a-z0-9_]*$"
DAY = 86_400


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _window(value: Any) -> Any:
    return None if value == "all" else value


Names = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_listed)]
TablePolicy = Literal["evolve", "rescue", "fail"]


class TableContract(Strict):
    """What becomes of a table whose columns are not the declared ones.

    Attributes:
        new_column: `evolve` adds it to bronze, `rescue` keeps it in `_rescued_data`.
        missing_column: `evolve` and `rescue` leave it NULL.
        type_change: `evolve` widens bronze's column, or stops where that cannot be; `rescue` keeps in
            `_rescued_data` the values that do not fit.

    In all three `fail` stops the landing before anything lands.
    """

    new_column: TablePolicy = "evolve"
    missing_column: TablePolicy = "fail"
    type_change: TablePolicy = "evolve"


class Lookback(Strict):
    """Rows that are looked at again in each landing: `column` within `span` before the mark.

    Attributes:
        column: a date or time.
        span: how far back.
    """

    column: str = Field(min_length=1)
    span: Seconds = 7 * DAY


class TableExternal(Strict):
    """The block of a feed from PostgreSQL.

    Attributes:
        connector: `postgresql`.
        connection: the connection's name, see `python_ingest.feeds.connections`.
        table: `schema.table`, or a view.
        query: a SELECT, in place of a table.
        key: the columns that identify a row.
        cursor: the column that grows when a row changes, or several, of which the first that is not NULL
            counts. Without one every landing reads all rows and keeps those that have changed.
        lookback: rows to look at again though their cursor did not grow.
        overlap: how far before the mark rows are looked at again, for clocks that disagree.
        first_window: how far back the first landing goes; `all` for everything.
        safety_lag: rows younger than this, by the database's clock, are left for the next landing.
        max_rows: the bound of one batch.
        detect_deletes: compare the keys in each landing, and land a deleted row for each that is gone.
        max_deleted_share: which part of the keys (0 to 1) may be gone at once; with more the landing stops.
        on_lost_rows: what to do where bronze no longer has rows that were landed: `stop` the landing,
            `land_again` what the source has of them, or `accept` that they are gone.
        time_zone: of `timestamp` columns, which do not say it.
        contract: what becomes of other columns.
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
        """The key's, the cursor's and the lookback's columns, each once."""
        lookback = [self.lookback.column] if self.lookback else []
        return list(dict.fromkeys((*self.key, *self.cursor, *lookback)))

    @property
    def source(self) -> str:
        """What is read, in a word."""
        return self.table or "query"
