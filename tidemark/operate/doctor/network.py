"""Does a server answer? Short attempts, without credentials."""

from __future__ import annotations

import http.client
import socket
from dataclasses import dataclass, field
from urllib.parse import urlsplit

SECONDS = 3.0


@dataclass(frozen=True)
class Answer:
    """What a server answered.

    Attributes:
        status: the status of HTTP; 0 if there was no answer.
        message: why there was none.
        headers: by name, in lower case.
    """

    status: int = 0
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)


def refusal(address: str, port: int) -> str:
    """Return why nothing answers at an address; empty if something does.

    Args:
        address: `host`, `host:port` or `[address]:port`.
        port: the port if the address has none.
    """
    try:
        place = urlsplit(f"//{address}")
        socket.create_connection((place.hostname or "", place.port or port), timeout=SECONDS).close()
    except (OSError, ValueError) as failure:
        return reason(failure)
    return ""


def ask(url: str, method: str = "HEAD") -> Answer:
    """Send one request without credentials and without following redirections.

    Args:
        url: a URL of the web.
        method: the method of the request.
    """
    place = urlsplit(url)
    kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
    try:
        connection = kind(place.hostname or "", place.port, timeout=SECONDS)
        connection.request(method, f"{place.path or '/'}{f'?{place.query}' if place.query else ''}")
        found = connection.getresponse()
        connection.close()
    except (OSError, ValueError, http.client.HTTPException) as failure:
        return Answer(message=reason(failure))
    return Answer(found.status, headers={name.lower(): value for name, value in found.getheaders()})


def reason(failure: Exception) -> str:
    """Return the reason of a failed connection in a few words."""
    if isinstance(failure, TimeoutError):
        return f"no answer within {SECONDS:.0f} seconds"
    text = getattr(failure, "strerror", None) or str(failure) or type(failure).__name__
    return str(text)
