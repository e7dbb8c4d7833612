"""Two characters side by side: one cue, what each recalls, and what one has that the other lacks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ...agent import AgentMemory
from ...core.change_set import text_given
from ...core.entry import MemoryEntry, Tier
from ...core.languages import same_words
from ...core.times import moment_given
from ...errors import InvalidParameter, shown
from ...recall.query import Facets
from ..trail import Cast
from .meetings import Life, meetings


@dataclass(frozen=True)
class Recollection:
    """A memory that a cue recalls.

    Args:
        entry: the memory.
        score: its score.
        shared: the id of the other's memory of the same, even if the cue does not recall it there: of the same event,
            with the same words, or a fact of the world that both know; empty if the other lacks it.
    """

    entry: MemoryEntry
    score: float
    shared: str


@dataclass(frozen=True)
class Answer:
    """What one of two recalls.

    Args:
        agent: the character's name.
        called: what people call it.
        recalled: what it recalls, the best first.
    """

    agent: str
    called: str
    recalled: tuple[Recollection, ...]


@dataclass(frozen=True)
class Beside:
    """Two characters and one cue.

    Args:
        cue: what both were asked.
        answers: what each recalls, in the order in which they were named.
    """

    cue: str
    answers: tuple[Answer, ...]


def beside(world: Cast, one: str, other: str, cue: str, *, at: datetime | None = None) -> Beside:
    """One cue asked of two characters: both answers, and what one has that the other lacks; touches nothing.

    The other counts as having a memory too if it remembers the same event (close in time, each naming the other),
    has a memory with the same words, or if both know it as a fact of their world.

    Args:
        world: the world of both.
        one: the name of a character.
        other: the name of another one.
        cue: what both are asked, as for ``query_memory``.
        at: at which time of the world, with its zone; what was lived through later is not recalled. Now if not given.

    Raises:
        AgentNotFound: there is no such character.
        InvalidParameter: it is the same one twice, or the cue or the time cannot be accepted.
        OtherEmbedder: an agent's vectors were made by an embedder other than the chosen one.
    """
    if text_given("one", one) == text_given("other", other):
        raise InvalidParameter(f"Name two characters, not {shown(one)} twice.")
    moment = None if at is None else moment_given("'at'", at)
    agents = [world.agent(name) for name in (one, other)]
    found = [_recalled(agent, cue, moment) for agent in agents]
    lives = [
        Life(agent.name, agent.display_name, (*agent.entries(Tier.STM), *agent.entries(Tier.LTM))) for agent in agents
    ]
    same = _same(lives[0], lives[1])
    both = {entry.id for entry, _ in found[0]} & {entry.id for entry, _ in found[1]}
    answers = tuple(
        Answer(
            agent.name,
            agent.display_name,
            tuple(Recollection(entry, score, _shared(agent.name, entry, same, both)) for entry, score in hits),
        )
        for agent, hits in zip(agents, found, strict=True)
    )
    return Beside(cue, answers)


def _recalled(agent: AgentMemory, cue: str, at: datetime | None) -> list[tuple[MemoryEntry, float]]:
    query = agent.query(cue) if at is None else agent.query(cue, now=at, facets=Facets(until=at))
    return [(hit.entry, hit.score.total) for hit in agent.answer(query).hits]


def _same(first: Life, second: Life) -> dict[tuple[str, str], str]:
    """The id of the other's memory of the same, by a character and one of its memories."""
    texts = [{_plain(entry): entry.id for entry in reversed(life.entries)} for life in (first, second)]
    same: dict[tuple[str, str], str] = {}
    for life, theirs in ((first, texts[1]), (second, texts[0])):
        same |= {(life.name, entry.id): theirs[_plain(entry)] for entry in life.entries if _plain(entry) in theirs}
    for mark, mark_of_other in meetings((first, second)):
        same.setdefault(mark, mark_of_other[1])
        same.setdefault(mark_of_other, mark[1])
    return same


def _shared(name: str, entry: MemoryEntry, same: dict[tuple[str, str], str], both: set[str]) -> str:
    if entry.tier is Tier.STATIC:
        return entry.id if entry.id in both and "known_to" in entry.extras else ""
    return same.get((name, entry.id), "")


def _plain(entry: MemoryEntry) -> str:
    return same_words(entry.document)
