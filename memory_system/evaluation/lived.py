"""Lived: a data set told to an agent as it happened, and queried at the end through the public interface.

An agent with a personality of 40 facts is told the memories in order, session by session: as plain events, or
each session as a conversation. After each session its overflow migrates with the defaults. The questions are asked
with ``query_memory`` and the defaults. So migration, static memory, both tiers and the rule for the seats all affect
the results, as in real use. The world is in a temporary folder.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agent import AgentMemory
from ..core.change_set import counted, so_many
from ..core.entry import MemoryEntry
from ..core.scoring import Seats
from ..core.settings import Settings
from ..embedding.embedder import Embedder
from ..recall.hybrid.speakers import speaker_of
from ..recall.query import Facets
from ..world.world import TOKENS, World
from .data import UNRATED, DataSet, Form, Question
from .metrics import Estimate, Floats, estimates, recall_at, shown
from .personality import personality
from .trial import COSINE, SCORINGS, TIME_WEIGHTED, Say, run

UNBOUNDED = 100_000
"""STM of this size never overflows, so that nothing is forgotten."""
FACTS = 40
SIZES = ((20, FACTS), (50, FACTS), (20, 10), (20, 0), (UNBOUNDED, FACTS))
"""How many entries STM holds, and how many facts the personality has, in the reported lives."""
BESIDE = {
    "balanced": "one ranking, not lived",
    COSINE: "plain similarity, as Chroma's",
    TIME_WEIGHTED: "LangChain's time-weighted",
}
"""What is reported in addition, for the same texts in one memory, each once."""
BY_SIMILARITY = replace(SCORINGS[COSINE], seats=Seats.RANKING)
"""A second way of querying a life in which the same is told again, so that its twins take seats as well."""
NAMES = ("evidence kept", "found of kept", "recall@5", "recall@10")
"""The measures of each question, in this order; the share of the evidence, 0 to 1."""


class Way(StrEnum):
    """How an agent is told what happens."""

    EVENTS = "plain events"
    TALKS = "conversations"


@dataclass(frozen=True)
class Life:
    """One way of living through a data set.

    Args:
        way: how the agent is told.
        stm_size: entries that STM holds.
        settings: the agent's settings that differ from the defaults.
        facts: how many facts the personality has, 0 to 40.
    """

    way: Way
    stm_size: int
    settings: Mapping[str, Any]
    facts: int = FACTS


@dataclass(frozen=True)
class Lived:
    """The outcome of a life.

    Args:
        data: what was lived through.
        life: how.
        memories: how many of the memories still existed when the last question was asked.
        values: shape (n, 4), one row per question, in the order of ``NAMES``; NaN where a measure does not apply.
    """

    data: DataSet
    life: Life
    memories: int
    values: Floats


@dataclass(frozen=True)
class Line:
    """One line of the report.

    Args:
        data: the data set's name.
        told: how the agent was told, or that nothing was lived.
        stm: entries that STM holds, in words.
        facts: of the personality, in words.
        count: questions that have a right answer.
        figures: an estimate for each of ``NAMES``; NaN if one does not apply.
    """

    data: str
    told: str
    stm: str
    facts: str
    count: int
    figures: tuple[Estimate, ...]


def table(sets: Sequence[DataSet], embedder: Embedder, say: Say, tokens: Path | None = None) -> list[Line]:
    """Live through data sets in every way, and rank the same texts without living, each data set and all together.

    Args:
        sets: what happens.
        embedder: texts to vectors.
        say: called with lines of progress.
        tokens: see ``lived``.

    Raises:
        EmbedderError: texts could not be embedded.
    """
    found: dict[tuple[str, str, str], list[tuple[str, Floats]]] = {}
    for data in sets:
        for way in ways_of(data):
            for size, facts in SIZES:
                values = lived(data, Life(way, size, {}, facts), embedder, say, tokens).values
                stm = "nothing forgotten" if size == UNBOUNDED else str(size)
                found.setdefault((way, stm, str(facts)), []).append((data.name, values))
        if len({entry.id for entry in data.entries}) < len(data.entries):
            settings = {"scoring": BY_SIMILARITY, "threshold": 0.0, "static_threshold": 0.0}
            size, facts = SIZES[0]
            values = lived(data, Life(Way.EVENTS, size, settings, facts), embedder, say, tokens).values
            found.setdefault((f"{Way.EVENTS}, by similarity", str(size), str(facts)), []).append((data.name, values))
        ranked = run(data, tuple(BESIDE), embedder, say).values
        for preset, name in BESIDE.items():
            values = np.full((len(data.questions), len(NAMES)), np.nan)
            values[:, 2:] = ranked[preset][:, :2]
            found.setdefault((name, "–", "–"), []).append((data.name, values))
    replayed = {data.name: np.array([question.category for question in data.questions]) for data in sets if data.lived}

    def asked_in(name: str) -> list[tuple[str, NDArray[np.bool_]]]:
        """The categories of a data set that is queried as it happens, and their rows."""
        categories = replayed.get(name, np.zeros(0, str))
        return [(kind, categories == kind) for kind in sorted(set(categories.tolist())) if kind]

    lines = []
    for (way_name, stm_size, known), some in found.items():
        together = [("all", np.concatenate([values for _, values in some]))] if len(some) > 1 else []
        kinds = [(f"{name}: {kind}", values[rows]) for name, values in some for kind, rows in asked_in(name)]
        for name, values in (*together, *some, *kinds):
            count = int((~np.isnan(values[:, 2])).sum())
            lines.append(Line(name, way_name, stm_size, known, count, tuple(estimates(values))))
    return lines


def as_markdown(lines: Sequence[Line]) -> str:
    """A table in per cent with its intervals."""
    head = ["data", "told as", "STM", "facts", "n", *NAMES]
    rows = [
        [line.data, line.told, line.stm, line.facts, f"{line.count:,}", *(shown(figure) for figure in line.figures)]
        for line in lines
    ]
    rule = ["---"] * 4 + ["---:"] * (len(head) - 4)
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))


def as_json(lines: Sequence[Line]) -> str:
    """The figures unrounded, 0 to 1, ``null`` where there is none."""
    rows = [
        {
            "data": line.data,
            "told_as": line.told,
            "stm": line.stm,
            "facts": line.facts,
            "n": line.count,
            "measures": {
                name: None
                if math.isnan(estimate.value)
                else {"value": estimate.value, "low": estimate.low, "high": estimate.high}
                for name, estimate in zip(NAMES, line.figures, strict=True)
            },
        }
        for line in lines
    ]
    return json.dumps({"lived": rows}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def ways_of(data: DataSet) -> tuple[Way, ...]:
    """The ways in which a data set can be told: a conversation needs speakers."""
    return (Way.EVENTS, Way.TALKS) if data.form is Form.LOCOMO else (Way.EVENTS,)


def lived(data: DataSet, life: Life, embedder: Embedder, say: Say, tokens: Path | None = None) -> Lived:
    """Live through a data set and ask its questions.

    Args:
        data: what happens.
        life: how it is told.
        embedder: texts to vectors.
        say: called with lines of progress.
        tokens: a file of token states to use and extend, so that a second run need not compute them.

    Raises:
        EmbedderError: texts could not be embedded.
    """
    with tempfile.TemporaryDirectory(prefix="lived-") as scratch:
        folder = Path(scratch)
        settings = Settings(
            database=folder / "database", personalities=folder / "personalities", world="lived", llm="offline"
        )
        beside = folder / "database" / "lived" / TOKENS
        if tokens is not None and tokens.is_file():
            beside.parent.mkdir(parents=True)
            shutil.copyfile(tokens, beside)
        with World(settings, embedder=embedder) as world:
            found = _Living(data, life, world, say).ask()
        if tokens is not None and beside.is_file():
            tokens.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(beside, tokens)
        return found


class _Living:
    """One agent and its progress."""

    def __init__(self, data: DataSet, life: Life, world: World, say: Say) -> None:
        self._data = data
        self._life = life
        self._say = say
        name = next((who for entry in data.entries if (who := speaker_of(entry.document)[0])), "Robin Hale")
        self._agent: AgentMemory = world.create_agent("lived", personality(name, life.facts))
        self._agent.configure(stm_size=life.stm_size, **life.settings)
        self._told_count = 0
        self._told_as: dict[str, list[str]] = {}
        """The ids under which each memory was told; several if the same is told again."""

    def ask(self) -> Lived:
        """Live, and ask every question at its time."""
        questions = self._data.questions
        values = np.full((len(questions), len(NAMES)), np.nan)
        rows = list(range(len(questions)))
        if self._data.lived:
            rows.sort(key=lambda row: questions[row].now)
        for done, row in enumerate(rows):
            self._live(questions[row] if self._data.lived else None)
            if done % 50 == 0:
                self._tell(f"asked {done:,} of {counted(len(rows), 'question')}")
            if questions[row].right:
                values[row] = self._asked(questions[row])
        return Lived(self._data, self._life, len(self._survivors(self._told_as)), values)

    def _live(self, until: Question | None) -> None:
        """Live through what happens before a question, or everything."""
        end = self._told_count
        entries = self._data.entries
        while end < len(entries) and (until is None or _before(entries[end], until.now)):
            end += 1
        for session in _sessions(entries[self._told_count : end]):
            self._tell(f"told {self._told_count:,} of {so_many(len(entries))}")
            now = max((entry.timestamp for entry in session if entry.timestamp is not None), default=None)
            self._tell_agent(session, now)
            self._agent.migrate_stm2ltm(now=now)
            self._told_count += len(session)

    def _tell_agent(self, session: Sequence[MemoryEntry], now: datetime | None) -> None:
        if self._life.way is Way.EVENTS:
            self._agent.add_short_term([self._event(entry) for entry in session], now=now)
            return
        turns = []
        for entry in session:
            name, said = speaker_of(entry.document)
            turns.append({"speaker": name, "text": said, "timestamp": entry.timestamp})
        done = self._agent.remember_conversation(turns, now=now)
        added = [change.after for change in done.changes if change.after is not None and "turn" in change.after.extras]
        ids = {change.extras["turn"]: change.id for change in added}
        self._told_as |= {entry.id: [ids[place]] for place, entry in enumerate(session)}

    def _event(self, entry: MemoryEntry) -> dict[str, Any]:
        again = self._told_as.setdefault(entry.id, [])
        again.append(f"{entry.id} {len(again) + 1}" if again else entry.id)
        event: dict[str, Any] = {"id": again[-1], "document": entry.document}
        if entry.timestamp is not None:
            event["timestamp"] = entry.timestamp
        if entry.rating is not None and entry.rating != UNRATED:
            event["rating"] = entry.rating
        return event

    def _asked(self, question: Question) -> tuple[float, ...]:
        right = {entry_id for entry_id in question.right if entry_id in self._told_as}
        kept = self._survivors(right)
        itself = self._told_as.get(question.itself or "", [])
        facets = Facets(without=tuple(itself)) if itself else None
        meant = {memory_id: entry_id for entry_id in right for memory_id in self._told_as[entry_id]}
        five, ten = (
            [
                meant.get(hit.entry.id, hit.entry.id)
                for hit in self._agent.query_memory(
                    question.cue, top_k, now=question.now, facets=facets, touch=False
                ).hits
            ]
            for top_k in (5, 10)
        )
        return (
            len(kept) / len(question.right),
            recall_at(10, ten, kept),
            recall_at(5, five, right),
            recall_at(10, ten, right),
        )

    def _survivors(self, ids: Iterable[str]) -> set[str]:
        """Those of the memories that still exist."""
        return {
            entry_id
            for entry_id in ids
            if any(self._agent.find(memory_id) is not None for memory_id in self._told_as[entry_id])
        }

    def _tell(self, doing: str) -> None:
        self._say(f"{self._data.name}, {self._life.way}, STM {self._life.stm_size}: {doing}")


def _before(entry: MemoryEntry, moment: datetime) -> bool:
    return entry.timestamp is None or entry.timestamp < moment


def _sessions(entries: Sequence[MemoryEntry]) -> Iterator[list[MemoryEntry]]:
    """What happens between two migrations: a session of a conversation, or a day."""

    def session(entry: MemoryEntry) -> str:
        day = "" if entry.timestamp is None else entry.timestamp.date().isoformat()
        return str(entry.extras.get("conversation") or day)

    for _, some in groupby(entries, session):
        yield list(some)
