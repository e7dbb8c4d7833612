"""The journal of an agent: every change, entry, vector and query, in SQLite or PostgreSQL."""

from .history import Applied
from .horizon import HistoryKept
from .trash import Forgotten

__all__ = ["Applied", "Forgotten", "HistoryKept"]
