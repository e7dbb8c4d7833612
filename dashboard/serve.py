"""One process: the dashboard on port 8501 and the HTTP API on port 5000, over one world."""

from __future__ import annotations

import logging
import shutil
import sys
import threading
import webbrowser
from pathlib import Path

import streamlit as st
import uvicorn
from pydantic import ValidationError
from starlette.middleware import Middleware
from streamlit.web import bootstrap

from dashboard import session
from dashboard.entrance import Entrance, largest_upload
from dashboard.visitors import visitors
from memory_system import MemorySystemError, Settings
from memory_system.access import Door, is_this_machine, refuse_unsafe
from memory_system.errors import StoreError
from memory_system.lease import served
from memory_system.minilm import weights
from memory_system.ports import address, refuse_busy
from memory_system.service import create_app
from memory_system.service.guard import Guard
from memory_system.service.hosts import Hosts
from memory_system.service.serving import configured, end_in_order
from memory_system.settings import explained

APP = Path(__file__).with_name("app.py")
_NO_BROWSER_YET = "streamlit.runtime.scriptrunner_utils.script_run_context"
"""The logger that warns when something is cached before a browser is connected."""
ROOM = 500_000_000
_LARGEST_MESSAGE, _PING_SECONDS = 64_000_000, 30


def say(line: str) -> None:
    """Tell the terminal what is being done."""
    print(line, flush=True)


def prepare(settings: Settings) -> None:
    """See that everything is in place before anything is served.

    Raises:
        MemorySystemError: a port, a password, the disk, the model or the world is not as it should be.
    """
    refuse_unsafe(settings, dashboard=True, api=True)
    refuse_busy(settings.dashboard_port, "the dashboard", "MEMORY_DASHBOARD_PORT=8502 make run", settings.host)
    refuse_busy(settings.api_port, "the HTTP API", "MEMORY_API_PORT=5001 make run", settings.host)
    settings.database.mkdir(parents=True, exist_ok=True)
    if (free := shutil.disk_usage(settings.database).free) < ROOM:
        raise StoreError(
            f"The disk is nearly full: {free / 1e6:.0f} MB are free at {settings.database}. Make room first."
        )
    weights.ensure(settings.cache, say)


def main(settings: Settings | None = None, *, sample: bool = True, browser: bool = False) -> int:
    """Serve until Ctrl+C; answers the exit code.

    Args:
        settings: where things are; the environment's if not given.
        sample: whether an empty world is filled with the sample characters.
        browser: whether a browser is opened on it.
    """
    try:
        settings = settings or Settings()
        prepare(settings)
        end_in_order()
        say("Opening the world ...")
        logging.getLogger(_NO_BROWSER_YET).disabled = True
        world = session.opened(say, settings, _sample=sample)
    except MemorySystemError as error:
        sys.exit(error.sentence)
    except ValidationError as error:
        sys.exit(explained(error))
    except OSError as error:
        sys.exit(f"{error.filename or 'A file'} cannot be used: {error.strerror}.")
    world.rerater.start()
    hosts = Hosts.of(settings)
    app = create_app(lambda: world, Door.of_api(settings), hosts)
    api = uvicorn.Server(configured(app, host=settings.host, port=settings.api_port, log_config=None))
    threading.Thread(target=api.run, name="api", daemon=True).start()
    say(f"HTTP API:  {address(settings.host, settings.api_port)}/docs")
    say(f"Dashboard: {address(settings.host, settings.dashboard_port)}   (Ctrl+C stops both)")
    if not is_this_machine(settings.host):
        say("Passwords and memories travel unencrypted from here: put a proxy with TLS in front, as in docs/safety.md.")
    if browser:
        threading.Timer(1.0, webbrowser.open, [address("127.0.0.1", settings.dashboard_port)]).start()
    with served(world.folder, address(settings.host, settings.api_port)):
        uvicorn.Server(dashboard(settings, hosts)).run()
    return 0


def dashboard(settings: Settings, hosts: Hosts) -> uvicorn.Config:
    """The dashboard behind its guard and its entrance."""
    shown = st.App(
        APP,  # made first: Streamlit reads .streamlit/config.toml beside the script that it knows
        middleware=[Middleware(Guard, hosts=hosts, largest=largest_upload), Middleware(Entrance, visitors=visitors())],
    )
    bootstrap.load_config_options(
        {
            "server.port": settings.dashboard_port,
            "server.address": settings.host,
            "server.allowedHosts": list(hosts.plain()),
        }
    )
    return configured(
        shown,
        host=settings.host,
        port=settings.dashboard_port,
        log_level="warning",
        access_log=False,
        ws="websockets-sansio",
        ws_max_size=_LARGEST_MESSAGE,
        ws_ping_interval=_PING_SECONDS,
        ws_ping_timeout=_PING_SECONDS,
        ws_per_message_deflate=False,
    )


if __name__ == "__main__":
    sys.exit(main())
