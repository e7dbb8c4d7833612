"""The HTTP API: a world for programs in any language. Each of its modules parses, calls and responds; none decides."""

from .app import create_app
from .guard import Guard, Hosts
from .serving import Server, configured

__all__ = ["Guard", "Hosts", "Server", "configured", "create_app"]
