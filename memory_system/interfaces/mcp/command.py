"""``python -m memory_system mcp``: memory for any client of the Model Context Protocol."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ...core.extras import needs
from ...core.settings import Settings
from ...errors import InvalidParameter
from ...world.world import World
from .. import endings
from ..cli.arguments import errors_told, no_world_yet
from ..cli.terminal import say
from ..ports import refuse_busy


def mcp(
    agent: Annotated[
        str | None, typer.Option(help="Serve this agent's memory alone; any agent's if not given.")
    ] = None,
    curate: Annotated[
        bool,
        typer.Option(
            "--curate", help="Offer every operation as a tool, including purge and reset; by default none is."
        ),
    ] = False,
    look: Annotated[
        bool, typer.Option("--look", help="Offer every read as a tool: history, lineage, forecasts and the like.")
    ] = False,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP on 127.0.0.1 instead of stdio.")] = False,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Where to listen, with --http.")] = None,
) -> None:
    """Serve memory to MCP clients, over stdio. Example: python -m memory_system mcp --agent mira.

    Clients recall, remember, reflect, search and talk. With --curate they also edit, merge, forget, purge and undo,
    and with --look they see all that the dashboard shows.
    A client starts it by itself: name the command in its settings, as the README shows. With --http it serves any
    number of clients at http://127.0.0.1:5002/mcp.
    """
    with errors_told(), needs("mcp", "Serving MCP"):
        from . import server as serving  # the SDK takes half a second to import, and no other command needs it
        from .curating import CURATING_TOOLS, LOOKING_TOOLS
        from .remembering import MEMORY_TOOLS
        from .talking import TALK_TOOLS
        from .together import TOGETHER_TOOLS
        from .tool import Tools

    settings = Settings()
    if port is not None and not http:
        raise InvalidParameter("--port is for --http; stdio has no port. Add --http, or leave --port out.")
    chosen = port or settings.mcp_port
    if http:
        refuse_busy(chosen, "MCP", "--port {port}")

    if new := no_world_yet(settings):
        say(f"{new} It begins now.", err=True)

    def program() -> int:
        with World(settings, author="MCP") as world:
            served = world.agent(agent).name if agent else ""
            offered = (
                *MEMORY_TOOLS,
                *TALK_TOOLS,
                *TOGETHER_TOOLS,
                *(LOOKING_TOOLS if look else ()),
                *(CURATING_TOOLS if curate else ()),
            )
            world.rerater.start()
            server = serving.create_server(world, Tools(offered, served))
            if http:
                typer.echo(f"Serving MCP on http://127.0.0.1:{chosen}{serving.PATH}. Ctrl+C stops it.")
                serving.serve_http(server, chosen)
                return 0
            if sys.stdin.isatty():
                typer.echo("Serving MCP over stdin and stdout, as a client starts it. Ctrl+D stops it.", err=True)
            serving.serve_stdio(server)
        return 0

    raise typer.Exit(endings.run(program))
