"""The reads: the name of each, its form, how the agent or the world is asked, and the answer.

Every front end is made from this list, as from ``operations``: the addresses of the HTTP API, the commands, and the
tools for reading over MCP. All of them only read and change nothing.
"""

from . import memories, recall, talks, world
from .memories import ENTRIES, STATS
from .read import Read
from .world import (
    BINNED,
    FINDINGS,
    PRICES,
    PROMPT,
    WORLD,
    findings_told,
    prices_told,
    prompt_told,
    world_told,
    worlds_beside,
)

READS = (*memories.READS, *recall.READS, *talks.READS, *world.READS)

__all__ = [
    "BINNED",
    "ENTRIES",
    "FINDINGS",
    "PRICES",
    "PROMPT",
    "READS",
    "STATS",
    "WORLD",
    "Read",
    "findings_told",
    "prices_told",
    "prompt_told",
    "world_told",
    "worlds_beside",
]
