"""Making a character from a file of another program: who it is, events, and thoughts, in one change set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from ..agent import AgentMemory
from ..agent_parts.importing import ALL, preview_of
from ..core import personality as static_memory
from ..core.change_set import ModelCall
from ..core.entry import MemoryEntry
from ..llm import LanguageModel
from ..operations.context import Progress, no_progress, refuse_uncallable, within
from ..operations.importing.dates import Order
from ..operations.importing.forms import Origin
from ..operations.importing.taking_in import Imported


class Makes(Protocol):
    """What makes characters: a world."""

    author: str
    model: LanguageModel
    clock: Callable[[], datetime]

    def free_name(self, name: str) -> str:
        """A name that nobody has."""

    def newborn(self, name: str) -> AbstractContextManager[AgentMemory]:
        """A new agent that has nothing yet."""


def create_from_file(
    world: Makes,
    name: str,
    personality: str | Mapping[str, Any],
    lived: Sequence[MemoryEntry] = (),
    kept: Sequence[MemoryEntry] = (),
    card: str | None = None,
    portrait: str | None = None,
    calls: Sequence[ModelCall] = (),
    *,
    author: str = "",
    progress: Progress = no_progress,
) -> AgentMemory:
    """A new agent with what ``agent_parts.preview_of`` found in a file, as one change set: its first.

    Args:
        world: where it lives.
        name: the agent's name.
        personality: JSON, or a dict of it.
        lived: what happened, for STM; what has no rating is rated.
        kept: memories that are stored as they are, such as thoughts for LTM.
        card: the character card that it is made from, as JSON; it is stored for a later export of the character.
        portrait: its picture, as it is stored.
        calls: the calls of a language model that read the file.
        author: who is behind it, as the history shows it; the world's author if not given.
        progress: called with the progress so far.

    Raises:
        InvalidAgentName, InvalidParameter, InvalidPersonality, InvalidEntry: nothing was made.
        AlreadyExists: there is an agent of this name, or one that differs only in upper and lower case.
    """
    refuse_uncallable(progress=progress)
    text = static_memory.as_text(personality)
    static_memory.parse(text, "the personality")
    with world.newborn(name) as agent:
        begun = agent.acting_as(author or world.author).curation
        begun.begin(text, list(lived), progress, kept=kept, card=card, portrait=portrait, calls=calls)
        return agent


def bring_character(
    world: Makes,
    name: str,
    material: bytes | str,
    *,
    file_name: str = "",
    form: Origin | str | None = None,
    take: str | Sequence[str] = ALL,
    columns: Mapping[str, str] | None = None,
    dates: Order | str | None = None,
    ask_model: bool = False,
    author: str = "",
    preview: bool = False,
    progress: Progress = no_progress,
) -> Imported:
    """A new character from a file of another program, as one change set, and what became of each line.

    Args:
        world: where it lives.
        name: the agent's name; the name that people use is in the file.
        material: see ``AgentMemory.read_material``, as for the next five.
        file_name: the name of the file.
        form: its form.
        take: which parts to use.
        columns: which names to read for which fields.
        dates: what comes first in dates.
        ask_model: whether the language model makes memories from prose.
        author: who is behind it, as the history shows it; the world's author if not given.
        preview: whether only to read the file; no character is made then, and nothing planned.
        progress: called with the progress so far.

    Raises:
        InvalidFile, InvalidPersonality, InvalidParameter, InvalidAgentName: it cannot be made. Nothing was.
        AlreadyExists: there is an agent of this name.
    """
    refuse_uncallable(progress=progress)
    free = world.free_name(name)
    looked, found, read = preview_of(
        material, world.clock(), file_name=file_name, form=form, take=take, columns=columns, dates=dates,
        model=world.model if ask_model else None, progress=within(progress, 0.0, 0.4),
    )  # fmt: skip
    if preview:
        return Imported(None, looked)
    document = found.document or {"identity": {"name": free}}
    if not read.name:
        document["identity"]["name"] = free
    lived, kept = ([piece.entry for piece in some] for some in (found.pieces, found.kept))
    made = create_from_file(
        world, free, document, lived, kept, read.card, found.portrait, read.calls,
        author=author, progress=within(progress, 0.4, 1.0),
    )  # fmt: skip
    return Imported(made.history(1)[0].change_set, looked)
