"""Reads: an agent, its memories and what is known of each, and its history."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, Field

from ...agent import AgentMemory
from ...core.dismissed import Dismissed
from ...core.entry import MemoryEntry, Tier
from ...core.settings import AgentSettings
from ...errors import EntryNotFound, shown
from ...llm.usage import Spent, total
from ...operations.day import PlanNow
from ...operations.duplicates.suspicions import RELATED, THRESHOLD, Look
from ...operations.importing.taking_in import Preview
from ...operations.provenance import Lineage
from ...operations.undo import Clash
from ...store.journal.history import Applied, HistoryKinds
from ...store.journal.horizon import HistoryKept
from ...store.journal.trash import Forgotten
from ...store.staleness import Stale
from .. import cursors
from ..forms import (
    Id,
    MaterialBody,
    Says,
    View,
)
from ..serialize import Json, Shape, items, pages, stats
from .read import Containing, Form, Moment, Number, OfMemory, Read, Some, Text, before, newest, page


class Then(Moment):
    """A moment of the past."""

    def view(self, agent: AgentMemory) -> View:
        """The agent as it was."""
        return agent.as_of(at=self.at, revision=self.revision, access=self.access, world_time=self.world_time)


class Memories(Some, Moment):
    """A tier."""

    tier: Annotated[Tier, Says("The tier.")]


class OneMemory(Moment):
    """A memory, now or then."""

    entry_id: Annotated[Id, Says("The memory's id.")]


class OfLineage(OfMemory):
    """A memory, and how far to look."""

    depth: Annotated[int, Says("How many steps each way, 1 to 20.")] = 4


class OfSimilar(OfMemory):
    """A memory, and how many others."""

    top_k: Annotated[Annotated[int, Field(ge=1, le=100)], Says("How many at most.")] = 5


class OfSuspicions(Form):
    """How alike duplicates are, and whether a language model is asked about contradictions."""

    threshold: Annotated[
        Annotated[float, Field(ge=RELATED, le=1)], Says("The cosine above which memories may be duplicates.")
    ] = THRESHOLD
    ask_model: Annotated[bool, Says("Have the language model look for contradictions, too.")] = False
    limit: Annotated[Annotated[int, Field(ge=1, le=1000)], Says("How many at most.")] = 200


class OfHistory(Containing):
    """Which changes."""

    author: Annotated[Text, Says("Exactly this author.")] = ""
    operation: Annotated[Text, Says("Exactly this operation, such as migrate.")] = ""
    memory: Annotated[Text, Says("Only what changed this memory.")] = ""
    since: Annotated[AwareDatetime | None, Says("Applied at this real time or later.")] = None
    until: Annotated[AwareDatetime | None, Says("Applied before this real time.")] = None
    before: Annotated[Number | None, Says("Only those older than this revision.")] = None


class OfHorizon(Form):
    """How much history; that of the settings where it is not said."""

    changes: Annotated[Number | None, Says("For a history of so many changes; 0 = all.")] = None
    days: Annotated[Number | None, Says("For a history of so many days of real time; 0 = for ever.")] = None


class OfDay(Form):
    """A day, and how far it is."""

    at: Annotated[AwareDatetime | None, Says("The world's time, with its zone; its clock if not given.")] = None


class OfRevision(Form):
    """A change."""

    revision: Annotated[int, Says("Which change, by its revision.")]


ENTRIES = pages(
    "Entries", "A page of memories, by id; ``next`` is the cursor of the next page, ``null`` at the end.", MemoryEntry
)


STATS = Shape(
    "Stats",
    "Counts, settings and what is in use.",
    {
        **dict.fromkeys(("agent", "display_name"), str),
        **dict.fromkeys(("static", "stm", "stm_size", "ltm", "unrated"), int),
        **dict.fromkeys(("reflection_weight", "reflection_trigger"), float),
        "revision": int,
        "model": str,
        "embedder": str,
        "now": datetime,
        "read_only": str | None,
        "messages": list[str],
    },
)


_PERSONALITY = Shape(
    "PersonalityTold",
    "The static memory's JSON text, and what is wrong with the file on disk, if anything.",
    {"text": str | None, "problem": str | None},
)


_SIMILAR = Shape("SimilarTold", "A memory, and its cosine.", {"entry": MemoryEntry, "cosine": float})


_SPENT = items(
    "SpentTold",
    "What an agent's calls took by model and task, in all, and its budget; 0 = no limit.",
    Spent,
    total=Spent,
    token_budget=int,
    cost_budget=float,
)


_VECTORS = Shape(
    "Vectors",
    "How many memories have no vector of the embedder in use; how many, of at most 200 that are read, are in each "
    "language, by its code; and why recall will be poor, if it will be for that reason.",
    {"waiting": int, "embedder": str, "languages": dict[str, int], "warning": str},
)


def _vectors(agent: AgentMemory, _form: Form) -> Json:
    found = {"waiting": agent.waiting_for_vectors, "embedder": agent.embedder.identity}
    return found | {"languages": agent.contents.languages, "warning": agent.contents.poor_recall}


def one_memory(view: View, form: OneMemory) -> MemoryEntry:
    """A memory.

    Raises:
        EntryNotFound: there is no memory of this id.
    """
    found = view.find(form.entry_id)
    if found is None:
        raise EntryNotFound(f"There is no memory {shown(form.entry_id)}.")
    return found


def _forgotten(agent: AgentMemory, form: Containing) -> Json:
    of = f"forgotten of {agent.name}"
    start = cursors.number_before(of, form.cursor) or 0
    found, count = agent.forgotten(form.limit, form.contains, offset=start), agent.count_forgotten(form.contains)
    end = start + form.limit
    return {"items": found, "total": count, "next": cursors.cursor(of, end) if end < count else None}


def _history(agent: AgentMemory, form: OfHistory) -> Json:
    sought = {name: getattr(form, name) for name in ("contains", "author", "operation", "since", "until")}
    of = f"history of {agent.name}"
    found = agent.history(form.limit, before(of, form), entry_id=form.memory, **sought)
    return newest(of, found, [change.revision for change in found], form)


def _spent(agent: AgentMemory, _form: Form) -> Json:
    lines, settings = agent.spent, agent.settings
    budget = {"token_budget": settings.token_budget, "cost_budget": settings.cost_budget}
    return {"items": lines, "total": total(lines), **budget}


READS = (
    Read(
        "material",
        "What a file would become",
        "What would become of a file from another program, line by line, with what is left out and why; a dry run.",
        MaterialBody,
        lambda agent, form: agent.read_material(**form.arguments()),
        Preview,
        "material",
        "card.png",
        asks=True,
        slow=True,
        call="read_material",
    ),
    Read(
        "stats",
        "How an agent stands",
        "Counts, settings and what is in use.",
        Form,
        lambda agent, _form: stats(agent),
        STATS,
        "",
        tag="agents",
        call="get_stats",
    ),
    Read(
        "settings",
        "Settings",
        "The agent's own settings.",
        Form,
        lambda agent, _form: agent.settings,
        AgentSettings,
        "settings",
        tag="agents",
    ),
    Read(
        "personality",
        "Personality",
        "The static memory's JSON text in use, and what is wrong with the file on disk, if anything.",
        Form,
        lambda agent, _form: {"text": agent.personality_text, "problem": agent.personality_problem},
        _PERSONALITY,
        "personality",
        tag="agents",
    ),
    Read(
        "vectors",
        "Missing vectors",
        "How many memories have no vector of the embedder in use, and are not found by meaning.",
        Form,
        _vectors,
        _VECTORS,
        "vectors",
        tag="keeping",
        call="waiting_for_vectors",
    ),
    Read(
        "spent",
        "Tokens and cost",
        "What the agent's calls of language models used, by model and task, and its budget.",
        Form,
        _spent,
        _SPENT,
        "spent",
        tag="rate and plan",
        command="spent",
    ),
    Read(
        "memories",
        "Memories of a tier",
        "The memories of a tier, by id; as they were, with ``revision`` or ``at``.",
        Memories,
        lambda view, form: page(f"{form.tier} memories of {view.name}", view.entries(form.tier), form),
        ENTRIES,
        "memories",
        "stm --limit 20",
        tag="memories",
        call="entries",
    ),
    Read(
        "memory",
        "One memory",
        "A memory.",
        OneMemory,
        one_memory,
        MemoryEntry,
        "memories/{entry_id:path}",
        "mira-0327-13",
        tag="memories",
        call="find",
    ),
    Read(
        "forgotten",
        "Forgotten memories",
        "The agent's bin: memories that are gone and can be restored, the last forgotten first.",
        Containing,
        _forgotten,
        pages("Bin", "A page of the bin, the last forgotten first.", Forgotten, total=int),
        "forgotten",
        "--contains key",
        tag="memories",
    ),
    Read(
        "plan-now",
        "The plan now",
        "What is being done, what is next, and what was missed of today's plan, or of the routine if there is no plan.",
        OfDay,
        lambda agent, form: agent.plan_now(form.at),
        PlanNow,
        "plan-now",
        "--at 2026-03-27T18:00:00+00:00",
        tag="rate and plan",
    ),
    Read(
        "lineage",
        "Lineage",
        "What a memory rests on, and what rests on it: at most ``depth`` (1 to 20) steps each way.",
        OfLineage,
        lambda agent, form: agent.lineage(form.memory, form.depth),
        Lineage,
        "lineage",
        "mira-0326-02 --depth 2",
    ),
    Read(
        "stale",
        "Stale memories",
        "The memories that rest on something edited or deleted since.",
        Form,
        lambda agent, _form: {"items": agent.stale()},
        items("StaleList", "All of them.", Stale),
        "stale",
    ),
    Read(
        "suspicions",
        "Duplicates and contradictions",
        "Memories that may be duplicates, or contradict each other.",
        OfSuspicions,
        lambda agent, form, progress: agent.suspicions(
            threshold=form.threshold, ask_model=form.ask_model, limit=form.limit, progress=progress
        ),
        Look,
        "suspicions",
        "--limit 20",
        told=True,
    ),
    Read(
        "dismissed",
        "Dismissed suspicions",
        "What a person has dismissed as neither a duplicate nor a contradiction.",
        Form,
        lambda agent, _form: {"items": agent.dismissed},
        items("DismissedList", "All of them.", Dismissed),
        "dismissed",
    ),
    Read(
        "similar",
        "Similar memories",
        "The memories of STM and LTM nearest in meaning to one, with their cosine, -1 to 1.",
        OfSimilar,
        lambda agent, form: {
            "items": [{"entry": entry, "cosine": cosine} for entry, cosine in agent.similar(form.memory, form.top_k)]
        },
        items("Similars", "The nearest first.", _SIMILAR),
        "similar",
        "mira-0327-13 --top-k 3",
    ),
    Read(
        "last-version",
        "A memory's last version",
        "A memory as it is, or as it last was before it was forgotten.",
        OfMemory,
        lambda agent, form: agent.last_version(form.memory),
        MemoryEntry,
        "last-version",
        "mira-0327-13",
    ),
    Read(
        "built-on",
        "What is built on a memory",
        "The reflections, summaries and plans in recall that rest on a memory, the oldest first.",
        OfMemory,
        lambda agent, form: {"items": agent.built_on(form.memory), "next": None},
        ENTRIES,
        "built-on",
        "mira-0327-13",
    ),
    Read(
        "history",
        "History",
        "Applied change sets, the newest first; ``since`` and ``until`` are real times, ``before`` a revision.",
        OfHistory,
        _history,
        pages("History", "A page of the history, the newest first.", Applied),
        "history",
        tag="history",
        command="history",
    ),
    Read(
        "history-kinds",
        "What the history holds",
        "The authors and operations in the history: what it can be filtered by.",
        Form,
        lambda agent, _form: agent.history_kinds(),
        HistoryKinds,
        "history-kinds",
        tag="history",
    ),
    Read(
        "history-kept",
        "How far the history reaches back",
        "Since when, what it takes, and how many changes a shorter history would delete; changes nothing.",
        OfHorizon,
        lambda agent, form: agent.history_kept(form.changes, form.days),
        HistoryKept,
        "history-kept",
        tag="history",
    ),
    Read(
        "change",
        "One change set",
        "One change set.",
        OfRevision,
        lambda agent, form: agent.change(form.revision),
        Applied,
        "history/{revision}",
        "12",
        tag="history",
    ),
    Read(
        "conflicts",
        "What an undo would overwrite",
        "Where undoing a change set would overwrite later work; empty if it would not.",
        OfRevision,
        lambda agent, form: {"items": agent.conflicts(form.revision)},
        items("Clashes", "All of them.", Clash),
        "history/{revision}/conflicts",
        "12",
        tag="history",
    ),
    Read(
        "as-of",
        "An agent as it was",
        "The agent as it was at a real time, right after a revision, or at a time of its world.",
        Then,
        lambda view, _form: stats(view),
        STATS,
        "as-of",
        tag="history",
        command="as-of",
    ),
)
