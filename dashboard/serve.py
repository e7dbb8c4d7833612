"""One process: the dashboard on port 8501 and the HTTP API on port 5000, over one world."""

from __future__ import annotations

if __name__ == "__main__":
    from memory_system.quiet import until_it_runs

    until_it_runs()  # what follows takes seconds to load

import gc
import importlib
import logging
import pkgutil
import re
import shutil
import sys
import tempfile
import threading
import time
import webbrowser
from contextlib import ExitStack
from pathlib import Path

import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route, WebSocketRoute
from streamlit.web import bootstrap

import dashboard as package
from dashboard.server import downloads
from dashboard.server.entrance import Entrance, largest_upload
from dashboard.server.newsfeed import PATH as NEWS
from dashboard.server.newsfeed import Newsfeed
from dashboard.server.starting import with_free_ports
from dashboard.server.static import Compressed
from dashboard.server.visitors import visitors
from dashboard.views import PAGES
from memory_system import MemorySystemError, Settings, World
from memory_system.embedding import fetched
from memory_system.errors import StoreError
from memory_system.interfaces import address, endings
from memory_system.interfaces.api import Guard, Hosts, Server, configured, create_app
from memory_system.maintenance import InUse, prepare_recall
from memory_system.store import placed
from memory_system.world import TOKENS, Door, Role, is_this_machine, refuse_unsafe

APP = Path(__file__).with_name("app.py")
_NO_BROWSER_YET = "streamlit.runtime.scriptrunner_utils.script_run_context"
"""The logger that warns when something is cached before a browser is connected."""
DEMO_WORLD = "demo"
ROOM = 500_000_000
_CLOSING_SECONDS = 2.0
_NOBODY_SECONDS, _LOOK_SECONDS = 60.0, 0.5
"""How long to wait for a first page, and how often to check whether that is still needed."""
_LARGEST_MESSAGE, _PING_SECONDS = 64_000_000, 30
SCRIPTS = re.compile(r"dashboard\.(app|serve|views\.(\w+)\.\2)")
"""What is run and not imported."""


def say(line: str) -> None:
    """Tell the terminal what is being done."""
    print(line, flush=True)


def prepare(settings: Settings, *, demo: bool = False) -> None:
    """See that everything is in place before anything is served.

    Args:
        settings: where things are.
        demo: whether it is the sample world, which everybody may see, and nobody changes.

    Raises:
        MemorySystemError: a password, the disk, the model or the world is not as it should be.
    """
    refuse_unsafe(settings, dashboard=not demo, api=not demo)
    settings.database.mkdir(parents=True, exist_ok=True)
    if (free := shutil.disk_usage(settings.database).free) < ROOM:
        raise StoreError(
            f"The disk is nearly full: {free / 1e6:.0f} MB are free at {settings.database}. Make room first."
        )
    fetched(settings, say)


def main(settings: Settings | None = None, *, sample: bool = True, browser: bool = False) -> int:
    """Serve until Ctrl+C; returns the exit code.

    Args:
        settings: where things are; the environment's if not given.
        sample: whether an empty world is filled with the sample characters.
        browser: whether a browser is opened on it.
    """
    return endings.run(lambda: _begun(settings, sample=sample, browser=browser))


def demo(settings: Settings, *, browser: bool = False) -> int:
    """Serve the sample world read-only to everybody until Ctrl+C; returns the exit code.

    It is made in a temporary folder, nothing happens in it by itself, no language model is asked, and it is deleted
    at the end.

    Args:
        settings: where to listen; the rest is the demo's own.
        browser: whether a browser is opened on it.
    """

    def program() -> int:
        with tempfile.TemporaryDirectory(prefix="memory-demo-", ignore_cleanup_errors=True) as folder:
            say(f"A demo of the sample world, which nobody can change, in {folder}")
            return _begun(_of_demo(settings, Path(folder)), sample=True, browser=browser, demo=True)

    return endings.run(program)


def _of_demo(settings: Settings, home: Path) -> Settings:
    where = {"home": home, "database": home / "database", "personalities": home / "agent_personalities"}
    own = {"world": DEMO_WORLD, "store": "chroma", "chroma_url": None, "journal_url": None, "backups": None}
    return settings.model_copy(update={**where, **own, "llm": "offline", "role": Role.VIEWER.value})


