"""Operands in an order of their text, in the text of a plan.

Spark orders the operands of `and`, `=` and the like by a hash, and turns `a > b` around by it. The hash of a
subquery depends on the numbers of its columns, so the same condition may be written in two ways.
"""

from __future__ import annotations

from tidemark.engine.incremental.subquery_plans import OF_SUBQUERY, inlined

COMMUTATIVE = (" or ", " and ", " = ", " <=> ", " + ", " * ")
TURNED = {" > ": " < ", " >= ": " <= ", " < ": " > ", " <= ": " >= "}
SEVERAL = "multicommutativeop"  # how Spark writes three operands or more


def in_order(plan: str) -> str:
    """Return the text of a plan in which conditions with subqueries have their operands in order.

    Args:
        plan: the text, a line for each operator.
    """
    lines = inlined(plan).split("\n")
    return "\n".join(_ordered(line) if OF_SUBQUERY.search(line) else line for line in lines)


def _ordered(text: str) -> str:
    """Put what stands in parentheses in order, from the inside out."""
    found, start = "", 0
    while (opening := text.find("(", start)) >= 0:
        closing = _closing(text, opening)
        if closing is None:
            break
        inner = _ordered(text[opening + 1 : closing])
        is_list = text[start:opening].endswith(SEVERAL)
        found += f"{text[start:opening]}({_list(inner) if is_list else _condition(inner)})"
        start = closing + 1
    return found + text[start:]


def _closing(text: str, opening: int) -> int | None:
    depth = 0
    for place in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return None


def _list(inner: str) -> str:
    """Sort the operands of a list, whose last two parts are its class and its type."""
    parts = _split(inner, ", ")
    return ", ".join([*sorted(parts[:-2]), *parts[-2:]])


def _condition(inner: str) -> str:
    for operator in COMMUTATIVE:
        parts = _split(inner, operator)
        if len(parts) > 1:
            return operator.join(sorted(parts))
    for operator, turned in TURNED.items():
        parts = _split(inner, operator)
        if len(parts) == 2 and parts[0] > parts[1]:
            return turned.join(reversed(parts))
    return inner


def _split(text: str, separator: str) -> list[str]:
    """Split a text where no parenthesis or bracket is open."""
    parts, depth, start, place = [], 0, 0, 0
    while place < len(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[place], 0)
        if depth == 0 and text.startswith(separator, place):
            parts.append(text[start:place])
            place = start = place + len(separator)
        else:
            place += 1
    return [*parts, text[start:]]
