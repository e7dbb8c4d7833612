"""The sample world ready made: the journals that a replay of its stories leaves, packed beside the stories.

A replay takes most of a minute, nearly all of it to embed texts and write them change by change. What it leaves is the
same everywhere, so that it ships: everything else of an agent, its vector store included, is made from the journal when
the agent is first opened. A character whose story or personality is not the one that was packed is replayed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sqlite3
import tempfile
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from .chroma_files import TO_BE_MADE
from .errors import StoreDamaged
from .journal_home import JOURNAL

ARCHIVE = "replayed.zip"
"""Beside the stories it was made from."""
_MANIFEST = "made_from.json"
_DAY = (2026, 3, 27, 18, 0, 0)
"""The time of every file in the archive, so that two archives of the same journals are the same bytes."""


@dataclass(frozen=True)
class ReadyMade:
    """An archive of replayed journals.

    Args:
        path: the file.
        embedder: whose vectors are in the journals.
        made_from: for each agent, the digest of the story and personality it was replayed from.
    """

    path: Path
    embedder: str
    made_from: Mapping[str, str]

    @classmethod
    def beside(cls, samples: Path) -> ReadyMade | None:
        """The archive beside these stories; ``None`` if there is none, or this Python cannot unpack it.

        Raises:
            StoreDamaged: it cannot be read.
        """
        path = samples / ARCHIVE
        if not path.is_file() or importlib.util.find_spec("_lzma") is None:
            return None
        try:
            with zipfile.ZipFile(path) as archive:
                manifest = json.loads(archive.read(_MANIFEST))
            return cls(path, str(manifest["embedder"]), dict(manifest["agents"]))
        except Exception as error:  # zipfile and the decompressor raise types of their own for damaged bytes
            raise _damaged(path, error) from error

    def has(self, name: str, story: str, personality: str, embedder: str) -> bool:
        """Whether it holds what a replay of this story, by an agent of this personality and embedder, would leave."""
        return self.embedder == embedder and self.made_from.get(name) == digest(story, personality)

    def unpack(self, name: str, folder: Path, now: datetime) -> None:
        """Put an agent's journal into its new folder, as if it had been replayed by now, the real time.

        Raises:
            StoreDamaged: the archive is damaged.
            OSError: the folder cannot be written.
        """
        folder.mkdir(parents=True)
        try:
            with zipfile.ZipFile(self.path) as archive:
                (folder / JOURNAL).write_bytes(archive.read(f"{name}/{JOURNAL}"))
            with closing(sqlite3.connect(folder / JOURNAL)) as journal, journal:
                _make_own(journal, now)
            (folder / TO_BE_MADE).touch()
        except OSError:
            raise
        except Exception as error:  # zipfile, the decompressor and SQLite raise types of their own for damaged bytes
            raise _damaged(self.path, error) from error


def pack(world: Path, sources: Mapping[str, tuple[str, str]], embedder: str, target: Path) -> None:
    """Write the archive of a world that has just been replayed and closed.

    Args:
        world: its folder.
        sources: each agent's story and personality, as text.
        embedder: whose vectors the journals hold.
        target: the archive; one that is there is replaced.
    """
    manifest = {"embedder": embedder, "agents": {name: digest(*texts) for name, texts in sorted(sources.items())}}
    beside = target.with_name(f".{target.name}.part")
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(beside, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr(_info(_MANIFEST), json.dumps(manifest, indent=2) + "\n")
        for name in sorted(sources):
            copy = Path(scratch) / f"{name}.sqlite3"
            with closing(sqlite3.connect(world / name / JOURNAL)) as journal:
                journal.execute("VACUUM INTO ?", (str(copy),))
            with closing(sqlite3.connect(copy)) as journal:
                with journal:  # what differs from one replay to the next, and is given anew when it is unpacked
                    journal.execute("UPDATE change_sets SET id = revision, applied_at = ''")
                journal.execute("VACUUM")
            archive.writestr(_info(f"{name}/{JOURNAL}"), copy.read_bytes())
    beside.replace(target)


def digest(story: str, personality: str) -> str:
    """What tells one story and personality from all others."""
    told = hashlib.sha256()
    for text in (story, personality):
        told.update(hashlib.sha256(text.encode()).digest())
    return told.hexdigest()


def _make_own(journal: sqlite3.Connection, now: datetime) -> None:
    """Give the change sets ids of their own, by which a server tells two worlds apart, and times in their order."""
    revisions: Iterable[tuple[int]] = journal.execute("SELECT revision FROM change_sets ORDER BY revision DESC")
    rows = [
        (uuid.uuid4().hex, (now - timedelta(milliseconds=before)).isoformat(), revision)
        for before, (revision,) in enumerate(list(revisions))
    ]
    journal.executemany("UPDATE change_sets SET id = ?, applied_at = ? WHERE revision = ?", rows)


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _DAY)
    info.compress_type = zipfile.ZIP_LZMA
    info.external_attr = 0o100644 << 16
    return info


def _damaged(path: Path, error: Exception) -> StoreDamaged:
    return StoreDamaged(f"{path} is damaged ({error}). Get it again, or remove it to have the stories replayed.")
