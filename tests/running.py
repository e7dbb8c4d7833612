"""Dashboard and HTTP API in a process of their own, as ``make run`` starts them, for as long as a test lasts."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import sample_world
from tests.waiting import LAST_RESORT


@dataclass(frozen=True)
class Running:
    """Two servers that run."""

    url: str
    api: str


@contextmanager
def running(places: dict[str, str], log: Path, module: str = "dashboard.serve") -> Iterator[Running]:
    """Both servers on the world that ``places`` lead to, by starting ``module``; what they say goes into ``log``."""
    ports = free_port(), free_port()
    environment = os.environ | places
    environment |= {"MEMORY_DASHBOARD_PORT": str(ports[0]), "MEMORY_API_PORT": str(ports[1]), "DISPLAY": ""}
    with log.open("w") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=sample_world.ROOT,
            env=environment,
            stdout=output,
            stderr=output,
        )
    found = Running(f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}")
    try:
        wait_for(f"{found.url}/_stcore/health", server, log)
        wait_for(found.api, server, log)
        yield found
    finally:
        server.terminate()
        try:
            server.wait(LAST_RESORT)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server answers at an address; what it said is told if it ended instead."""
    until = time.monotonic() + LAST_RESORT
    while time.monotonic() < until:
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=LAST_RESORT):
                return
        except urllib.error.HTTPError:
            return  # it answers, if only to say that it wants to know who asks
        except OSError:
            time.sleep(0.25)
    pytest.fail(f"The server did not start:\n{log.read_text()}")
