"""The collections of an agent on a Chroma server, single or distributed.

Measured traps that shape this file (Chroma 1.5): the client of a server waits for ever unless its session is
configured otherwise, asks for an identity before it can be configured, and raises a plain ``Exception`` for an answer
that is not Chroma's. So a server is called through Chroma's own layer beneath the client, with a deadline, and its
answers are checked first.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import chromadb
import httpx
from chromadb.api import ServerAPI
from chromadb.api.fastapi import FastAPI
from chromadb.config import Settings, System
from chromadb.errors import (
    AuthorizationError,
    ChromaAuthError,
    ChromaError,
    InternalError,
    NotFoundError,
    error_types,
)

from ...core.chroma_address import DATABASE, TENANT, ChromaAddress, prefix
from ...core.entry import Tier
from ...errors import StoreDamaged, StoreError, StoreUnavailable
from .files import OUR_DISTANCE
from .location import OWNER, Home

_NOTED_ON = Tier.STM.value
"""The tier whose collection carries the notes."""
_CONNECT_SECONDS = 5.0


class OnServer(Home):
    """Collections on a Chroma server, named by world, agent and tier.

    They are derived from the journal: to set them aside is to delete them, and what is lost is written again.

    Args:
        address: the server.
        folder: where the agent's files would be if embedded: ``.../world/agent/chroma``.
    """

    errors = (ChromaError, httpx.HTTPError, json.JSONDecodeError, OSError)

    def __init__(self, address: ChromaAddress, folder: Path) -> None:
        self._address = address
        self._prefix = prefix(folder.parent.parent.name, folder.parent.name)
        self.shown = f"the Chroma server at {address.shown}"

    def as_ours(self, error: Exception) -> StoreError:  # noqa: D102
        if isinstance(error, InternalError):
            return StoreDamaged(f"{self.shown[0].upper()}{self.shown[1:]} could not use {self._prefix}: {error!s:.200}")
        if isinstance(error, NotFoundError):
            return StoreUnavailable(f"Another program has replaced {self._prefix} on {self.shown}. Try again.")
        if isinstance(error, httpx.TimeoutException):
            why = f"does not answer within {self._address.deadline:g} seconds"
        elif isinstance(error, httpx.TransportError | OSError):
            why = "cannot be reached"
        elif isinstance(error, ChromaAuthError | AuthorizationError):
            why = "requires another token than MEMORY_CHROMA_TOKEN"
        else:
            why = f"gives an unexpected answer ({type(error).__name__}: {self._kept_secret(error)})"
        return StoreUnavailable(
            f"{self.shown[0].upper()}{self.shown[1:]} {why}. See that it runs (“chroma run”), and try again."
        )

    def _kept_secret(self, error: Exception) -> str:
        token = self._address.token
        message = str(error) if not token else str(error).replace(token, "…")
        return f"{message:.200}".replace("\n", " ")

    def get(self, tier: str) -> chromadb.Collection:  # noqa: D102
        api = _api(self._address)
        where = {"tenant": TENANT, "database": self._address.database}
        return chromadb.Collection(client=api, model=api.get_collection(f"{self._prefix}.{tier}", **where))

    def create(self, tier: str) -> chromadb.Collection:
        """A new collection, or the existing one if another program made it a moment ago."""
        api = _api(self._address)
        self._make_database(api)
        model = api.create_collection(
            f"{self._prefix}.{tier}",
            configuration=cast("Any", {"hnsw": {"space": OUR_DISTANCE}}),  # the rest is for the server to decide
            get_or_create=True,
            tenant=TENANT,
            database=self._address.database,
        )
        return chromadb.Collection(client=api, model=model)

    def _make_database(self, api: ServerAPI) -> None:
        if self._address.database == DATABASE:
            return
        try:
            api.get_database(self._address.database, TENANT)
        except NotFoundError:
            api.create_database(self._address.database, TENANT)

    def let_go(self) -> None:
        """Do nothing: the connections are shared by all agents."""

    def prepare(self) -> None:
        """Do nothing: there is no folder."""

    def set_aside(self, suffix: str) -> None:  # noqa: ARG002 - nothing gets this name
        """Delete the collections: they are written again from the journal."""
        api = _api(self._address)
        for tier in Tier:
            with suppress(NotFoundError):
                api.delete_collection(f"{self._prefix}.{tier.value}", tenant=TENANT, database=self._address.database)

    def wipe_spare(self) -> None:
        """Do nothing: the files are the server's."""

    def noted(self) -> Mapping[str, str]:  # noqa: D102
        try:
            metadata = self.get(_NOTED_ON).metadata or {}
        except NotFoundError:
            return {}
        return {key: value for key, value in metadata.items() if isinstance(value, str)}

    def note(self, **told: str) -> None:
        """Store a note with the collection of short-term memory, which is created if missing."""
        notes = self.noted()
        if {**notes, **told} != notes:
            self.create(_NOTED_ON).modify(metadata={**notes, **told})

    def refuse_unreachable(self) -> None:  # noqa: D102
        try:
            _api(self._address).heartbeat()
        except self.errors as error:
            raise self.as_ours(error) from error


def forget(folder: Path, server: ChromaAddress, origin: str | None = None) -> None:
    """Delete what a server holds of the agent whose files would be in this folder; the journal still has all of it.

    Args:
        folder: where the files would be.
        server: the server.
        origin: the id of the journal's first change set, to spare what another agent of the same name wrote.

    Raises:
        StoreUnavailable: the server cannot be reached.
    """
    home = OnServer(server, folder)
    try:
        if origin is None or home.noted().get(OWNER) in (None, origin):
            home.set_aside("forgotten")
    except home.errors as error:
        raise home.as_ours(error) from error


@functools.lru_cache(maxsize=8)
def _api(address: ChromaAddress) -> ServerAPI:
    """Chroma's layer over HTTP; one for all agents, since it holds the connections. Sends no request by itself."""
    header = {"x-chroma-token": address.token} if address.token else {}
    settings = Settings(
        anonymized_telemetry=False,
        chroma_api_impl="chromadb.api.fastapi.FastAPI",
        chroma_server_host=address.origin,  # a bare host loses its port if it begins with "http", or is an IPv6 one
        chroma_server_http_port=address.port,
        chroma_server_ssl_enabled=address.ssl,
        chroma_server_headers=header,
    )
    api = System(settings).instance(FastAPI)
    session = api._session
    session.timeout = httpx.Timeout(address.deadline, connect=min(_CONNECT_SECONDS, address.deadline))
    session.event_hooks = {"response": [_refuse_other_answers]}
    return api


def _refuse_other_answers(response: httpx.Response) -> None:
    """Refuse anything but JSON, and errors that Chroma does not know: a proxy or another server replied."""
    content_type = response.headers.get("content-type", "")
    response.read()
    if "json" in content_type and (response.is_success or _known(response.text)):
        return
    raise httpx.HTTPStatusError(
        f"{response.status_code} {content_type.partition(';')[0] or 'without a type'}",
        request=response.request,
        response=response,
    )


def _known(text: str) -> bool:
    try:
        return json.loads(text)["error"] in error_types
    except (ValueError, KeyError, TypeError):
        return False
