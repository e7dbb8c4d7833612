"""How the characters of a world rehearse: branched, compared, kept from, dropped.

A rehearsal is an agent of its own, with the whole history of the one that it was branched from. Each function takes the
world, of which it is a method: ``world.branch(...)``.
"""

from __future__ import annotations

import dataclasses
import threading
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeVar

from ...agent import AgentMemory
from ...core.change_set import ChangeSet, text_given
from ...core.entry import MemoryEntry, MemoryId, id_of
from ...core.names import checked_name
from ...core.scoring import whole
from ...core.times import real_clock
from ...errors import AgentNotFound, Conflict, InvalidParameter, MemorySystemError, ReadOnly, kind_of
from ...operations.context import Progress, no_progress, refuse_uncallable
from ...store import rehearsal as marks
from ...store.clock import world_clock
from ...store.journal.journal import Applied
from ...store.rehearsal import Rehearsal
from .. import folders
from ..folders import Binned
from . import diff, merge
from .diff import Apart
from .merge import Fit

_MOST = 2**62
Item = TypeVar("Item")


Beside = Callable[[str, AgentMemory], dict[str, str]]
"""The texts of files to be put next to a copy, by their names, given the copy's name and the copied agent."""
RESTORE_IT = "Restore it from the bin, and both can be compared again."


class Stage(Protocol):
    """What a world must offer so that its characters can rehearse."""

    folder: Path
    lock: threading.RLock
    """Locked while agents come and go."""

    def agents(self) -> list[str]:
        """The names of all agents."""

    def characters(self) -> list[str]:
        """The names of the agents that are not rehearsals."""

    def agent(self, name: str) -> AgentMemory:
        """An agent by its name."""

    def delete_agent(self, name: str) -> Binned:
        """Move an agent to the bin."""

    def copied(self, name: str, to: str, beside: Beside) -> AgentMemory:
        """Copy an agent, along with files that are made while nobody can write to it."""


# -- begun and found -----------------------------------------------------------------------------------


def texts_beside(copy: str, source: AgentMemory, beside: Beside) -> dict[str, str]:
    """The texts to be put next to a copy.

    Raises:
        InvalidParameter: they are not texts by the names of files.
    """
    texts = beside(copy, source) if callable(beside) else None
    if not isinstance(texts, dict) or not all(
        isinstance(name, str) and isinstance(text, str) and name == Path(name).name and "\0" not in name
        for name, text in texts.items()
    ):
        raise InvalidParameter(
            "'beside' must be a function that returns texts by the names of their files, like {'notes.txt': '...'}."
        )
    return texts


def branch(
    world: Stage, name: str, as_: str | None = None, *, purpose: str = "", author: str | None = None
) -> AgentMemory:
    """Begin a rehearsal of a character: a copy to experiment with, whole history included, linked to its original.

    Whatever happens in it, the character stays as it is until something is kept. Its queries and accesses are
    never passed on.

    Args:
        world: the world of both.
        name: the character.
        as_: the rehearsal's name; "mira rehearsal" or the next free name if not given.
        purpose: what is tried, in at most 80 characters.
        author: who begins it; the author of the character's changes if not given.

    Raises:
        Conflict: it is a rehearsal itself.
        ReadOnly: its journal is damaged.
        InvalidParameter, InvalidAgentName, AgentNotFound, AlreadyExists, StoreError: nothing was made.
    """
    return _begin(world, name, as_, purpose, author, "")


def branch_all(
    world: Stage, *, purpose: str = "", author: str | None = None, progress: Progress = no_progress
) -> list[AgentMemory]:
    """Begin a rehearsal of every character of the world, all or none; each is kept or dropped on its own.

    Raises:
        MemorySystemError: one cannot be branched; those begun before it are in the bin.
    """
    refuse_uncallable(progress=progress)
    names, together = world.characters(), uuid.uuid4().hex
    begun: list[AgentMemory] = []
    with world.lock:
        try:
            for number, name in enumerate(names):
                progress(number / len(names), f"Copying {name}, {number + 1} of {len(names)}")
                begun.append(_begin(world, name, None, purpose, author, together))
        except BaseException:
            for agent in begun:
                world.delete_agent(agent.name)
            raise
    return begun


