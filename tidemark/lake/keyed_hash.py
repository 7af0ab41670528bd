"""HMAC-SHA256 (RFC 2104) under a secret of the environment, in this process and in queries."""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from tidemark.base.errors import TidemarkError
from tidemark.lake.hidden_rows import hidden_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

BLOCK = 64  # bytes of a block of SHA-256
SHORTEST = 16  # characters of a secret
INNER, OUTER = "_inner_pad", "_outer_pad"


class KeyedHash:
    """Hashes texts with one secret.

    A query gets the secret as the values of a row beside the hashed rows, so no plan and no log shows it.

    Args:
        variable: the environment variable with the secret.
        use: what needs it, for the message.

    Raises:
        TidemarkError: if the variable is not set, or its value is too short.
    """

    def __init__(self, variable: str, use: str) -> None:
        secret = os.environ.get(variable, "")
        if len(secret) < SHORTEST:
            message = f"has fewer than {SHORTEST} characters" if secret else "is not set"
            raise TidemarkError(
                f"{use} needs the secret in {variable}, which {message}.",
                f"Set {variable}, for example to the output of `openssl rand -hex 32`, and keep it: hashes "
                "of another secret match nothing.",
            )
        self._secret = secret.encode()

    def of(self, text: str) -> str:
        """Return the hash of a text, in hexadecimal digits."""
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    def with_key_columns(self, rows: DataFrame) -> DataFrame:
        """Return the rows with the two columns that `hashed` needs."""
        return rows.join(f.broadcast(self._pads(rows.sparkSession)), how="cross")

    def _pads(self, spark: SparkSession) -> DataFrame:
        secret = self._secret if len(self._secret) <= BLOCK else hashlib.sha256(self._secret).digest()
        padded = secret.ljust(BLOCK, b"\0")
        pads = [bytes(byte ^ mask for byte in padded).hex() for mask in (0x36, 0x5C)]
        return hidden_rows(spark, f"{INNER} string, {OUTER} string", [pads])


def hashed(text: Column) -> Column:
    """Return the hash of a text, as `KeyedHash.of` does; NULL for NULL. Needs `with_key_columns`."""
    inner = f.sha2(f.concat(f.unhex(f.col(INNER)), text.cast("binary")), 256)
    return f.sha2(f.concat(f.unhex(f.col(OUTER)), f.unhex(inner)), 256)
