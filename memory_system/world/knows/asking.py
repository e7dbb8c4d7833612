"""Who knows what, now and at earlier moments: questions to a world, and a person's corrections.

Each function is a method of the world: ``world.knows(...)``. Asking does not count as a recall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol, cast

from ...agent import AgentMemory
from ...agent_parts.knowledge import Then
from ...core.change_set import ChangeSet
from ...core.entry import MemoryEntry, MemoryId, id_of
from ...core.known import Label
from ...core.memory import Vectors
from ...core.names import checked_name
from ...core.times import moment_given
from ...embedding.embedder import Embedder
from ...errors import AgentNotFound, EntryNotFound, InvalidParameter, shown
from ...llm.offline.model import OfflineModel
from ...operations.context import Progress, no_progress, refuse_uncallable
from ...operations.edit import listed
from ...recall.cue_vectors import cue_vectors
from ..knowing import Keeps, kept_by
from ..trail import Cast
from . import labels as by_hand
from .cell import PERSON, Cell, Verdict
from .judging import View, by_model, by_rules, known_names, near, resting_on, weighed
from .sentence import Claim, claim

_HISTORY = 20
"""How many change sets of a memory are searched for the one that brought it."""


class Asked(Cast, Keeps, Protocol):
    """What a world must offer to say who knows what."""

    @property
    def embedder(self) -> Embedder:
        """Texts to vectors."""

    def character_of(self, name: str) -> str:
        """The character that an agent plays."""


class Corrected(Asked, Protocol):
    """What a world must offer to store corrections."""

    def carry_out(self, plan: ChangeSet) -> ChangeSet:
        """Carry out a plan of the world's agent."""


# -- who knows what ----------------------------------------------------------------------------------


def knows(world: Asked, name: str, fact: str, *, at: datetime | None = None, ask_model: bool = True) -> Cell:
    """Whether a character knows a fact, by which memory, since when and how; touches nothing.

    The answer is true if the verdict is "knows", so that ``assert not world.knows("tobias", "...")`` works as it reads.
    See ``who_knows``; in addition, the cell says which change set brought the memory, and who was behind it.

    Raises:
        InvalidAgentName, AgentNotFound: there is no such agent.
        InvalidParameter: the fact or the time cannot be asked about.
        OtherEmbedder: the agent's vectors were made by an embedder other than the chosen one.
    """
    return with_author(world, who_knows(world, fact, [checked_name(name)], at=at, ask_model=ask_model)[0])


def who_knows(
    world: Asked,
    fact: str,
    names: str | Sequence[str] = (),
    *,
    at: datetime | None = None,
    ask_model: bool = True,
    progress: Progress = no_progress,
) -> tuple[Cell, ...]:
    """Whether each of some characters knows a fact; touches nothing.

    A score is not knowledge: the nearest memories are read for who, what, how many and when, and for what they say
    differently. What a person said with ``correct`` comes first.

    Args:
        world: the characters' world.
        fact: one sentence, 1 to 1,000 characters.
        names: the characters; all if none are given.
        at: at which time of the world, with its zone; later memories are not read. Now if not given.
        ask_model: whether the language model judges, if one is set; the rules judge if there is none, or if it
            fails.
        progress: called with the share done, 0 to 1; it may raise to cancel.

    Returns:
        a cell for each, in the order of the names.

    Raises:
        AgentNotFound, InvalidParameter: there is no such agent, or the fact or the time cannot be asked about.
        OtherEmbedder: an agent's vectors were made by an embedder other than the chosen one.
    """
    refuse_uncallable(progress=progress)
    sentence = by_hand.told_fact(fact)
    moment = None if at is None else moment_given("'at'", at)
    cast_ = world.characters()
    characters = listed(names, "'names'") or cast_
    agents = [world.agent(name) for name in characters]
    labels = kept_by(world).labels
    known = known_names(
        [*(world.agent(name).personality_text for name in cast_), *(agent.personality_text for agent in agents)]
    )
    asked = claim(sentence, moment or world.clock(), known)
    cue: Vectors = cue_vectors(world.embedder, [sentence])[0]
    cells = []
    for number, agent in enumerate(agents):
        progress(number / len(agents), f"Looking at {agent.name}, {number + 1} of {len(agents)}")
        if (said := by_hand.label_of(labels, world.character_of(agent.name), sentence)) is not None:
            cells.append(_as_labelled(agent, said))
        else:
            cells.append(_judged(world, agent, asked, cue, known, moment, ask_model=ask_model))
    return tuple(cells)


