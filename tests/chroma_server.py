"""A real Chroma server, as ``chroma run`` starts it, on a free port of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from tests.ports import free_port
from tests.waiting import LAST_RESORT


class ChromaServer:
    """Runs within a ``with`` block; may be stopped, killed or suspended, and restarted at the same address."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1"]
        command += ["--port", str(self._port), "--path", str(self.data)]
        log = (self._folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(command, cwd=self._folder, stdout=log, stderr=log)
        until = time.monotonic() + LAST_RESORT
        while time.monotonic() < until:
            assert self._process.poll() is None, (self._folder / "log").read_text("utf-8", "replace")[-2000:]
            try:
                httpx.get(f"{self.url}/api/v2/heartbeat", timeout=LAST_RESORT, trust_env=False).raise_for_status()
                return
            except httpx.HTTPError:
                time.sleep(0.05)
        raise AssertionError(f"Chroma did not answer within {LAST_RESORT:.0f} seconds.")

    def kill(self) -> None:
        """End it at once; its data stays."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def data(self) -> Path:
        """The folder of its files."""
        return self._folder / "data"

    def signal(self, number: int) -> None:
        """Suspend it (SIGSTOP) or resume it (SIGCONT); a busy machine needs a while until all of it stops."""
        assert self._process is not None
        self._process.send_signal(number)
        if number == signal.SIGSTOP:
            os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)
