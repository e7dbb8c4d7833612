"""The vocabulary of memories: tiers, kinds, limits, ids, and the names of the typed fields."""

from __future__ import annotations

import re
import secrets
import threading
import time
from enum import StrEnum

Scalar = str | int | float | bool

MAX_DOCUMENT = 32_000
"""Characters. MiniLM reads the first 2,000 tokens or so; longer texts belong in a document store."""
MAX_EXPLANATION = 4000
MAX_ID = 200
MAX_TAGS = 50
MAX_PEOPLE = 50
MAX_EXTRAS = 50
MAX_DEPTH = 1_000_000
"""Of reflections on reflections; more than in a whole life."""


class Tier(StrEnum):
    """Where an entry lives. Recall searches those of ``LIVED`` in this order, and no others."""

    STATIC = "static"
    STM = "stm"
    LTM = "ltm"
    RECALL = "recall"
    """Every message of every conversation: recall memory, in the words of MemGPT (arXiv 2310.08560, section 2.2)."""
    ARCHIVE = "archive"
    """Passages of the documents that a person loaded."""


LIVED = (Tier.STATIC, Tier.STM, Tier.LTM)
"""What an agent is and went through: the range of ``query_memory``, verdicts, operations, counts and exports."""
DECAYING = (Tier.STM, Tier.LTM)
"""What an agent went through: its memories have a time and decay, unlike the facts of its personality."""
SHELVED = (Tier.RECALL, Tier.ARCHIVE)
"""What is only looked up. It is stored, journalled and undone like the rest, but no operation touches it; an agent
without any has no files for it."""


class Kind(StrEnum):
    """What a memory is."""

    OBSERVATION = "observation"
    CONVERSATION = "conversation"
    REFLECTION = "reflection"
    PLAN = "plan"
    SUMMARY = "summary"
    FACT = "fact"
    PROCEDURE = "procedure"


HAPPENED = frozenset({Kind.OBSERVATION, Kind.CONVERSATION, Kind.FACT, Kind.PROCEDURE})
"""The kinds that come in as events; operations make the others."""


class Source(StrEnum):
    """How an agent came to know of something."""

    SAW = "saw"
    """With its own eyes."""
    HEARD = "heard"
    """With its own ears, from somewhere near."""
    TOLD = "told"
    """Somebody told it: the first of the memory's people."""
    READ = "read"
    DERIVED = "derived"
    """The agent worked it out itself, from other memories: a reflection, a summary or a plan."""


MADE_ID = re.compile(r"([a-z]+-)?[0-9a-f]{32}(-[0-9]+)?")
_making = threading.Lock()
_made = 0


def new_id() -> str:
    """A new id, unique across processes: 14 digits of the microsecond, 18 random, as in UUID version 7.

    Of two that one process made, the earlier sorts first, so that memories of the same time stay in the order in which
    they were made (RFC 9562, section 5.7).
    """
    global _made  # noqa: PLW0603 - the latest id of this process
    with _making:
        _made = max(_made + 1, time.time_ns() // 1000)
        return f"{_made:014x}{secrets.token_hex(9)}"


FLAGS = ("pinned", "authored", "protected")
"""Marks that a person sets on a memory, for operations to respect; see ``MemoryEntry``."""

TYPED = (
    "kind",
    "timestamp",
    "last_access",
    "rating",
    "explanation",
    "tags",
    "pinned",
    "authored",
    "protected",
    "evidence",
    "depth",
)
