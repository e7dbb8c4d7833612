"""The tools of memory for MCP clients: recall, remember, reflect, and memory search."""

from __future__ import annotations

import dataclasses
from itertools import accumulate
from typing import Any

from ...agent import AgentMemory
from ...conversation import tool as searching
from ...conversation.tool import memory_search
from ...operations.importing.events import Added
from ...recall.query import Facets, QueryOptions
from .forms import (
    MOST,
    Agents,
    FoundPassage,
    HappenedArguments,
    HappenedTold,
    Insight,
    Knows,
    Nothing,
    RecallArguments,
    Recalled,
    ReflectArguments,
    Reflected,
    RememberArguments,
    Remembered,
    SearchArguments,
    Searched,
    Stored,
)
from .tool import Caller, Tool

_ROOM = 100_000
"""The most characters in the answer to a recall: clients accept 1 MB, and have little more context."""


def stored(added: Added) -> Stored:
    """What became of the one event that was added."""
    (outcome,) = added.outcomes
    return Stored(
        id=outcome.id,
        rating=outcome.entry.rating,
        explanation=outcome.entry.explanation,
        revision=added.change_set.revision,
        note=outcome.why,
    )


def _agents(caller: Caller, _agent: None, _given: Nothing) -> Agents:
    return Agents(agents=caller.world.characters())


def _recall(_caller: Caller, agent: AgentMemory, arguments: RecallArguments) -> Recalled:
    names = ("kinds", "tags", "sources", "people", "places")
    listed: dict[str, Any] = {name: tuple(getattr(arguments, name)) for name in names}
    facets = Facets(since=arguments.since, until=arguments.until, **listed)
    most = min(agent.settings.top_k, MOST) if arguments.top_k is None else arguments.top_k
    wider: QueryOptions = {"facets": facets, "instances": arguments.instances, "expand": arguments.expand}
    found = agent.query_memory(arguments.cue, most, arguments.threshold, touch=arguments.touch, **wider)
    sizes = accumulate(len(hit.entry.document) for hit in found)
    kept = tuple(hit for hit, size in zip(found, sizes, strict=True) if size <= _ROOM)
    return Recalled(
        memories=[Remembered.of(hit) for hit in kept],
        considered=found.considered,
        left_out=len(found) - len(kept),
        now=found.query.now,
        instances=list(found.query.instances),
        unexpanded=found.query.unexpanded,
        context=dataclasses.replace(found, candidates=kept).context,
    )


def _remember(caller: Caller, agent: AgentMemory, arguments: RememberArguments) -> Stored:
    rerater = caller.world.rerater
    event: dict[str, Any] = {"document": arguments.text, "kind": arguments.kind, "tags": tuple(arguments.tags)}
    event |= {"timestamp": arguments.when, "rating": arguments.rating, "source": arguments.source}
    event |= {"people": tuple(arguments.people), "place": arguments.place}
    fields = {name: value for name, value in event.items() if value is not None}
    added = agent.add_short_term(fields, wait=rerater.waits(arguments.wait))
    rerater.notice([added.change_set])
    return stored(added)


def _reflect(caller: Caller, agent: AgentMemory, arguments: ReflectArguments) -> Reflected:
    done = agent.reflect_from_recent_memory(
        only_if_due=arguments.only_if_due, preview=arguments.preview, progress=caller.progress
    )
    made = [change.after for change in done.changes if change.after is not None]
    return Reflected(
        insights=[Insight(id=entry.id, text=entry.document, evidence=list(entry.evidence)) for entry in made],
        title=done.title,
        notes=list(done.notes),
        revision=done.revision,
    )


def _search(_caller: Caller, agent: AgentMemory, arguments: SearchArguments) -> Searched:
    found = memory_search(
        agent,
        arguments.query,
        form=arguments.form,
        top_k=arguments.top_k,
        within=arguments.within,
        touch=arguments.touch,
    )
    return Searched(
        form=found.form,
        passages=[
            FoundPassage(
                id=passage.id,
                text=passage.text,
                sentence=passage.best,
                source=passage.source,
                score=passage.score,
                relevancy=passage.relevancy,
            )
            for passage in found.passages
        ],
        summary=found.summary,
        sources=list(found.sources),
        told_by=found.narrative.told_by if found.narrative else "",
        note=found.note,
        text=found.text,
    )


def _happened(caller: Caller, _agent: None, arguments: HappenedArguments) -> HappenedTold:
    rerater = caller.world.rerater
    done = caller.world.happened(**dict(arguments) | {"wait": rerater.waits(arguments.wait)}, author=caller.author)
    rerater.notice(knower.added.change_set for knower in done.known)
    knowers = [
        Knows(
            agent=knower.agent,
            source=knower.source,
            text=knower.entry.document,
            revision=knower.added.change_set.revision,
        )
        for knower in done.known
    ]
    return HappenedTold(place=done.place, at=done.at, known=knowers, note=done.note)


MEMORY_TOOLS = (
    Tool(
        "agents",
        "List the agents",
        "The names of the agents whose memory can be asked.",
        Nothing,
        Agents,
        _agents,
        looks=True,
        of_agent=False,
    ),
    Tool(
        "recall",
        "Recall",
        "What the agent remembers about a cue: facts of its personality, short-term and long-term memories, each with "
        "its score from recency, importance and relevancy. Being recalled renews a memory unless 'touch' is false.",
        RecallArguments,
        Recalled,
        _recall,
    ),
    Tool(
        "remember",
        "Remember",
        "Remember an event: it is rated for how poignant it is and kept in the agent's short-term memory. Each change "
        "stands in the agent's history and can be undone there.",
        RememberArguments,
        Stored,
        _remember,
    ),
    Tool(
        "reflect",
        "Reflect",
        "Draw insights from what the agent has lived through of late, and keep them in its long-term memory with the "
        "memories they rest on.",
        ReflectArguments,
        Reflected,
        _reflect,
        turn="reflect",
    ),
    Tool(
        searching.NAME,
        "Search memory",
        "Search the agent's life, what was said to it, and its documents for what answers a question: 'extractive' "
        "answers the most relevant passages word for word, with the best sentence of each marked; 'summarising' one "
        "text that names its sources.",
        SearchArguments,
        Searched,
        _search,
    ),
    Tool(
        "happened",
        "Something happened",
        "Tell the agents who know of something what happened: each remembers it in its own words, with how it came to "
        "know. If nobody is named, everyone at the place saw it.",
        HappenedArguments,
        HappenedTold,
        _happened,
        of_agent=False,
    ),
)
"""What every server offers; ``agents`` and ``happened`` only if it serves more than one."""
