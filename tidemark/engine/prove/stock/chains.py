"""A model with what it reads, as dbt compiles both for a project."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.errors import PySparkException
from sqlglot import exp

from tidemark.base.errors import TidemarkError
from tidemark.engine.prove.stock.dialect import Query, UntranslatedError
from tidemark.engine.prove.stock.inputs import Input
from tidemark.engine.prove.stock.settings import Settings, UnsupportedSettingError

CONDITION = re.compile(r"^\s*\[[A-Z_.]+\]")  # before Spark's messages


@dataclass(frozen=True)
class Chain:
    """A model to try.

    Attributes:
        name: the model's name.
        view: the view that stands for its table.
        dialect: the type of the project's adapter.
        full: its query of a full refresh.
        incremental: its query of an incremental run.
        types: the Spark types of its columns.
        settings: how dbt writes its rows.
        inputs: the tables that it reads, directly or through other models, by view.
        given: how a unit test names what it reads directly, by view.
        filtered: the tables that conditions of the incremental run alone look at; empty if not known.
        clocked_views: views that it reads, whose queries ask for the time of the run.
        below: incremental models that it reads, as a full refresh makes them: view, query and types.
    """

    name: str
    view: str
    dialect: str
    full: Query
    incremental: Query
    types: dict[str, str]
    settings: Settings
    inputs: dict[str, Input]
    given: dict[str, str]
    filtered: frozenset[str]
    clocked_views: tuple[tuple[str, Query], ...]
    below: tuple[tuple[str, Query, dict[str, str]], ...]

    @property
    def groups(self) -> bool:
        """Whether the model groups rows."""
        return self.full.tree is not None and self.full.tree.find(exp.Group) is not None

    @property
    def compared(self) -> list[str]:
        """The columns that do not hold the time of the run."""
        clocked = self.full.clocked | self.incremental.clocked
        return [name for name in self.types if name.lower() not in clocked]


@dataclass(frozen=True)
class Untried:
    """A model that cannot be tried, and why."""

    name: str
    why: str


def reason_of(error: Exception) -> str:
    """Return in words why a model cannot be tried."""
    if isinstance(error, TidemarkError):
        return error.what
    if isinstance(error, (UnsupportedSettingError, UntranslatedError)):
        return str(error)
    if isinstance(error, PySparkException):
        text = str(error.getMessage() or error).partition("SQLSTATE")[0].partition("\n")[0]
        return f"Spark cannot run its SQL: {CONDITION.sub('', text).strip().rstrip('.;')[:200]}"
    if isinstance(error, ValueError):
        return f"no values can be drawn of the type {error}"
    first = str(error).partition("\n")[0]
    return f"an error of Tidemark ({type(error).__name__}: {first[:100]})"
