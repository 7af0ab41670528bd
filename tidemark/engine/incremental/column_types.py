"""Types of columns as Spark writes them: whether values fit, and SQL that reads one type as another."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tidemark.engine.incremental.canonical import quoted

INTEGERS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}  # with their decimal digits
DECIMAL = re.compile(r"decimal\((\d+), ?(\d+)\)")
LIMITED = re.compile(r"(?:var)?char\((\d+)\)")
NESTED = re.compile(r"\s*(struct|array|map)<(.*)>\s*", re.DOTALL)


@dataclass(frozen=True)
class Narrowed:
    """A query's column, read with the type of the table's column.

    Attributes:
        sql: the expression.
        dropped: the fields that only the query has, as `column.field`.
    """

    sql: str
    dropped: tuple[str, ...] = ()


def same(table: str, query: str) -> bool:
    """Return whether two types are equal; text of a limited length is text in a column without a limit."""
    left, right = _plain(table), _plain(query)
    return left == right or (left == "string" and LIMITED.fullmatch(right) is not None)


def fits(table: str, query: str) -> bool:
    """Return whether a column of the table's type holds each value of the query's type, unchanged."""
    left, right = _plain(table), _plain(query)
    if same(left, right) or (left, right) == ("double", "float"):
        return True
    if LIMITED.fullmatch(right):
        return left == "string" or _length(right) <= _length(left)
    if left in INTEGERS and right in INTEGERS:
        return INTEGERS[right] <= INTEGERS[left]
    if DECIMAL.fullmatch(left) and (right in INTEGERS or DECIMAL.fullmatch(right)):
        (digits, scale), (of_query, scale_of_query) = _decimal(left), _decimal(right)
        return scale_of_query <= scale and of_query - scale_of_query <= digits - scale
    return _nested_fit(left, right)


def widens(table: str, query: str) -> bool:
    """Return whether the query's type holds each value of the table's type."""
    return fits(query, table)


def narrowed(expression: str, table: str, query: str, path: str) -> Narrowed | None:
    """Return SQL that reads a column as the table's type, without fields that the table lacks.

    A value that does not fit stops the statement. None if values could change without an error.

    Args:
        expression: the query's column.
        table: the type of the table's column.
        query: the type of the query's column.
        path: its name, for people; with the fields that lead to it.
    """
    if same(table, query):
        return Narrowed(expression)
    left, right = NESTED.fullmatch(table), NESTED.fullmatch(query)
    if left and right and left[1] == right[1]:
        nested = {"struct": _struct, "array": _array, "map": _map}[left[1]]
        return nested(expression, left[2], right[2], path)
    if left or right:
        return None
    if LIMITED.fullmatch(_plain(table)) and (_plain(query) == "string" or LIMITED.fullmatch(_plain(query))):
        return Narrowed(_of_length(expression, _length(_plain(table)), path))
    is_checked = _plain(query) in INTEGERS or (
        bool(DECIMAL.fullmatch(_plain(query)) and DECIMAL.fullmatch(_plain(table)))
        and _decimal(_plain(table))[1] == _decimal(_plain(query))[1]
    )
    return Narrowed(expression) if fits(table, query) or (is_checked and widens(table, query)) else None


def _struct(expression: str, table: str, query: str, path: str) -> Narrowed | None:
    offered = {name.lower(): (name, kind) for name, kind in _fields(query)}
    parts: list[str] = []
    dropped: list[str] = []
    kept: set[str] = set()
    for name, kind in _fields(table):
        if name.lower() not in offered:
            return None
        field, given = offered[name.lower()]
        inner = narrowed(f"{expression}.{quoted(field)}", kind, given, f"{path}.{name}")
        if inner is None:
            return None
        parts.append(f"'{_escaped(name)}', {inner.sql}")
        dropped += inner.dropped
        kept.add(name.lower())
    dropped += [f"{path}.{name}" for lower, (name, _) in offered.items() if lower not in kept]
    return Narrowed(f"if({expression} is null, null, named_struct({', '.join(parts)}))", tuple(dropped))


def _array(expression: str, table: str, query: str, path: str) -> Narrowed | None:
    element = f"__tidemark_{path.count('.')}"
    inner = narrowed(element, table, query, f"{path}.element")
    return inner and Narrowed(f"transform({expression}, {element} -> {inner.sql})", inner.dropped)


def _map(expression: str, table: str, query: str, path: str) -> Narrowed | None:
    (key, value), (key_of_query, value_of_query) = _parts(table), _parts(query)
    if not same(key, key_of_query):
        return None
    names = f"__tidemark_k{path.count('.')}", f"__tidemark_v{path.count('.')}"
    inner = narrowed(names[1], value, value_of_query, f"{path}.value")
    return inner and Narrowed(
        f"transform_values({expression}, ({', '.join(names)}) -> {inner.sql})", inner.dropped
    )


def _nested_fit(table: str, query: str) -> bool:
    left, right = NESTED.fullmatch(table), NESTED.fullmatch(query)
    if not (left and right and left[1] == right[1]):
        return False
    if left[1] != "struct":
        pairs = zip(_parts(left[2]), _parts(right[2]), strict=True)
        return all(fits(*pair) for pair in pairs)
    fields = {name.lower(): kind for name, kind in _fields(left[2])}
    return all(
        name.lower() in fields and fits(fields[name.lower()], kind) for name, kind in _fields(right[2])
    )


def _fields(text: str) -> list[tuple[str, str]]:
    found = []
    for part in _parts(text):
        name, _, kind = part.partition(":") if not part.startswith("`") else _after_quotes(part)
        found.append((name.strip().strip("`").replace("``", "`"), kind.strip()))
    return found


def _after_quotes(part: str) -> tuple[str, str, str]:
    end = part.rindex("`", 0, part.index(":", part.index("`", 1)))
    return part[: end + 1], ":", part[end + 2 :]


def _parts(text: str) -> list[str]:
    """Return the parts between the commas outside all brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]


def _of_length(expression: str, length: int, path: str) -> str:
    message = (
        f"a value of `{path}` has more than {length} characters, the length of the column in the table. "
        "`dbt run --full-refresh` builds the table with a wider column"
    )
    return f"if(length({expression}) > {length}, raise_error('{_escaped(message)}'), {expression})"


def _length(kind: str) -> int:
    found = LIMITED.fullmatch(kind)
    return int(found[1]) if found else 0


def _decimal(kind: str) -> tuple[int, int]:
    found = DECIMAL.fullmatch(kind)
    return (int(found[1]), int(found[2])) if found else (INTEGERS[kind], 0)


def _plain(kind: str) -> str:
    return kind.strip().lower()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