def _begin(world: Stage, name: str, as_: str | None, purpose: str, author: str | None, together: str) -> AgentMemory:
    tried = marks.checked_purpose(purpose)
    with world.lock:
        original = _acting(world.agent(name), author)
        if len(original.author) > marks.MAX_AUTHOR:
            raise InvalidParameter(
                f"The author has {len(original.author):,} characters; a rehearsal tells at most "
                f"{marks.MAX_AUTHOR:,}. Give a shorter one."
            )
        if (of := marks.read(world.folder / original.name)) is not None:
            raise Conflict(
                f"{original.name!r} is a rehearsal of {of.of!r} already. Begin another of {of.of!r}, or copy this "
                "one: the copy is a rehearsal of the same character."
            )
        if original.read_only is not None:
            raise ReadOnly(f"{original.name!r} can only be read, so it cannot rehearse. {original.read_only}")
        target = marks.free_name(original.name, set(map(str.casefold, world.agents()))) if as_ is None else as_

        def mark(copy: str, source: AgentMemory) -> dict[str, str]:
            now = world_clock(world.folder)()
            rehearsal = Rehearsal(
                copy, source.name, source.stamp[0], real_clock(), now, original.author, tried, together
            )
            return {marks.FILE: rehearsal.to_json()}

        return world.copied(original.name, target, mark)


def rehearsal(world: Stage, name: str) -> Rehearsal | None:
    """Whose rehearsal an agent is, and since when; ``None`` if it is a character of its own.

    Raises:
        StoreDamaged: its file does not say.
    """
    return marks.read(world.folder / name) if text_given("name", name) in world.agents() else None


def rehearsals(world: Stage, of: str | None = None) -> list[Rehearsal]:
    """All rehearsals, or those of one character, the last begun first; a damaged file is skipped."""
    character = None if of is None else text_given("of", of)
    found: list[Rehearsal] = []
    for name in world.agents():
        try:
            rehearsal = marks.read(world.folder / name)
        except MemorySystemError:
            continue  # the agent itself reports the problem
        if rehearsal is not None and character in (None, rehearsal.of):
            found.append(rehearsal)
    return sorted(found, key=lambda rehearsal: rehearsal.begun_at, reverse=True)


def characters(world: Stage) -> list[str]:
    """The names of the agents that are not rehearsals, sorted."""
    played = {rehearsal.name for rehearsal in rehearsals(world)}
    return [name for name in world.agents() if name not in played]


def character_of(world: Stage, name: str) -> str:
    """The character that an agent plays: itself or, for a rehearsal, the original."""
    return marks.played(world.folder / checked_name(name))


def follow(world: Stage, name: str, to: str) -> None:
    """Update the rehearsals of a renamed character with its new name."""
    for rehearsal in rehearsals(world, name):
        marks.write(world.folder / rehearsal.name, dataclasses.replace(rehearsal, of=to))


# -- compared and kept -----------------------------------------------------------------------------


def changes_of(world: Stage, branch: str) -> list[Applied]:
    """The change sets of a rehearsal since it was begun, the newest first.

    Raises:
        AgentNotFound, Conflict: it is not a rehearsal.
    """
    rehearsal = _rehearsing(world, branch)
    return world.agent(rehearsal.name).timeline.changes_since(rehearsal.revision)


def compare(world: Stage, branch: str) -> Apart:
    """Where a rehearsal differs from its original: memories and texts, and where the two clash.

    Raises:
        AgentNotFound, Conflict: it is not a rehearsal, or its original is gone.
        ReadOnly: the journal of one of the two is damaged.
    """
    rehearsal, agent, original = _pair(world, branch)
    return diff.compare(rehearsal, agent, original)


def fits(world: Stage, branch: str) -> dict[int, Fit]:
    """For each change of a rehearsal, by its revision, whether the original has it, or could take it on its own.

    Raises:
        AgentNotFound, Conflict: it is not a rehearsal, or its original is gone.
        ReadOnly: the journal of one of the two is damaged.
    """
    rehearsal, agent, original = _pair(world, branch)
    return merge.fits(rehearsal, agent, original, agent.timeline.changes_since(rehearsal.revision))


