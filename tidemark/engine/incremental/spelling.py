"""Write a query so that sqlglot and Spark read it alike, where only the spelling differs.

Each change keeps what Spark makes of the text: a hint goes, `1L` becomes a cast, texts that stand side by
side become one. No line moves, so that messages can name the lines of the text that the user wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlglot
from sqlglot import Token, TokenType

from tidemark.engine.incremental.constants import unions
from tidemark.engine.incremental.literals import Change, literal
from tidemark.engine.incremental.splicing import spliced
from tidemark.engine.incremental.table_functions import selects
from tidemark.engine.incremental.unread import unread

NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
BEFORE_NAMES = (TokenType.SELECT, TokenType.COMMA, TokenType.HINT, TokenType.DISTINCT, TokenType.ALL)
# sqlglot writes them as other functions, which Spark computes or prints in another way
_NAMES_KEPT = """
    approx_percentile bit_get ceiling char_length character_length date_diff date_format date_sub
    from_unixtime instr is_variant_null lcase len listagg log log10 log2 mod named_struct parse_json
    percentile_cont percentile_disc pow reduce schema_of_variant schema_of_variant_agg sha1 shiftright
    signum space string_agg substr to_char to_unix_timestamp to_varchar try_parse_json try_variant_get
    ucase unix_date var_samp variant_get
"""
KEPT = frozenset(_NAMES_KEPT.split())
KEEP = "__tidemark_kept_"  # before the name of such a function, while sqlglot parses it


def plain(sql: str) -> str:
    """Return a query that means the same to Spark, in spellings that sqlglot reads as Spark does.

    Args:
        sql: a query in Spark's SQL.

    Raises:
        sqlglot.errors.SqlglotError: if its tokens cannot be told.
    """
    sql = spliced(sql, _changes(sqlglot.tokenize(sql, dialect="spark"), sql))
    for rewritten in (unions, selects):
        sql = spliced(sql, rewritten(sqlglot.tokenize(sql, dialect="spark"), sql))
    while place := next(unread(sqlglot.tokenize(sql, dialect="spark")), None):
        first, last = place
        sql = spliced(sql, [(first, last, "\n" * sql.count("\n", first, last))])
    return sql


def with_masked_names(sql: str) -> str:
    """Return a query in which sqlglot takes no function for one that Spark does not know as the same."""
    tokens = sqlglot.tokenize(sql, dialect="spark")
    return spliced(
        sql,
        [
            (one.start, one.end, KEEP + one.text)
            for before, one, after in zip([None, *tokens], tokens, tokens[1:], strict=False)
            if one.text.lower() in KEPT
            and one.token_type not in (TokenType.STRING, TokenType.IDENTIFIER)
            and after.token_type == TokenType.L_PAREN
            and (before is None or before.token_type not in (TokenType.DOT, TokenType.ALIAS))
        ],
    )


def _changes(tokens: Sequence[Token], sql: str) -> Iterator[Change]:
    names_are_data = any("struct" in one.text.lower() for one in tokens)  # of fields, in JSON for example
    index = 0
    while index < len(tokens):
        change, used = _change(tokens, index, sql)
        if change is None and not names_are_data:
            change, used = _without_alias(tokens, index, used)
        if change is not None:
            yield change
        elif tokens[index].token_type in NAMES and not names_are_data:
            one = tokens[index]
            written = sql[one.start : one.end + 1]
            if written != written.lower():
                yield one.start, one.end, written.lower()
        index += used


def _change(tokens: Sequence[Token], index: int, sql: str) -> tuple[Change | None, int]:
    """Return what to write in place of the token at an index, if anything, and how many tokens it spans."""
    one = tokens[index]
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if one.token_type == TokenType.HINT:
        return (one.start, one.end, "\n" * one.text.count("\n") or " "), 1
    if one.token_type == TokenType.LIMIT and following and following.token_type == TokenType.ALL:
        return (one.start, following.end, " "), 2
    return literal(tokens, index, sql)


def _without_alias(tokens: Sequence[Token], index: int, used: int) -> tuple[Change | None, int]:
    """Leave out an alias that repeats the name of a column or a table, as in `x.Id as id`."""
    if tokens[index].token_type != TokenType.ALIAS or index + 1 >= len(tokens):
        return None, used
    first = index - 1
    while first >= 2 and tokens[first - 1].token_type == TokenType.DOT:
        first -= 2
    names = [tokens[place] for place in (*range(first, index, 2), index + 1)]
    before = tokens[first - 1].token_type if first >= 1 else None
    is_same = (
        all(one.token_type in NAMES for one in names) and names[-1].text.lower() == names[-2].text.lower()
    )
    if before not in BEFORE_NAMES or not is_same:
        return None, used
    return (tokens[index].start, tokens[index + 1].end, ""), 2
