"""A form of each value that Spark can group, sort and compare, equal exactly if the values are equal.

Spark compares no maps and no variants, and it compares strings with a collation as the collation says. Tables
are compared by this form instead: a map by its entries in the order of their keys, a variant by its type and
its JSON, a string by its bytes. All other values are their own form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

OTHER_FORM = re.compile(r"\bmap<|\bvariant\b|\bcollate\b")
ZERO = re.compile(r"\b(float|double|real)\b")


def comparable(column: str, kind: str, *, zeros: bool = False) -> str:
    """Return SQL for the form of a value by which it is grouped and compared by `<=>`.

    Args:
        column: the SQL of the value: a column in backticks, with its table or without.
        kind: its type in Spark's words, such as `map<string,array<int>>`.
        zeros: whether -0.0 differs from 0.0, which Spark calls equal.

    Raises:
        ValueError: if a type has a part of another form, and is not written as Spark writes types.
    """
    return _form(column, kind.strip(), zeros, 0)


def same(left: str, right: str, types: Mapping[str, str], *, zeros: bool = False) -> str:
    """Return SQL that is true if two rows have equal values.

    Args:
        left: the alias of the one row.
        right: the alias of the other.
        types: the types of the compared columns by name; without columns, the rows are equal.
        zeros: as in `comparable`.
    """
    pairs = [
        " <=> ".join(comparable(f"{side}.{quoted(name)}", kind, zeros=zeros) for side in (left, right))
        for name, kind in types.items()
    ]
    return " and ".join(pairs) or "true"


def any_of_equal(types: Mapping[str, str]) -> str:
    """Return SQL for the columns of rows that are grouped by their forms, separated by commas."""
    return ", ".join(
        quoted(name) if is_own_form(kind, zeros=True) else f"any_value({quoted(name)}) as {quoted(name)}"
        for name, kind in types.items()
    )


def grouped_values(types: Mapping[str, str]) -> str:
    """Return SQL of the values by which equal rows are grouped, separated by commas."""
    return ", ".join(comparable(quoted(name), kind, zeros=True) for name, kind in types.items())


def is_own_form(kind: str, *, zeros: bool = False) -> bool:
    """Return whether Spark itself compares values of a type as tables are compared."""
    kind = kind.lower()
    return not OTHER_FORM.search(kind) and not (zeros and ZERO.search(kind))


def scalar_types(kind: str) -> Iterator[str]:
    """Yield the types that a type is made of: itself, or those of a nested type's parts, at each depth.

    Raises:
        ValueError: if a nested type is not written as Spark writes types.
    """
    word, nests, _ = kind.partition("<")
    if not nests:
        yield kind
        return
    for _, part in _parts(kind, named=word.lower() == "struct"):
        yield from scalar_types(part)


def quoted(name: str) -> str:
    """Return a column's name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def _form(value: str, kind: str, zeros: bool, depth: int) -> str:
    lower = kind.lower()
    if is_own_form(lower, zeros=zeros):
        return value
    if lower == "variant":
        return f"struct(schema_of_variant({value}), to_json({value}))"
    if lower in ("float", "double", "real"):
        return f"struct({value}, {value} = 0 and cast({value} as string) = '-0.0')"
    if "<" not in lower:
        return f"cast({value} as binary)"
    return _nested(value, kind, zeros, depth)


def _nested(value: str, kind: str, zeros: bool, depth: int) -> str:
    word, each = kind.partition("<")[0].lower(), f"__tidemark_each_{depth}"
    parts = _parts(kind, named=word == "struct")
    if word == "struct":
        forms = [_form(f"{value}.{quoted(name)}", part, zeros, depth) for name, part in parts]
        return f"if({value} is null, null, struct({', '.join(forms)}))"
    if word == "array":
        return f"transform({value}, {each} -> {_form(each, parts[0][1], zeros, depth + 1)})"
    key, entry = (
        _form(f"{each}.{name}", part, zeros, depth + 1)
        for name, (_, part) in zip(("key", "value"), parts, strict=True)
    )
    return f"sort_array(transform(map_entries({value}), {each} -> struct({key}, {entry})))"


@lru_cache(maxsize=1024)
def _parts(kind: str, *, named: bool) -> tuple[tuple[str, str], ...]:
    """Return the names and types of a struct's fields, or the types of a map or an array without a name."""
    inner = kind[kind.index("<") + 1 : -1]
    if not inner:
        return ()
    parts = [part.partition(":") if named else ("", ":", part) for part in _split(inner)]
    if not kind.endswith(">") or not all(colon for _, colon, _ in parts):
        raise ValueError(f"{kind} is not a type of Spark")
    return tuple((name.strip().strip("`"), part.strip()) for name, _, part in parts)


def _split(inner: str) -> Iterator[str]:
    """Yield the parts of a list of types; commas within parts do not separate them."""
    depth, start = 0, 0
    for place, letter in enumerate(inner):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            yield inner[start:place]
            start = place + 1
    yield inner[start:]