def keep(
    world: Stage,
    branch: str,
    *,
    ids: Iterable[MemoryId] | None = None,
    texts: Iterable[str] | None = None,
    revisions: Iterable[int] | None = None,
    overwrite: Iterable[MemoryId] = (),
    author: str | None = None,
    preview: bool = False,
) -> ChangeSet:
    """Let the original take something from a rehearsal, as one change set that can be undone.

    Either memories and texts become what they are in the rehearsal, or single changes of it are done again. All
    that differs is kept if none of the three is given.

    Args:
        world: the world of both.
        branch: the rehearsal.
        ids: memories or their ids, from the result of ``compare``.
        texts: names of texts from the result of ``compare``, such as ``settings``.
        revisions: changes from the result of ``changes_of``.
        overwrite: memories or their ids, and names of texts, to take from the rehearsal although the original has also
            changed them.
        author: who keeps it, as for ``branch``.
        preview: whether to plan only; ``world.agent(original).apply`` carries it out.

    Raises:
        StaleChange: the original has also changed the same things; the message says what and how.
        EntryNotFound, ChangeSetNotFound, InvalidParameter: the rehearsal has no such thing.
        AgentNotFound, Conflict: it is not a rehearsal, or its original is gone.
        ReadOnly: the journal of one of the two is damaged.
    """
    rehearsal, agent, original = _pair(world, branch)
    original = _acting(original, author)
    settled = set(_ids("overwrite", overwrite))
    if revisions is not None:
        if ids is not None or texts is not None:
            raise InvalidParameter("Keep either changes ('revisions') or memories and texts, not both at once.")
        numbers = [whole("A revision", revision, 0, _MOST) for revision in _listed("revisions", revisions, int)]
        plan = merge.by_change(rehearsal, agent, original, numbers, settled)
    else:
        plan = merge.by_memory(
            diff.compare(rehearsal, agent, original),
            agent,
            original,
            None if ids is None else _ids("ids", ids),
            None if texts is None else _listed("texts", texts, str),
            settled,
        )
    return plan if preview else original.apply(plan)


def drop(world: Stage, branch: str) -> Binned:
    """Move a rehearsal to the world's bin; what was kept from it stays, and ``restore_agent`` brings it back.

    Raises:
        AgentNotFound, Conflict: it is not a rehearsal.
    """
    return world.delete_agent(_rehearsing(world, branch).name)


def dropped(world: Stage, of: str) -> list[Binned]:
    """The rehearsals of a character that are in the bin, the last dropped first."""
    character, found = text_given("of", of), []
    for binned in folders.in_bin(world.folder):
        with suppress(MemorySystemError):  # restored, it will say what is wrong with it
            rehearsal = marks.read(binned.folder)
            if rehearsal is not None and rehearsal.of == character:
                found.append(binned)
    return found


def _rehearsing(world: Stage, branch: str) -> Rehearsal:
    agent = world.agent(branch)
    rehearsal = marks.read(world.folder / agent.name)
    if rehearsal is None:
        raise Conflict(f"{agent.name!r} is a character of its own, not a rehearsal.")
    return rehearsal


def _pair(world: Stage, branch: str) -> tuple[Rehearsal, AgentMemory, AgentMemory]:
    rehearsal = _rehearsing(world, branch)
    if rehearsal.of not in world.agents():
        raise AgentNotFound(
            f"The character {rehearsal.of!r}, of which {rehearsal.name!r} is a rehearsal, no longer exists. "
            f"{RESTORE_IT}"
        )
    agent, original = world.agent(rehearsal.name), world.agent(rehearsal.of)
    for side in (agent, original):
        if side.read_only is not None:
            raise ReadOnly(f"{side.name!r} can only be read, so the two cannot be compared. {side.read_only}")
    if agent.timeline.origin != original.timeline.origin:
        raise Conflict(
            f"{rehearsal.of!r} is not the character any more that {rehearsal.name!r} was branched from: their "
            "histories begin with different changes. Nothing can be kept."
        )
    return rehearsal, agent, original


def _acting(agent: AgentMemory, author: str | None) -> AgentMemory:
    return agent if author is None else agent.acting_as(author)


def _ids(what: str, memories: Iterable[MemoryId]) -> list[str]:
    return [id_of(memory) for memory in _listed(what, memories, (str, MemoryEntry))]


def _listed(what: str, items: Iterable[Item], kind: type[Item] | tuple[type[Item], ...]) -> list[Item]:
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise InvalidParameter(f"'{what}' must be a list, not {kind_of(items)}.")
    listed: list[Item] = list(items)
    if not all(isinstance(item, kind) and not isinstance(item, bool) for item in listed):
        raise InvalidParameter(f"'{what}' must hold {'whole numbers' if kind is int else 'texts'} only.")
    return list(dict.fromkeys(listed))
