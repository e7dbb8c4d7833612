"""The shapes of what is told of memories beside each other, of saved cues and branches, and of a world's keeping."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from ....agent_parts.shifts import Shift
from ....core.findings import Finding
from .shapes import AppliedTold, CandidateTold, Entry, LoggedTold, QueryTold, Recalled


class KinTold(BaseModel):
    """A memory's relative: ``level`` steps below it (evidence, negative) or above it."""

    entry: Entry
    level: int
    forgotten: bool
    stale: bool


class LineageTold(BaseModel):
    """What a memory rests on and what rests on it; a link is a pair of ids."""

    id: str
    kin: list[KinTold]
    links: list[list[str]]
    unknown: int
    more: int


class TraceTold(BaseModel):
    """A change to a memory, as the history tells it."""

    revision: int
    operation: str
    undoes: int | None
    title: str
    author: str
    at: datetime
    before: Entry | None
    after: Entry | None


class AlterationTold(BaseModel):
    """What a stale memory rests on, as it was then and as it is, and by what; no ``after`` = it was deleted."""

    before: Entry
    after: Entry | None
    last: TraceTold


class StaleTold(BaseModel):
    """A memory that rests on what has changed since a revision."""

    entry: Entry
    since: int
    alterations: list[AlterationTold]


class StaleList(BaseModel):
    """All of them."""

    items: list[StaleTold]


class SuspicionTold(BaseModel):
    """Memories that may be duplicates, or contradict each other, and why."""

    sort: str
    ids: list[str]
    entries: list[Entry]
    similarity: float
    reasons: list[str]
    doubts: list[str]


class Suspicions(BaseModel):
    """The suspicions, how many pairs were compared, and how many are left out because a person dismissed them."""

    items: list[SuspicionTold]
    compared: int
    dismissed: int
    notes: list[str]


class DismissedTold(BaseModel):
    """A suspicion that a person dismissed: the fingerprints of the two texts."""

    texts: list[str]


class DismissedList(BaseModel):
    """All of them."""

    items: list[DismissedTold]


class WayTold(BaseModel):
    """One change that would recall a memory, and the query with it; a smaller ``size`` is a smaller change.

    ``value`` is a number or a time, and ``null`` where it is the facets that change.
    """

    lever: str
    value: float | datetime | None
    query: QueryTold
    words: str
    size: float


class Ways(BaseModel):
    """The smallest first; none if it is recalled as it is, or if no single change is enough."""

    items: list[WayTold]


class ForecastTold(BaseModel):
    """When a memory falls out of an answer; ``null`` = not within the horizon."""

    id: str
    leaves: datetime | None
    because: str
    curve: list[tuple[datetime, float]]
    threshold: float


class Forecasts(BaseModel):
    """One for each memory that is recalled."""

    items: list[ForecastTold]


class CueTold(BaseModel):
    """A saved cue, and what became of it when it was asked now."""

    name: str
    cue: str
    must: list[str]
    must_not: list[str]
    passed: bool
    missing: list[str]
    unwanted: list[str]
    gone: list[str]
    recalled: list[str]


class Cues(BaseModel):
    """All saved cues."""

    items: list[CueTold]


class JudgmentTold(BaseModel):
    """A cue, with the memories that were called right and wrong answers to it."""

    cue: str
    right: list[str]
    wrong: list[str]


class Judgments(BaseModel):
    """All judgments."""

    items: list[JudgmentTold]


class DifferenceTold(BaseModel):
    """A memory that entered, left or moved between two answers, and why; places count from 1."""

    id: str
    document: str
    shift: Shift
    then: CandidateTold | None
    now: CandidateTold | None
    place_then: int | None
    place_now: int | None
    because: str


class RelivedTold(BaseModel):
    """A logged query as it was answered then, and as it would be answered now; why they differ, in sentences."""

    logged: LoggedTold
    then: Recalled
    now: Recalled
    doubts: list[str]
    parameters: list[str]
    differences: list[DifferenceTold]


class PrecisionTold(BaseModel):
    """What was judged of what a preset recalls; ``value`` is the share of the right, ``null`` if none was judged."""

    preset: str
    right: int
    wrong: int
    unjudged: int
    top_k: int
    value: float | None


class Precisions(BaseModel):
    """One for each preset."""

    items: list[PrecisionTold]


class SimilarTold(BaseModel):
    """A memory, and its cosine."""

    entry: Entry
    cosine: float


class Similars(BaseModel):
    """The nearest first."""

    items: list[SimilarTold]


class RehearsalTold(BaseModel):
    """An agent that was branched from another, to be played with."""

    name: str
    of: str
    revision: int
    begun_at: datetime
    world_time: datetime
    author: str
    purpose: str
    together: str


class Rehearsals(BaseModel):
    """The rehearsals of an agent, the last begun first."""

    items: list[RehearsalTold]


class FitTold(BaseModel):
    """A change of a rehearsal: whether the original has it, and what keeps it from taking it by itself, if anything."""

    there: bool
    problem: str
    applied: AppliedTold


class Fits(BaseModel):
    """The changes of a rehearsal since it was begun, the newest first."""

    items: list[FitTold]


class ApartTold(BaseModel):
    """A memory that a rehearsal has otherwise; ``clash``: the original changed it by itself too."""

    id: str
    base: Entry | None
    mine: Entry | None
    theirs: Entry | None
    clash: bool


class TextApartTold(BaseModel):
    """A text that a rehearsal has otherwise."""

    name: str
    base: str | None
    mine: str | None
    theirs: str | None
    kept: str | None
    clash: bool
    clashes: list[str]


class Comparison(BaseModel):
    """All that a rehearsal has otherwise than its original; ``moved_on`` changes were applied to that meanwhile."""

    rehearsal: RehearsalTold
    memories: list[ApartTold]
    texts: list[TextApartTold]
    moved_on: int


class Findings(BaseModel):
    """What was looked at, and whether nothing is wrong."""

    right: bool
    findings: list[Finding]


class BackedUpTold(BaseModel):
    """An agent in a backup: what people call it, its changes and memories, and what was wrong with it, if anything."""

    name: str
    shown: str
    revision: int
    memories: int
    problem: str


class BackupTold(BaseModel):
    """A backup in the server's backup folder, by its file's name; ``problem`` says why it cannot be read."""

    file: str
    size: int
    world: str | None
    made_at: datetime | None
    agents: list[BackedUpTold]
    deleted: int
    problem: str | None


class Backups(BaseModel):
    """The backups, the last made first."""

    items: list[BackupTold]


class RestoredTold(BaseModel):
    """The world that a backup was restored as, and what the doctor found in it."""

    world: str
    backup: BackupTold
    findings: list[Finding]


class Vectors(BaseModel):
    """How many memories have no vector of the embedder in use."""

    waiting: int
    embedder: str


class ReembeddedTold(BaseModel):
    """What came of making vectors anew: texts embedded, those that wait still, and whether the store was rewritten."""

    embedded: int
    waiting: int
    store_made_anew: bool
