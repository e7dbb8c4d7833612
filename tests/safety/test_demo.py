"""The demo: everybody sees the sample world, nobody changes it, and everybody is told how to have one of their own."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from memory_system.interfaces.reads import READS
from tests import sample_world
from tests.ports import free_port
from tests.running import Running, wait_for
from tests.waiting import LAST_RESORT

pytestmark = pytest.mark.full  # that a viewer changes nothing is shown by test_viewers and test_entrance, too

LOOKS = {
    "/v1/query",
    "/rate",
    *(f"/v1/agents/{{name}}/{what}" for what in ("query", "interview", "interview/context")),
    *(f"/v1/agents/{{name}}/{read.address}" for read in READS if read.asks),
}
"""What is asked by a POST, because questions are long."""


@dataclass
class Demo:
    """A demo that runs, and the folder of its world."""

    running: Running
    process: subprocess.Popen[bytes]
    folder: Path

    def files(self) -> dict[str, str]:
        """Digests of all that is kept: journals, personalities and the world's own files, not what is made of them."""
        kinds = (".json", ".sqlite3", ".sqlite3-wal")
        kept = (path for path in self.folder.rglob("*") if path.is_file() and path.suffix in kinds)
        return {
            path.relative_to(self.folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(kept)
            if "chroma" not in path.parts and not path.name.startswith("token-states")
        }


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """``memory-system demo`` as a public server starts it: on all addresses, without any secret."""
    place = tmp_path_factory.mktemp("demo")
    ports = free_port(), free_port()
    log = place / "log.txt"
    environment = os.environ | {"TMPDIR": str(place), "MEMORY_HOST": "0.0.0.0", "CI": "true"}
    command = [sys.executable, "-m", "memory_system", "demo", "--port", str(ports[0]), "--api-port", str(ports[1])]
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=sample_world.ROOT, env=environment, stdout=out, stderr=out)
    running = Running(f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}")
    try:
        wait_for(f"{running.url}/_stcore/health", process, log)
        wait_for(running.api, process, log)
        (folder,) = place.glob("memory-demo-*")
        yield Demo(running, process, folder)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(LAST_RESORT)
    assert "Traceback" not in log.read_text()
    assert not folder.exists(), "the demo is thrown away"


def asked(demo: Demo, method: str, path: str, **more: object) -> httpx.Response:
    address = demo.running.api + path
    return httpx.request(method, address, timeout=LAST_RESORT, trust_env=False, **more)  # type: ignore[arg-type]


def test_everything_can_be_asked_and_nothing_changed(demo: Demo) -> None:
    described = asked(demo, "GET", "/openapi.json").json()["paths"]
    names = [one["name"] for one in asked(demo, "GET", "/v1/agents").json()["items"]]
    assert len(names) == 6
    for name in names:  # opened, so that what opening makes is there
        assert asked(demo, "GET", f"/v1/agents/{name}").status_code == 200
    before = demo.files()
    assert f"database/demo/{names[0]}/journal.sqlite3" in before
    found = asked(demo, "POST", "/v1/agents/mira/query", json={"cue": "Who has the mill key?"}).json()
    assert "key" in found["context"]
    refused = 0
    for path, method in [
        (path, method) for path, methods in described.items() for method in methods if method != "get"
    ]:
        at = re.sub(r"\{\w+\}", "1", path.replace("{name}", "mira"))
        answer = asked(demo, method.upper(), at, json={"cue": "Who has the mill key?"})
        assert answer.status_code in ((200, 404, 422) if path in LOOKS else (403,)), f"{method} {path}: {answer.text}"
        refused += answer.status_code == 403
    assert refused > 70
    assert demo.files() == before


def test_the_dashboard_takes_nothing_in_either(demo: Demo) -> None:
    before = demo.files()
    assert httpx.get(demo.running.url, timeout=LAST_RESORT, trust_env=False).status_code == 200
    for method, path in (("PUT", "/_stcore/upload_file/a/b"), ("POST", "/memory"), ("DELETE", "/")):
        answer = httpx.request(method, demo.running.url + path, content=b"x", timeout=LAST_RESORT, trust_env=False)
        assert answer.status_code == 403, path
    assert demo.files() == before
