"""How a fact spread: who had it first, and who told whom and when, as far as the cast's memories show it.

``spread`` is a method of the world. It does not count as a recall.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from ...agent import AgentMemory
from ...core.entry import Source
from ...errors import EntryNotFound
from ...operations.context import Progress, no_progress, refuse_uncallable
from ..trail import heard, is_told
from .asking import Asked, who_knows
from .cell import Cell, Verdict
from .judging import how_known, resting_on
from .naming import meant
from .sentence import name_words

_NOBODY = frozenset({"he", "she", "they", "it", "we", "who", "somebody", "someone", "nobody", "everybody"})
_READ_OF = 12
"""How many of a character's memories of the fact are read to find who told it: the earliest ones."""


@dataclass(frozen=True)
class Knower:
    """A character who knows something of a fact, and where it first got that from.

    Args:
        cell: whether the character knows the fact. Its memory, time and origin are those of the first memory that
            says as much, which need not be the one that decides.
        called: what people call the character.
    """

    cell: Cell
    called: str


@dataclass(frozen=True)
class Telling:
    """That somebody told a fact to a character, as the character remembers it.

    Args:
        by: the character who told it; or, for somebody from outside this world, the name in the memory.
        outside: whether the teller is not from this world.
        to: the character who was told.
        at: when, in the time of the world; ``None`` if the memory has no time.
        memory: the id of the memory, which belongs to the character who was told.
        text: what that memory says.
        again: whether the character knew it before.
    """

    by: str
    outside: bool
    to: str
    at: datetime | None
    memory: str
    text: str
    again: bool


@dataclass(frozen=True)
class Spread:
    """How a fact spread.

    Args:
        fact: the sentence that was asked about.
        knowers: who has it, has half of it, or has it wrong; who had it first comes first.
        tellings: who told whom, the earliest first; only the first time for each pair.
        unaware: the names of the characters who do not know it.
    """

    fact: str
    knowers: tuple[Knower, ...]
    tellings: tuple[Telling, ...]
    unaware: tuple[str, ...]


def spread(
    world: Asked,
    fact: str,
    *,
    at: datetime | None = None,
    ask_model: bool = True,
    progress: Progress = no_progress,
) -> Spread:
    """How a fact spread among the characters: who had it first, and who told whom, according to what they remember.

    Each character is asked as in ``who_knows``. The tellers are taken from the sources of the memories that say it and,
    for derived memories, of their evidence. Changes and touches nothing.

    Args:
        world: the characters' world.
        fact: one sentence, 1 to 1,000 characters.
        at: at which time of the world, with its zone; later memories are not read. Now if not given.
        ask_model: whether the language model judges, if one is set.
        progress: called with the share done, 0 to 1; it may raise to cancel.

    Raises:
        InvalidParameter: the fact or the time cannot be asked about.
        OtherEmbedder: an agent's vectors were made by an embedder other than the chosen one.
    """
    refuse_uncallable(progress=progress)
    return spread_of(world, who_knows(world, fact, at=at, ask_model=ask_model, progress=progress), fact)


def spread_of(world: Asked, cells: Sequence[Cell], fact: str) -> Spread:
    """The same for cells that ``who_knows`` has returned for all characters, in their order."""
    agents = {cell.agent: world.agent(cell.agent) for cell in cells}
    called = {name: agent.display_name for name, agent in agents.items()}
    knowers: list[Knower] = []
    tellings: list[Telling] = []
    for cell in cells:
        if cell.verdict is Verdict.UNAWARE:
            continue
        agent = agents[cell.agent]
        rests = sorted(_resting(agent, cell), key=_since)
        first = replace(rests[0], others=tuple(cell.memory for cell in rests[1:]))
        knowers.append(Knower(first, called[cell.agent]))
        tellings += _tellings(agent, rests, called)
    return Spread(
        " ".join(fact.split()),
        tuple(sorted(knowers, key=lambda knower: (_since(knower.cell), knower.cell.agent))),
        tuple(sorted(tellings, key=lambda telling: (_time(telling.at), telling.to, telling.by))),
        tuple(cell.agent for cell in cells if cell.verdict is Verdict.UNAWARE),
    )


def _resting(agent: AgentMemory, cell: Cell) -> Iterator[Cell]:
    """The cell as it rests on each of the memories that say it."""
    yield cell
    for entry_id in cell.others[:_READ_OF]:
        with suppress(EntryNotFound):  # one of the world's facts, which is not a memory of the character
            yield resting_on(cell, agent.last_version(entry_id))


def _tellings(agent: AgentMemory, rests: Sequence[Cell], called: dict[str, str]) -> Iterator[Telling]:
    """Who told a character, by each memory that says so; each teller once."""
    before = set[str]()
    for number, cell in enumerate(rests):
        source = _source(agent, cell)
        by = meant(source.told_by, called)
        if by == agent.name or not source.told_by or not name_words(source.told_by) - _NOBODY:
            continue
        if (who := by or source.told_by) not in before:
            before.add(who)
            yield Telling(who, not by, agent.name, source.since, source.memory, source.text, bool(number))


def _source(agent: AgentMemory, cell: Cell) -> Cell:
    """The cell resting on what somebody told, if its memory was derived from that."""
    if cell.told_by or cell.how != str(Source.DERIVED):
        return cell
    with suppress(EntryNotFound):
        source = heard(agent, agent.last_version(cell.memory), cell.fact)
        return resting_on(cell, source) if is_told(source) or how_known(source)[1] else cell
    return cell


def _since(cell: Cell) -> float:
    return _time(cell.since) if cell.memory else float("inf")


def _time(moment: datetime | None) -> float:
    return float("-inf") if moment is None else moment.timestamp()
