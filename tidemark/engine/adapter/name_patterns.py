"""Names that are like a pattern of SQL."""

from __future__ import annotations

import re

OF_LIKE = {"%": ".*", "_": "."}


def is_like(name: str, pattern: str) -> bool:
    """Return whether a name is like a pattern, as `ilike` compares them.

    Args:
        name: the name.
        pattern: `%` stands for any text, `_` for one character.
    """
    expression = "".join(OF_LIKE.get(character, re.escape(character)) for character in pattern)
    return re.fullmatch(expression, name, re.IGNORECASE | re.DOTALL) is not None
