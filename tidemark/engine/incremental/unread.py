"""CTEs that nobody reads: Spark leaves them out, and so does planning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import Token, TokenType


def unread(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield where a CTE that nobody reads stands: Spark leaves it out."""
    for index, one in enumerate(tokens):
        if one.token_type == TokenType.WITH and index + 1 < len(tokens):
            ctes = list(_ctes(tokens, index + 1))
            for number, (name, first, last) in enumerate(ctes):
                inside = range(first, last + 1)
                if any(
                    other.text.lower() == name
                    and place not in inside
                    and other.token_type != TokenType.STRING
                    for place, other in enumerate(tokens)
                ):
                    continue
                if len(ctes) == 1:
                    yield one.start, tokens[last].end
                elif number + 1 < len(ctes):
                    yield tokens[first].start, tokens[last + 1].end
                else:
                    yield tokens[first - 1].start, tokens[last].end


def _ctes(tokens: Sequence[Token], index: int) -> Iterator[tuple[str, int, int]]:
    """Yield the name of each CTE after WITH, with the places of its first and last token."""
    while index < len(tokens):
        first, name = index, tokens[index].text.lower()
        index += 1
        if index < len(tokens) and tokens[index].token_type == TokenType.L_PAREN:  # its columns
            index = closing(tokens, index) + 1
        kinds = [one.token_type for one in tokens[index : index + 2]]
        if kinds != [TokenType.ALIAS, TokenType.L_PAREN]:
            return
        index = closing(tokens, index + 1)
        yield name, first, index
        index += 1
        if index >= len(tokens) or tokens[index].token_type != TokenType.COMMA:
            return
        index += 1


def closing(tokens: Sequence[Token], index: int) -> int:
    """Return the place of the parenthesis that closes the one at a place."""
    depth = 0
    for place in range(index, len(tokens)):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(tokens[place].token_type, 0)
        if depth == 0:
            return place
    return len(tokens) - 1
