"""How the world outside asks a memory: the HTTP API, its client, the command line and the MCP server."""

from . import endings

__all__ = ["endings"]
