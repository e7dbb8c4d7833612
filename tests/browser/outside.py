"""What a browser requests outside this machine: it goes to a proxy that records the address and does not answer."""

from __future__ import annotations

import re
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

OF_THE_BROWSER = re.compile(
    r"\S+ (https?://)?([\w-]+\.)*(google\.com|gvt[12]\.com|(?!fonts|ajax|maps)[\w-]+\.(googleapis|gstatic)\.com)[:/ ]"
)
"""What a Chromium with windows requests by itself: updates, the time, and whether anybody is signed in to Google."""


class Outside(socketserver.ThreadingTCPServer):
    """A proxy that refuses everything; Chromium never sends it what is for this machine."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Refusal)
        self.asked: list[str] = []

    @property
    def option(self) -> str:
        """The option that makes Chromium use it."""
        return f"--proxy-server=127.0.0.1:{self.server_address[1]}"


class _Refusal(socketserver.StreamRequestHandler):
    server: Outside

    def handle(self) -> None:
        asked = self.rfile.readline(4096).decode("latin-1").strip()
        if not OF_THE_BROWSER.match(asked):
            self.server.asked.append(asked)


@contextmanager
def outside() -> Iterator[Outside]:
    """The proxy, for as long as it is needed."""
    with Outside() as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield proxy
        proxy.shutdown()
