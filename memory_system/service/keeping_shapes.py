"""The shapes of what is told of a world's keeping: what the doctor finds, backups, vectors."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from ..findings import Finding


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
