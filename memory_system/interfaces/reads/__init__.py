"""The reads: what each is called, what it wants to know, how the agent or the world is asked, and what it answers.

Every front end is made of this list, as it is of ``operations``: the addresses of the HTTP API, the commands, and the
tools for looking over MCP. All of it looks and changes nothing.
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
