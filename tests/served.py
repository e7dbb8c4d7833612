"""The HTTP API over a world, on a port of its own, for as long as a test lasts."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import uvicorn
from fastapi import FastAPI

from memory_system import World
from memory_system.interfaces.api import create_app
from memory_system.interfaces.api.serving import configured
from memory_system.maintenance import InUse
from memory_system.world.auth import Door


@cache
def _kept() -> tuple[FastAPI, list[World]]:
    """An app without a door, and the world that it serves; making its 150 routes takes a third of a second."""
    serves: list[World] = []
    return create_app(lambda: serves[0]), serves


@contextmanager
def _app(world: World | InUse, door: Door | None) -> Iterator[FastAPI]:
    """The cached app, unless it serves another world at the same time or there is a door."""
    if isinstance(world, InUse):
        yield create_app(world, door)
        return
    app, serves = _kept()
    if door is not None or serves:
        yield create_app(lambda: world, door)
        return
    serves.append(world)
    app.middleware_stack = None  # its memory of requests and its threads are then made again
    try:
        yield app
    finally:
        serves.clear()


@contextmanager
def served_api(world: World | InUse, door: Door | None = None) -> Iterator[str]:
    """Serve a world, and yield the address."""
    with _app(world, door) as app:
        yield from _served(app)


def _served(app: FastAPI) -> Iterator[str]:
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(configured(app, log_level="warning", timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    host, port = listening.getsockname()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
