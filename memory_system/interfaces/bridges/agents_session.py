"""A session of the OpenAI Agents SDK over an agent: the items of a talk are stored among the agent's messages.

There they are searched with everything else that was said, are journalled and undone, and no operation forgets them.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping

from agents import TResponseInputItem
from agents.memory import SessionABC, SessionSettings

from ...agent import AgentMemory
from ...conversation.storage import storable
from ...core.change_set import counted
from ...core.entry import MAX_DOCUMENT, Kind, MemoryEntry, Tier
from ...core.kinds import MAX_EXTRAS, Scalar, new_id
from ...errors import InvalidParameter, shown
from .notes import Ends, Notes

_KEY, _ITEM, _MORE, _OF = "session_item", "session_json", "session_json_", "session"
_PIECE, _MOST_PIECES = 30_000, MAX_EXTRAS
_MOST = _PIECE * (MAX_EXTRAS - 3)
"""How many characters an item may have; its session, id and speaker are stored in addition to its pieces."""
_DIGITS = 14
"""How many digits of an item's id give its position."""


class MemorySession(SessionABC):
    """The session, to be passed to ``Runner.run(..., session=...)``.

    Args:
        session_id: which talk; another program can continue it.
        agent: the agent that stores it.
        author: the name under which the history shows the changes.
    """

    def __init__(self, session_id: str, agent: AgentMemory, author: str = "OpenAI Agents") -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = None
        self._notes = Notes(agent, author, _KEY, Tier.RECALL)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items of the talk in their order, or the last ``limit`` of them."""
        most = limit if limit is not None or self.session_settings is None else self.session_settings.limit
        entries = await asyncio.to_thread(self._entries)
        return [_item(entry) for entry in (entries if most is None else entries[max(len(entries) - most, 0) :])]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items to the end of the talk, as one change set."""
        if items:
            await asyncio.to_thread(self._add, items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item, and return it; ``None`` if there is none."""
        taken = await asyncio.to_thread(self._take, "Take back the last item of a session", 1)
        return _item(taken[0]) if taken else None

    async def clear_session(self) -> None:
        """Remove all items; one undo brings them back."""
        await asyncio.to_thread(self._take, "Clear a session")

    def _entries(self) -> list[MemoryEntry]:
        mine = [entry for entry in self._notes.entries().values() if entry.extras[_OF] == self.session_id]
        return sorted(mine, key=lambda entry: entry.id)

    def _take(self, title: str, last: int = 0) -> list[MemoryEntry]:
        """Remove items: this many of the last ones, or all."""
        with self._notes.alone():
            if taken := self._entries()[-last:]:
                self._notes.apply("forget", title, [(entry, None) for entry in taken])
            return taken

    def _add(self, items: list[TResponseInputItem]) -> None:
        with self._notes.alone():  # its number is unique
            self._notes.apply("add", f"Keep {counted(len(items), 'item')} of a session", self._made(items))

    def _made(self, items: list[TResponseInputItem]) -> list[Ends]:
        """Entries for items that follow the stored ones."""
        entries, now = self._entries(), self._notes.agent.now
        last = _number(entries[-1]) if entries else 0
        of = hashlib.sha256(self.session_id.encode()).hexdigest()[:16]
        made: list[Ends] = []
        for item in items:
            json_text, made_up = _dumped(item), new_id()
            if len(json_text) > _MOST:
                raise InvalidParameter(
                    f"An item of a session has {len(json_text):,} characters as JSON; at most {_MOST:,} are allowed."
                )
            last = max(last + 1, int(made_up[:_DIGITS], 16))  # in the order of the talk, whatever the clock says
            pieces = [json_text[at : at + _PIECE] for at in range(0, len(json_text), _PIECE)]
            entry_id = f"session:{of}-{last:0{_DIGITS}x}{made_up[_DIGITS:]}"
            metadata: dict[str, Scalar] = {_OF: self.session_id, _KEY: entry_id, "speaker": self._speaker(item)}
            metadata |= {f"{_MORE}{place}" if place else _ITEM: piece for place, piece in enumerate(pieces)}
            text = storable(said(item))[:MAX_DOCUMENT]  # the item itself is stored as it came
            kind = Kind.CONVERSATION if "role" in item else Kind.PROCEDURE
            made.append((None, MemoryEntry(text, metadata, entry_id, tier=Tier.RECALL, kind=kind, timestamp=now)))
        return made

    def _speaker(self, item: TResponseInputItem) -> str:
        role = str(item.get("role", "")) or str(item.get("type", "item"))
        return self._notes.agent.display_name if role == "assistant" else role


def _dumped(item: object) -> str:
    if not isinstance(item, Mapping):
        raise InvalidParameter(f'An item of a session is an object like {{"role": "user", ...}}, not {shown(item)}.')
    try:
        return json.dumps(item)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParameter(f"An item of a session cannot be kept: {error}. Hand in plain JSON.") from error


def said(item: TResponseInputItem) -> str:
    """The text of an item; its JSON if it has none."""
    content = item.get("content", item.get("output"))
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text", "") if isinstance(part, dict) else part for part in parts]
    whole = "\n".join(text for text in texts if isinstance(text, str))
    return whole if whole.strip() else json.dumps(item, ensure_ascii=False)


def _number(entry: MemoryEntry) -> int:
    """The position of an item; a mere count could give the id of an item that was removed."""
    digits = entry.id.rpartition("-")[2]
    return int(digits[:_DIGITS], 16) if len(digits) > _DIGITS else int(digits)


def _item(entry: MemoryEntry) -> TResponseInputItem:
    rest = (str(entry.extras.get(f"{_MORE}{place}", "")) for place in range(1, _MOST_PIECES))
    found: TResponseInputItem = json.loads(str(entry.extras[_ITEM]) + "".join(rest))
    return found
