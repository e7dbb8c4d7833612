"""``memory-system run``: the dashboard and the HTTP API on a world, from a checkout or an installed package alike."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ...core.change_set import short
from ...core.extras import require
from ...core.settings import MEMORY, Settings
from ...errors import InvalidParameter
from ...store.named import THROWN_AWAY
from .arguments import EmbedderName, Origins, between, errors_told, served_already
from .terminal import say

_WANTED = ("streamlit", "plotly", "pandas", "fastapi", "uvicorn")

_Port = Annotated[int | None, typer.Option(help="Where the dashboard listens.", **between(1, 65535, whole=True))]
_ApiPort = Annotated[int | None, typer.Option(help="Where the HTTP API listens.", **between(1, 65535, whole=True))]


def run(
    world: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="The folder of the world, with database/ and agent_personalities/ in it; made if it is missing. "
            "Without it, the checkout's folder, or your own folder for data.",
        ),
    ] = None,
    sample: Annotated[
        bool | None,
        typer.Option(
            "--sample/--no-sample",
            help="Fill the world with the sample characters if it is empty. The default, unless --world is given.",
        ),
    ] = None,
    port: _Port = None,
    api_port: _ApiPort = None,
    embedder: EmbedderName = None,
    origin: Origins = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser on it, where there is a screen.")
    ] = True,
) -> None:
    """Open the dashboard, with the HTTP API beside it. Example: python -m memory_system run --port 8600.

    Ctrl+C stops both. Other commands find a world given by --world if MEMORY_HOME names it.
    """
    with errors_told():
        for package in _WANTED:  # some are imported only by a page, which is late to find out
            require(package, "dashboard", "The dashboard")
        settings = settings_for(None if world is None else _folder(world), port, api_port, embedder, origin)
    from dashboard import serve  # streamlit takes a second to import

    where = settings.home if world is None else settings.home.resolve()
    filled = world is None if sample is None else sample
    if settings.store == MEMORY:
        say(THROWN_AWAY)
        raise typer.Exit(serve.main(settings, sample=filled, browser=browser and has_screen(os.environ, sys.platform)))
    if served := served_already(settings):
        say(served)
    new = not (settings.database / settings.world).exists() and not filled
    say(f"World: {settings.world!r} in {where}{' (new, and empty: --sample fills it)' if new else ''}")
    raise typer.Exit(serve.main(settings, sample=filled, browser=browser and has_screen(os.environ, sys.platform)))


def demo(
    port: _Port = None,
    api_port: _ApiPort = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser on it, where there is a screen.")
    ] = True,
) -> None:
    """Show the sample world to everybody, who can change nothing. Example: python -m memory_system demo --port 8600.

    It is a fresh copy without a password and without a language model, thrown away when the program ends. With
    MEMORY_HOST=0.0.0.0 other machines see it too.
    """
    with errors_told():
        for package in _WANTED:
            require(package, "dashboard", "The dashboard")
        settings = settings_for(None, port, api_port)
    from dashboard import serve  # streamlit takes a second to import

    raise typer.Exit(serve.demo(settings, browser=browser and has_screen(os.environ, sys.platform)))


def _folder(text: str) -> Path:
    """The folder that --world names.

    Raises:
        InvalidParameter: it does not name a folder, or its symbolic links form a loop.
    """
    if not text.strip():
        raise InvalidParameter("--world is empty: name the folder of the world, such as --world game.")
    folder = Path(text).expanduser().absolute()
    try:
        folder.resolve()
    except (OSError, RuntimeError) as error:  # from Python 3.13 on, the loop is found only when the folder is opened
        raise InvalidParameter(
            f"{short(text, 200)!r} cannot be the folder of a world: its symbolic links form a loop."
        ) from error
    return folder


def settings_for(
    world: Path | None = None,
    port: int | None = None,
    api_port: int | None = None,
    embedder: str | None = None,
    origins: Sequence[str] | None = None,
) -> Settings:
    """The environment's settings, except those given on the command line.

    Raises:
        InvalidParameter: one of the environment's is wrong.
    """
    fields: dict[str, Any] = {}
    if world is not None:
        home = world.expanduser().absolute()
        fields = {"home": home, "database": home / "database", "personalities": home / "agent_personalities"}
    if port is not None:
        fields["dashboard_port"] = port
    if api_port is not None:
        fields["api_port"] = api_port
    if embedder is not None:
        fields["embedder"] = embedder
    if origins:
        fields["origins"] = ",".join(origins)
    return Settings(**fields)


def has_screen(environment: Mapping[str, str], platform: str) -> bool:
    """Whether somebody would see a browser that opens here: not in CI, over SSH, or without a display."""
    if environment.get("CI") or environment.get("SSH_CONNECTION"):
        return False
    if platform in ("win32", "darwin"):
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
