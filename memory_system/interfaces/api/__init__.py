"""The HTTP API: a world for programs in any language. Its modules parse, call and respond; none of them decides."""

from .app import create_app
from .guard import Guard, Hosts
from .serving import Server, configured

__all__ = ["Guard", "Hosts", "Server", "configured", "create_app"]
