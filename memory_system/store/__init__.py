"""Where memories are kept: the journal, which is authoritative, and the Chroma collections derived from it."""

from .named import placed
from .query_log import LoggedQuery
from .server_notice import served, server_of
from .staleness import Alteration, Stale

__all__ = ["Alteration", "LoggedQuery", "Stale", "placed", "served", "server_of"]
