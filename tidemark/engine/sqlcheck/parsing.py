"""Parse a model's SQL into a tree, with placeholders for its Jinja.

The SQL is parsed as written, not as compiled. So the lines are those of the model's file, and Spark is not
needed. Each `{{ … }}` becomes a name that shows what it reads; `{% … %}` and comments become white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import sqlglot
from jinja2 import Environment, TemplateSyntaxError
from sqlglot import exp
from sqlglot.errors import SqlglotError

QUERY = re.compile(r"\b(as|from|join|in|exists)\s*\(\s*$", re.IGNORECASE)
MARK = re.compile(r"(?P<kind>variable|block|comment)_(?P<side>begin|end)")
CHANGES = re.compile(r"\bchanges\s*\(")
CALL = re.compile(r"^\s*(?:dbt\.)?(?P<name>\w+)\s*\((?P<arguments>.*)\)\s*$", re.DOTALL)
RELATION = re.compile(r"\b(?:ref|source)\s*\((?P<names>[^)]*)\)")
TEXT = re.compile(r"""['"]([^'"]*)['"]""")
LANDING_ORDER = "__landing_order"


@dataclass(frozen=True)
class Reading:
    """The reading that a placeholder stands for.

    Attributes:
        kind: changes, relation (a plain ref or source), or other.
        relation: the name in `ref` or `source`, such as `orders` or `bronze.orders`; may be empty.
        is_direct: whether no macro stands between the relation and the query.
    """

    kind: str
    relation: str
    is_direct: bool = False


@dataclass
class ModelSql:
    """A model's SQL.

    Attributes:
        tree: the syntax tree.
        readings: the readings, by their name in the tree.
        jinja: the text inside each `{{ … }}`, with its line.
    """

    tree: exp.Expr
    readings: dict[str, Reading] = field(default_factory=dict)
    jinja: list[tuple[str, int]] = field(default_factory=list)


def parsed(raw_code: str) -> ModelSql | None:
    """Parse a model's SQL.

    Args:
        raw_code: the SQL, as written in the model's file.

    Returns:
        The parsed SQL; None if the Jinja or the SQL cannot be parsed.
    """
    readings: dict[str, Reading] = {}
    jinja: list[tuple[str, int]] = []
    text = ""
    try:
        for kind, message in _parts(raw_code):
            if kind == "data":
                text += message
                continue
            line = text.count("\n") + 1
            if kind == "variable":
                jinja.append((message, line))
                text += _stand_in(message, text, readings)
            text += "\n" * message.count("\n")
        tree = sqlglot.parse_one(text, dialect="spark")
    except (SqlglotError, TemplateSyntaxError):
        return None
    return ModelSql(tree, readings, jinja) if isinstance(tree, exp.Expr) else None


def _parts(raw_code: str) -> Iterator[tuple[str, str]]:
    """Yield each text between Jinja's marks, with its kind: data, variable, block or comment."""
    kind, message = "data", ""
    for _, what, value in Environment(autoescape=True).lex(raw_code):
        mark = MARK.match(what)
        if mark or what == "data":
            if message:
                yield kind, message
            kind, message = (mark["kind"] if mark and mark["side"] == "begin" else "data"), ""
        message += "" if mark else value
    if message:
        yield kind, message


def _stand_in(message: str, before: str, readings: dict[str, Reading]) -> str:
    call = CALL.match(message)
    if call and call["name"] == "config":
        return ""
    if call and call["name"] == "landing_order":
        return LANDING_ORDER
    reading = _reading(call, message)
    name = f"__{reading.kind}_{len(readings)}"
    readings[name] = reading
    if before.strip() and not QUERY.search(before):
        return name
    named = TEXT.findall(call["arguments"]) if call and reading.kind == "other" else []
    return f"select * from {named[0] if len(named) == 1 and not reading.relation else name}"


def _reading(call: re.Match[str] | None, message: str) -> Reading:
    named = RELATION.search(message)
    relation = ".".join(TEXT.findall(named["names"])) if named else ""
    name = call["name"] if call else ""
    kind = "changes" if CHANGES.search(message) else "relation" if name in ("ref", "source") else "other"
    return Reading(kind, relation, is_direct=name in ("changes", "ref", "source"))
