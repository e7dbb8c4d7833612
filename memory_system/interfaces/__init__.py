"""How the world outside asks a memory: the HTTP API, its client, the command line and the MCP server."""

from . import endings
from .ports import address, holder, is_free, next_free, refuse_busy

__all__ = ["address", "endings", "holder", "is_free", "next_free", "refuse_busy"]
