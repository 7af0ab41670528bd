"""The statements of a model's `sql_header`, which create what its query uses."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CREATED = re.compile(
    r".*?\b(?:view|function)\s+(`[^`]+`|\w+).*?\b(?:as|return)\b(.*)", re.IGNORECASE | re.DOTALL
)
ONE_AT_A_TIME = threading.Lock()  # two models may create a temporary view of the same name


def statements_of(header: str | None) -> list[str]:
    """Return the statements of a `sql_header`, without their semicolons."""
    from sqlglot import Dialect

    found, start, is_empty = [], 0, True
    for token in Dialect.get_or_raise("spark").tokenize(f"{header or ''}\n;"):  # a comment is not a token
        if token.token_type.name != "SEMICOLON":
            is_empty = False
            continue
        if not is_empty:
            found.append((header or "")[start : token.start].strip())
        start, is_empty = token.end + 1, True
    return found


def tables_read(header: Sequence[str]) -> list[str]:
    """Return the tables that the views and functions of a `sql_header` read, as they are written.

    Args:
        header: CREATE TEMPORARY VIEW or FUNCTION statements. One that sqlglot cannot read tells no tables.
    """
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    created: set[str] = set()
    read: dict[str, None] = {}
    for statement in header:
        parts = CREATED.match(statement)
        try:
            body = parse_one(parts[2], dialect="spark") if parts else exp.Select()
        except SqlglotError:
            body = exp.Select()
        own = created | {one.alias.lower() for one in body.find_all(exp.CTE)}
        for table in body.find_all(exp.Table):
            if isinstance(table.this, exp.Identifier) and (table.db or table.name.lower() not in own):
                read[".".join(part.name for part in table.parts)] = None
        created.add(parts[1].strip("`").lower() if parts else "")
    return list(read)


@contextmanager
def created_for(spark: SparkSession, header: Sequence[str]) -> Iterator[None]:
    """Create what a query needs, and keep it for as long as Spark resolves the names in the query.

    Args:
        spark: the session.
        header: the statements; nothing happens without any.
    """
    if not header:
        yield
        return
    with ONE_AT_A_TIME:
        for statement in header:
            spark.sql(statement)
        yield
