"""External context of an agent: its recall memory and its archive, for the functions of a talk."""

from __future__ import annotations

from datetime import datetime

from ..agent import AgentMemory
from ..core.entry import MAX_DOCUMENT, Kind, MemoryEntry
from ..errors import InvalidEntry
from .functions import Found, Page
from .searching import NEAR, archival_search, conversation_search, conversation_search_date
from .talk import Message, Mode


class AgentExternal:
    """Searches one agent's memory, present or past; what it inserts is collected, for the step to store.

    Args:
        agent: whose memory it is.
        now: the world's time.
        mode: what becomes of what is inserted.
        muted: ids of memories and messages to leave out.
        said: messages that are not stored; those that match come before the stored ones, on the first page.
        size: results on a page, 1 to 100.
    """

    def __init__(
        self,
        agent: AgentMemory,
        now: datetime,
        mode: Mode = Mode.PLAY,
        muted: tuple[str, ...] = (),
        said: tuple[Message, ...] = (),
        size: int = 5,
    ) -> None:
        self._agent = agent
        self._now = now
        self._mode = mode
        self._muted = muted
        self._fleeting = said
        self._size = size
        self.inserted: list[str] = []

    def search(self, query: str, page: int) -> Page:
        """As ``External.search``: by text and meaning, over all conversations of the agent."""
        found = conversation_search(self._agent, query, page, at=self._now, size=self._size, muted=self._muted)
        words = _words(query)
        said = [
            message
            for message in self._fleeting
            if message.said and any(word in message.said.casefold() for word in words)
        ]
        if page or not said:
            return found
        fleeting = tuple(Found(message.said, message.at, message.speaker) for message in reversed(said[-self._size :]))
        return Page((*fleeting, *found.found), 0, found.total + len(fleeting), found.size)

    def search_dates(self, start: str, end: str, page: int) -> Page:
        """As ``External.search_dates``, the oldest first; without messages that are not stored."""
        return conversation_search_date(self._agent, start, end, page, at=self._now, size=self._size, muted=self._muted)

    def archive(self, query: str, page: int) -> Page:
        """As ``External.archive``: the agent's life by its recall score, documents by relevancy.

        Events inserted in this step are not stored yet; those that match come before the rest, on the first page.
        """
        found = archival_search(self._agent, query, page, at=self._now, size=self._size, muted=self._muted)
        if not self.inserted or page:
            return found
        contents = self._agent.contents
        near = (contents.embedded(self.inserted) @ contents.cue_vector(query)).tolist()
        words = _words(query)
        pairs = [
            (closeness, Found(text, self._now, "short-term memory", "", closeness))
            for text, closeness in zip(self.inserted, near, strict=True)
            if closeness >= NEAR or any(word in text.casefold() for word in words)
        ]
        fresh = tuple(event for _, event in sorted(pairs, key=lambda pair: -pair[0]))
        return Page((*fresh, *found.found), 0, found.total + len(fresh), found.size)

    def insert(self, text: str) -> str:
        """As ``External.insert``."""
        if len(text) > MAX_DOCUMENT:
            raise InvalidEntry(f"The content has {len(text):,} characters; at most {MAX_DOCUMENT:,} are allowed.")
        MemoryEntry(text, kind=Kind.OBSERVATION, timestamp=self._now)  # what cannot be a memory is reported, not stored
        self.inserted.append(text)
        if self._mode is Mode.INTERVIEW:
            return "Noted for this interview only; nothing of it is kept."
        return "It goes into short-term memory, as any event."


def _words(query: str) -> set[str]:
    return {word.casefold().strip("?!.,;:") for word in query.split() if len(word) > 3}
