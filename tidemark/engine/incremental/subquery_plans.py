"""The plans of subqueries in the text of a plan, each where a condition names it.

Spark writes a condition such as `exists#0 [a#1]` without its query. It writes the queries below the operator,
in the order of their conditions, which is that of a hash. Here each query stands in its condition: then the
conditions can be put in order, and none is taken for another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

OF_SUBQUERY = re.compile(r"\b(?:scalar-subquery|exists|list|lateral-subquery)#\d+")
DRAWN = re.compile(r"(?:[: ] {2})*[:+]- ")
LEVEL = 3  # characters of each level of the tree


@dataclass
class Operator:
    """An operator of a plan.

    Attributes:
        depth: the operators above it; a subquery stands two below the operator whose condition it is in.
        text: what Spark writes of it.
        subqueries: the queries of its conditions.
        inputs: the operators whose rows it takes.
    """

    depth: int
    text: str
    subqueries: list[Operator] = field(default_factory=list)
    inputs: list[Operator] = field(default_factory=list)


def inlined(plan: str) -> str:
    """Return the text of a plan in which each query stands in brackets after the condition on it.

    Args:
        plan: the text, a line for each operator.
    """
    if not OF_SUBQUERY.search(plan):
        return plan
    first, *others = _operators(plan)
    above = [first]
    for one in others:
        while above[-1].depth >= one.depth:
            above.pop()
        (above[-1].inputs if above[-1].depth + 1 == one.depth else above[-1].subqueries).append(one)
        above.append(one)
    return "\n".join(_lines(first))


def _operators(plan: str) -> list[Operator]:
    found: list[Operator] = []
    for line in plan.split("\n"):
        drawn = DRAWN.match(line)
        if drawn or not found:
            end = drawn.end() if drawn else 0
            found.append(Operator(end // LEVEL, line[end:]))
        else:  # of a literal with a line break
            found[-1].text += f"\n{line}"
    return found


def _lines(operator: Operator) -> Iterator[str]:
    """Write an operator and its inputs, a line for each."""
    conditions = OF_SUBQUERY.findall(operator.text)
    indent = " " * LEVEL * operator.depth
    if len(conditions) == len(operator.subqueries):
        queries = iter(operator.subqueries)
        yield indent + OF_SUBQUERY.sub(lambda name: f"{name[0]}[{_line(next(queries))}]", operator.text)
        below = operator.inputs
    else:
        yield indent + operator.text
        below = operator.subqueries + operator.inputs
    for one in below:
        yield from _lines(one)


def _line(operator: Operator) -> str:
    """Write an operator and its inputs in one line."""
    return " ".join(f"[{line.strip()}]" for line in _lines(operator))
