"""Where a Chroma server is, and what an agent's collections are called there."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from ..errors import InvalidParameter

DATABASE = "default_database"
TENANT = "default_tenant"
DEADLINE = 30.0
"""Seconds that one request may wait for the server."""
_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?")
"""A name that is part of a collection's name unchanged."""
_PORTS = {"http": 8000, "https": 443}
_FORM = "It must be like http://localhost:8000, or http://localhost:8000/database for a database of its own"


@dataclass(frozen=True)
class NamedStore:
    """A store that is not Chroma's.

    Args:
        name: among the installed stores.
    """

    name: str

    @property
    def shown(self) -> str:
        """The name for people."""
        return self.name


@dataclass(frozen=True)
class ChromaAddress:
    """A Chroma server, single or distributed.

    Args:
        host: its name or number.
        port: 1 to 65,535.
        ssl: whether to use https.
        database: the Chroma database that the collections are in; created if missing.
        token: the token that it requires; never shown in our texts.
        deadline: seconds that one request may wait.
    """

    host: str
    port: int
    ssl: bool = False
    database: str = DATABASE
    token: str | None = None
    deadline: float = DEADLINE

    def __repr__(self) -> str:
        return f"ChromaAddress({self.shown})"

    @property
    def shown(self) -> str:
        """The address for people, without the token."""
        return self.origin if self.database == DATABASE else f"{self.origin}/{self.database}"

    @property
    def origin(self) -> str:
        """The server alone, as ``http://host:port``."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' * self.ssl}://{host}:{self.port}"

    @classmethod
    def parse(cls, url: str, *, token: str | None = None, deadline: float = DEADLINE) -> Self:
        """The server at a URL.

        Raises:
            InvalidParameter: it is not a URL, or holds a user, password or token; the message does not repeat it.
        """
        import httpx  # slow to import, and needed only where there is a server

        try:
            parts = urlsplit(url.strip())
            port = parts.port
        except ValueError as error:
            raise InvalidParameter(f"The address of the Chroma server cannot be read. {_FORM}.") from error
        database = parts.path.strip("/") or DATABASE
        if parts.username or parts.password or parts.query or parts.fragment:
            raise InvalidParameter(
                f"The address of the Chroma server contains more than a location. {_FORM}; a token goes into "
                "MEMORY_CHROMA_TOKEN."
            )
        if parts.scheme not in _PORTS or not parts.hostname or port == 0 or not _PLAIN.fullmatch(database):
            raise InvalidParameter(f"The address of the Chroma server is not valid. {_FORM}.")
        made = cls(parts.hostname, port or _PORTS[parts.scheme], parts.scheme == "https", database, token, deadline)
        try:
            httpx.URL(made.origin)
            made.host.encode("idna")  # as it is looked up
        except (httpx.InvalidURL, UnicodeError) as error:
            raise InvalidParameter(f"The address of the Chroma server names no host. {_FORM}.") from error
        return made


def prefix(world: str, agent: str) -> str:
    """How the names of an agent's collections begin: ``mem_test.mira``; the tier follows.

    Chroma accepts the letters, digits, ``_`` and ``-`` of ASCII; of any other name as much as possible is kept, and a
    digest makes it distinct from all others.
    """
    if _PLAIN.fullmatch(world) and _PLAIN.fullmatch(agent):
        return f"{world}.{agent}"
    digest = hashlib.sha256(f"{world}/{agent}".encode()).hexdigest()[:16]
    return f"{_shown(world)}.{_shown(agent)}.{digest}"


def _shown(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_") or "x"


StorePlace = ChromaAddress | NamedStore
"""Where an agent's store is, if it is not in Chroma's files in the agent's folder."""
