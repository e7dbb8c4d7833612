"""The HTTP API: a world for programs in any language. Each module of it parses, calls and tells; none decides."""

from .app import create_app

__all__ = ["create_app"]
