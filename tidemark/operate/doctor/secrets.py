"""Remove secrets from the messages of other programs."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote

URLS = re.compile(r"TIDEMARK_(CONNECTION_.+|METASTORE)")
SECRETS = re.compile(r".*(SECRET|PASSWORD|TOKEN|CREDENTIAL).*|TIDEMARK_(ERASURE|PII)_KEY")
SHORTEST = 6  # characters; a shorter value, such as `1`, is not treated as a secret
IN_URL = re.compile(
    r"://[^/?#@]*?:(.*)@|[?&][^=&]*(?:password|secret|jaas|token)[^=&]*=([^&]+)", re.IGNORECASE
)
PASSWORD_IN_URL = re.compile(r"(://[^\s/:@]*:)[^\s@]+@")


def redacted(text: str) -> str:
    """Return a text without the secrets of this process's environment, and without passwords in URLs."""
    for secret in sorted(_secrets(), key=len, reverse=True):
        text = text.replace(secret, "***")
    return PASSWORD_IN_URL.sub(r"\1***@", text)


def _secrets() -> set[str]:
    found: set[str] = set()
    for name, value in os.environ.items():
        if URLS.fullmatch(name):
            parts = {part for match in IN_URL.finditer(value) for part in match.groups() if part}
            found |= parts | {unquote(part) for part in parts}
        elif SECRETS.fullmatch(name) and len(value) >= SHORTEST:
            found |= {value, value.rpartition(":")[2]}
    return found - {""}
