"""Real MCP clients, the SDK's own, for servers in this process and in others."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
import mcp_types as types
import uvicorn
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from memory_system import World
from memory_system.interfaces.mcp.remembering import MEMORY_TOOLS
from memory_system.interfaces.mcp.server import create_server, http_app
from memory_system.interfaces.mcp.tool import Tools
from tests.programs import Program
from tests.waiting import LAST_RESORT

ROOT = Path(__file__).resolve().parents[1]
Result = TypeVar("Result")


def run(session: Callable[[], Awaitable[Result]]) -> Result:
    """The result of a session, if it ever ends."""

    async def within() -> Result:
        with anyio.fail_after(LAST_RESORT):
            return await session()

    return anyio.run(within)


@contextmanager
def served(world: World, agent: str = "", tools: Tools | None = None) -> Iterator[str]:
    """The address of a server over a world, in threads of this process."""
    app = http_app(create_server(world, tools or Tools(MEMORY_TOOLS, agent)))
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        thread.join(LAST_RESORT)
        listening.close()


@asynccontextmanager
async def over_http(url: str, mode: str = "auto", name: str = "") -> AsyncIterator[Client]:
    """A client over streamable HTTP."""
    info = types.Implementation(name=name, version="1") if name else None
    async with (
        httpx2.AsyncClient(trust_env=False, timeout=LAST_RESORT) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, client_info=info) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(folder: Path, *arguments: str, mode: str = "auto") -> AsyncIterator[Client]:
    """A client that starts its own server over the database in a folder."""
    environment = {
        "MEMORY_DATABASE": str(folder / "database"),
        "MEMORY_PERSONALITIES": str(folder / "personalities"),
        "MEMORY_LLM": "offline",
        **{name: value for name, value in os.environ.items() if name in ("MEMORY_CACHE_DIR", "XDG_CACHE_HOME")},
    }
    command = ["-m", "memory_system", "mcp", *arguments]
    started = StdioServerParameters(command=sys.executable, args=command, cwd=ROOT, env=environment)
    async with Client(stdio_client(started), mode=mode) as client:
        yield client


def commanded(files: Path, *arguments: str) -> Program:
    """The command's server over the database in a folder, with which tests talk line by line."""
    environment = os.environ | {
        "MEMORY_DATABASE": str(files / "database"),
        "MEMORY_PERSONALITIES": str(files / "personalities"),
        "MEMORY_LLM": "offline",
    }
    return Program("-m", "memory_system", "mcp", *arguments, environment=environment)


HELLO = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "by hand", "version": "1"},
        },
    }
)
"""The first line of such a talk."""


def text(result: types.CallToolResult) -> str:
    """The text of a tool's answer."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


async def called(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a tool that does not fail."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refused(client: Client, tool: str, /, **arguments: Any) -> str:
    """The sentence of a tool's error."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text(result)
    assert result.structured_content is None
    return text(result)
