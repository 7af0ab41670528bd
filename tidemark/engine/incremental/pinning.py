"""Read tables that a query names at given versions, and the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import sqlglot
from sqlglot import Token, TokenType, exp

from tidemark.engine.incremental.splicing import spliced
from tidemark.engine.incremental.unsupported import Unsupported

# a version that the query chooses
AS_OF = re.compile(r"\s+(for\s+)?(system_)?(version|timestamp|time)\s+as\s+of\b", re.IGNORECASE)

ALIASES = (TokenType.ALIAS, TokenType.VAR, TokenType.IDENTIFIER)  # after a table: its alias, or AS
VERSION = re.compile(r"\s+version\s+as\s+of\s+('[^']*'|-?\d+)", re.IGNORECASE)


def named_tables(sql: str) -> list[str]:
    """Return the tables that a query names, as `schema.table` or with a catalog before it, each once.

    Args:
        sql: a compiled query.

    Raises:
        sqlglot.errors.SqlglotError: if the query cannot be parsed.
    """
    tables = sqlglot.parse_one(sql, dialect="spark").find_all(exp.Table)
    return list(dict.fromkeys(".".join(part.name for part in table.parts) for table in tables if table.db))


def unpinned(sql: str) -> tuple[str, dict[str, str]]:
    """Take the versions that `pinned` puts into a query out of it.

    Args:
        sql: a query that reads versions of tables, named as `schema.table`.

    Returns:
        The query over tables without versions; and by `schema.table` in lower case, what reads its version.

    Raises:
        Unsupported: if the query reads two versions of a table.
    """
    readings, parts = dict[str, str](), []
    tokens = sqlglot.tokenize(sql, dialect="spark")
    for schema, dot, table in zip(tokens, tokens[1:], tokens[2:], strict=False):
        version = VERSION.match(sql[table.end + 1 :]) if dot.text == "." else None
        if version:
            end = table.end + version.end()
            name, reading = f"{schema.text}.{table.text}".lower(), sql[schema.start : end + 1]
            if readings.setdefault(name, reading) != reading:
                raise Unsupported(f"two versions of {name}", line=schema.line)
            parts.append((table.end + 1, end, ""))
    return spliced(sql, parts), readings


def replaced(sql: str, views: Mapping[str, str]) -> str:
    """Put views in the place of tables or versions of them, which keep their names as aliases.

    Args:
        sql: a compiled query. It names tables as `schema.table`, with or without backticks.
        views: by `schema.table` in lower case, the view.
    """
    tokens = sqlglot.tokenize(sql, dialect="spark")
    parts = []
    for index, schema, table in _two_part_names(tokens):
        view = views.get(f"{schema.text}.{table.text}".lower())
        if view is None:
            continue
        version = VERSION.match(sql[table.end + 1 :])
        end = table.end + (version.end() if version else 0)
        following = next((token for token in tokens[index + 3 :] if token.start > end), None)
        has_alias = following is not None and following.token_type in ALIASES
        parts.append((schema.start, end, view if has_alias else f"{view} as `{table.text}`"))
    return spliced(sql, parts)


def pinned(sql: str, readings: Mapping[str, str]) -> str:
    """Put SQL that reads a version of a table in place of the table's name.

    Args:
        sql: a compiled query. It names tables as `schema.table`, with or without backticks.
        readings: by `schema.table`, what reads the version.
    """
    by_name = {name.lower(): reading for name, reading in readings.items()}
    tokens = sqlglot.tokenize(sql, dialect="spark")
    parts = []
    for _, schema, table in _two_part_names(tokens):
        name = f"{schema.text}.{table.text}".lower()
        if name in by_name and not AS_OF.match(sql[table.end + 1 :]):
            parts.append((schema.start, table.end, by_name[name]))
    return spliced(sql, parts)


def _two_part_names(tokens: Sequence[Token]) -> Iterator[tuple[int, Token, Token]]:
    """Yield the names of two parts, such as tables: the place of the first part, and both parts."""
    for index in range(len(tokens) - 2):
        schema, dot, table = tokens[index : index + 3]
        neighbours = [*tokens[index - 1 : index], *tokens[index + 3 : index + 4]]
        if dot.text == "." and all(token.text != "." for token in neighbours):
            yield index, schema, table
