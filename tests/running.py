"""Dashboard and HTTP API in their own process, as ``make run`` starts them, for as long as a test lasts."""

from __future__ import annotations

import os
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
from tests.ports import free_port
from tests.programs import Program
from tests.waiting import LAST_RESORT

Server = Program | subprocess.Popen[bytes]


@dataclass(frozen=True)
class Running:
    """Two running servers."""

    url: str
    api: str


@contextmanager
def running(places: dict[str, str], log: Path, module: str = "dashboard.serve") -> Iterator[Running]:
    """Both servers on the world that ``places`` lead to, by starting ``module``; their output goes into ``log``.

    A module of the tests is forked from where it has been imported already; see ``programs``.
    """
    ports = free_port(), free_port()
    environment = os.environ | places
    environment |= {"MEMORY_DASHBOARD_PORT": str(ports[0]), "MEMORY_API_PORT": str(ports[1]), "DISPLAY": ""}
    server = _forked(module, environment, log) if module.startswith("tests.") else _begun(module, environment, log)
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


def _begun(module: str, environment: dict[str, str], log: Path) -> Server:
    with log.open("w") as output:
        return subprocess.Popen(
            [sys.executable, "-m", module], cwd=sample_world.ROOT, env=environment, stdout=output, stderr=output
        )


_INTO = """
import os, runpy, sys
sys.modules.pop({module!r}, None)
log = os.open({log!r}, os.O_WRONLY | os.O_CREAT)
os.dup2(log, 1)
os.dup2(log, 2)
runpy.run_module({module!r}, run_name="__main__", alter_sys=True)
"""


def _forked(module: str, environment: dict[str, str], log: Path) -> Server:
    return Program("-c", _INTO.format(log=str(log), module=module), environment=environment)


def wait_for(url: str, server: Server, log: Path) -> None:
    """Wait until a server answers at an address; if it ended instead, its output is reported."""
    until = time.monotonic() + LAST_RESORT
    while time.monotonic() < until:
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=LAST_RESORT):
                return
        except urllib.error.HTTPError:
            return  # it answers, even if only to ask for sign-in
        except OSError:
            time.sleep(0.25)
    pytest.fail(f"The server did not start:\n{log.read_text()}")