def _begun(settings: Settings | None, *, sample: bool, browser: bool, demo: bool = False) -> int:
    """Serve; returns 1, after saying why, if that is impossible."""
    # by a filter: what configures logging later takes a logger's ``disabled`` back
    logging.getLogger(_NO_BROWSER_YET).addFilter(_unsaid)
    try:
        settings = placed(with_free_ports(settings or Settings()))
        prepare(settings, demo=demo)
        visitors().door, visitors().demo = Door.of_dashboard(settings), demo
        say("Opening the world ...")
        session = importlib.import_module("dashboard.session")  # its caches warn while nobody has silenced them
        in_use: InUse = session.in_use(say, settings, _sample=sample)
    except MemorySystemError as error:
        return _refused(error.sentence)
    except OSError as error:
        return _refused(f"{error.filename or 'A file'} cannot be used: {error.strerror}.")
    first = in_use.world
    try:
        _serve(in_use, settings, browser=browser, lives=not demo)
    finally:
        _close(first, in_use)
    return 0


def _unsaid(_record: logging.LogRecord) -> bool:
    return False


def _close(*worlds: World | InUse) -> None:
    """Close worlds, unless a thread still works on them: then they are left as they are, which they survive."""
    closing = threading.Thread(target=lambda: [world.close() for world in worlds], name="closing", daemon=True)
    closing.start()
    closing.join(_CLOSING_SECONDS)


def _refused(sentence: str) -> int:
    print(sentence, file=sys.stderr, flush=True)
    return 1


def _serve(in_use: InUse, settings: Settings, *, browser: bool, lives: bool) -> None:
    """Both servers, until a signal ends them.

    Raises:
        Ended: a signal came.
    """
    hosts = Hosts.of(settings)
    app = create_app(in_use, Door.of_api(settings), hosts, settings.allowed_origins)
    api = Server(configured(app, host=settings.host, port=settings.api_port, log_config=None))
    shown = Server(dashboard(settings, hosts, in_use))
    beside = threading.Thread(target=api.run, name="api", daemon=True)
    say(f"HTTP API:  {address(settings.host, settings.api_port)}/docs")
    say(f"Dashboard: {address(settings.host, settings.dashboard_port)}   (Ctrl+C stops both)")
    if not is_this_machine(settings.host) and not visitors().demo:
        say("Passwords and memories are sent unencrypted: put a TLS proxy in front (see docs/safety.md).")
    if browser:
        opener = threading.Timer(1.0, webbrowser.open, [address("127.0.0.1", settings.dashboard_port)])
        opener.daemon = True
        opener.start()
    with ExitStack() as stack:
        stack.enter_context(in_use.serving(address(settings.host, settings.api_port), lives=lives))
        beside.start()
        stack.callback(beside.join)
        stack.callback(setattr, api, "should_exit", True)
        drawn = importlib.import_module("dashboard.session").drawn
        threading.Thread(target=_warm_up, args=(in_use.world, shown, drawn), name="warm-up", daemon=True).start()
        shown.run()


def _warm_up(world: World, server: Server, drawn: threading.Event) -> None:
    """Load what pages need before anybody asks for them, and compute what the first recalls would have to.

    The latter waits until a page has been drawn, since it would compete for the processor, or until it seems that
    nobody opens one. What is loaded stays, so it is excluded from garbage collection, which made each step of a slider
    ten times as long.
    """
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not SCRIPTS.fullmatch(module.name) and not server.should_exit:
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
    until = time.monotonic() + _NOBODY_SECONDS
    while not drawn.wait(_LOOK_SECONDS) and time.monotonic() < until and not server.should_exit:
        pass
    if not (world.folder / TOKENS).exists():
        prepare_recall(world, lambda: not server.should_exit)


async def _first(request: Request) -> RedirectResponse:
    """Lead on to the first page, which Streamlit has at no name, only at the root."""
    return RedirectResponse(f"./?{request.url.query}")


def dashboard(settings: Settings, hosts: Hosts, in_use: InUse) -> uvicorn.Config:
    """The dashboard behind its guard and its entrance."""
    shown = st.App(
        APP,  # made first: Streamlit reads .streamlit/config.toml beside the script that it knows
        routes=[
            WebSocketRoute(NEWS, Newsfeed(lambda: in_use.world, visitors()).listen),
            *downloads.routes(lambda: in_use.world, visitors()),
            Route(f"/{PAGES[0].name}", _first),
        ],
        middleware=[
            Middleware(Guard, hosts=hosts, largest=largest_upload),
            Middleware(Entrance, visitors=visitors()),
            Middleware(Compressed),
        ],
    )
    bootstrap.load_config_options(
        {
            "server.port": settings.dashboard_port,
            "server.address": settings.host,
            "server.allowedHosts": list(hosts.plain()),
            "runner.postScriptGC": False,  # garbage is collected as everywhere: when enough has come together
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
