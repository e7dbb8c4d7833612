"""One process: the dashboard on port 8501 and the HTTP API on port 5000, over one world."""

from __future__ import annotations

import logging
import shutil
import sys
import threading
from pathlib import Path

import streamlit as st
import uvicorn
from pydantic import ValidationError

from dashboard import session
from memory_system import MemorySystemError, Settings
from memory_system.api import create_app
from memory_system.errors import StoreError
from memory_system.minilm import weights
from memory_system.ports import refuse_busy
from memory_system.settings import explained

APP = Path(__file__).with_name("app.py")
_NO_BROWSER_YET = "streamlit.runtime.scriptrunner_utils.script_run_context"
"""The logger that warns when something is cached before a browser is connected."""
ROOM = 500_000_000


def say(line: str) -> None:
    """Tell the terminal what is being done."""
    print(line, flush=True)


def prepare(settings: Settings) -> None:
    """See that everything is in place before anything is served.

    Raises:
        MemorySystemError: a port, the disk, the model or the world is not as it should be.
    """
    refuse_busy(settings.dashboard_port, "the dashboard", "MEMORY_DASHBOARD_PORT=8502 make run")
    refuse_busy(settings.api_port, "the HTTP API", "MEMORY_API_PORT=5001 make run")
    settings.database.mkdir(parents=True, exist_ok=True)
    if (free := shutil.disk_usage(settings.database).free) < ROOM:
        raise StoreError(
            f"The disk is nearly full: {free / 1e6:.0f} MB are free at {settings.database}. Make room first."
        )
    weights.ensure(settings.cache, say)


def main() -> None:
    """Serve until Ctrl+C."""
    try:
        settings = Settings()
        prepare(settings)
        say("Opening the world ...")
        logging.getLogger(_NO_BROWSER_YET).disabled = True
        world = session.world(say)
    except MemorySystemError as error:
        sys.exit(error.sentence)
    except ValidationError as error:
        sys.exit(explained(error))
    except OSError as error:
        sys.exit(f"{error.filename or 'A file'} cannot be used: {error.strerror}.")
    api = uvicorn.Server(
        uvicorn.Config(create_app(lambda: world), host="127.0.0.1", port=settings.api_port, log_config=None)
    )
    threading.Thread(target=api.run, name="api", daemon=True).start()
    say(f"HTTP API:  http://127.0.0.1:{settings.api_port}/docs")
    say(f"Dashboard: http://127.0.0.1:{settings.dashboard_port}   (Ctrl+C stops both)")
    st.App(APP).run(config={"server.port": settings.dashboard_port, "server.address": "127.0.0.1"})


if __name__ == "__main__":
    main()
