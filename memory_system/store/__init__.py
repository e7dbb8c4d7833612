"""Where memories are kept: the journal, which is the truth, and the Chroma collections that follow it."""

from .query_log import LoggedQuery
from .server_notice import served, server_of
from .staleness import Alteration, Stale

__all__ = ["Alteration", "LoggedQuery", "Stale", "served", "server_of"]