def correct(
    world: Corrected,
    name: str,
    fact: str,
    verdict: Verdict | str | None,
    memory: MemoryId = "",
    *,
    author: str | None = None,
    preview: bool = False,
) -> ChangeSet:
    """Set whether a character knows a fact, or take that back (``None``); from then on that is the answer.

    It is stored by a change set of the agent ``world.knowledge``, and is undone there.

    Args:
        world: the world that stores it.
        name: the character.
        fact: the sentence; case and spaces do not matter.
        verdict: "knows", "half knows", "has it wrong" or "does not know".
        memory: the memory that shows it, or its id, if one does.
        author: who says so, as the history shows it; this world's author if not given.
        preview: whether to plan only.

    Raises:
        AgentNotFound, EntryNotFound, InvalidParameter: there is no such character, memory or verdict, or the fact
            cannot be asked about. Nothing was changed.
    """
    sentence, who, shows = by_hand.checked_fact(fact), world.character_of(name), id_of(memory)
    said = None if verdict is None else by_hand.checked_verdict(verdict)
    if who not in world.characters():
        raise AgentNotFound(f"There is no character {shown(name)}; there are {', '.join(world.characters())}.")
    if shows and world.agent(name).find(shows) is None:
        raise EntryNotFound(f"{name} has no memory {shown(shows)}, so it cannot show what {name} knows.")
    plan = by_hand.correct(kept_by(world, author), who, sentence, said, shows)
    return plan if preview else world.carry_out(plan)


def labels(world: Keeps) -> tuple[Label, ...]:
    """The corrections of who knows what, made with ``correct``."""
    return kept_by(world).labels


def with_author(world: Cast, cell: Cell) -> Cell:
    """The same cell, with the change set that brought its memory, and who was behind that.

    Raises:
        InvalidParameter: it is not a cell as returned by ``knows`` and ``who_knows``.
    """
    if not isinstance(cell, Cell):
        raise InvalidParameter(f"The cell must be one that 'knows' or 'who_knows' answered, not {shown(cell)}.")
    if not cell.memory:
        return cell
    try:
        agent = world.agent(cell.agent)
    except AgentNotFound:  # deleted meanwhile
        return cell
    brought = [
        act
        for act in reversed(agent.history(_HISTORY, entry_id=cell.memory))
        for change in act.change_set.changes
        if change.entry_id == cell.memory and change.after is not None and change.after.document == cell.text
    ]
    if not brought:
        return cell
    first = brought[0].change_set
    return replace(cell, revision=cast("int", first.revision), author=first.author)


# -- one cell ----------------------------------------------------------------------------------------


def _judged(
    world: Asked,
    agent: AgentMemory,
    asked: Claim,
    cue: Vectors,
    known: frozenset[str],
    at: datetime | None,
    *,
    ask_model: bool,
) -> Cell:
    if agent.contents.of_another_embedder:
        agent.query_memory(asked.text, touch=False)  # which says so
    views = [View(agent, at)]
    if at is not None and at < world.clock():
        views.insert(0, View(agent.as_of(world_time=at), at, then=True))
    more = _known_of_world(world, agent.name, at)
    entries = near(views, asked, cue, more)
    found = weighed(agent, asked, entries, known, at or world.clock())
    cell = by_rules(agent, asked, found)
    if not ask_model or agent.model.name == OfflineModel.name:
        return cell
    read = [memory.entry for memory in found]
    said = by_model(agent, asked, read)
    return replace(cell, why=f"{cell.why} The language model failed.") if said is None else said


def _known_of_world(world: Asked, name: str, at: datetime | None) -> list[MemoryEntry]:
    then = None if at is None or at >= world.clock() else Then(world_time=at)
    known = world.knowledge.known(then)
    if known is None:
        return []
    rows = known.rows(lambda: world.knowledge.whose(name), at or world.clock())
    return [known.entries[row] for row in rows]


def _as_labelled(agent: AgentMemory, said: Label) -> Cell:
    cell = Cell(agent.name, said.fact, Verdict(said.verdict), sure=1.0, why="A person said so.", judge=PERSON)
    entry = agent.find(said.memory) if said.memory else None
    return cell if entry is None else resting_on(cell, entry)
