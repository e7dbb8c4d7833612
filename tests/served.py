"""The HTTP API over a world, on a port of its own, for as long as a test lasts."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from memory_system import World
from memory_system.interfaces.api import create_app
from memory_system.interfaces.api.serving import configured
from memory_system.world.auth import Door


@contextmanager
def served_api(world: World, door: Door | None = None) -> Iterator[str]:
    """Serve a world, and answer the address."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = create_app(lambda: world, door)
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
