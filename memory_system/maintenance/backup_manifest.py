"""What a backup says about itself: whose memories it contains, from when, and the checksum of every file."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Self

from ..core.entry import DECAYING
from ..core.names import checked_name
from ..core.times import time_given
from ..errors import InvalidAgentName, InvalidBackup, shown
from ..store import rehearsal

NAME = "manifest.json"
FORMAT = "memory-system-backup/1"
MOST_BYTES = 64 << 20
"""The name of the manifest itself."""
AGENTS, BIN, WORLD = "agents", "bin", "world"
"""The folders of a backup: one for each agent's files, those of deleted agents, and the world's own."""
_BINNED = re.compile(r"\d{8}T\d{12} (.+)", re.DOTALL)
_FILES_OF_OURS = frozenset({"lock", "closed.json", "opened.json"})
_MOST_PARTS = 12


@dataclass(frozen=True)
class BackedUp:
    """An agent in a backup.

    Args:
        name: its name.
        shown: what people call it.
        revision: how many changes its history has.
        memories: how many memories each tier has, by the tier's name.
        problem: what was wrong with it when the backup was made, in a sentence; empty if nothing was.
    """

    name: str
    shown: str = ""
    revision: int = 0
    memories: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""

    @property
    def lived(self) -> int:
        """How many memories it has; facts of the personality, messages and documents are not counted."""
        return sum(self.memories.get(tier.value, 0) for tier in DECAYING)


@dataclass(frozen=True)
class Kept:
    """A file in a backup: its size in bytes, and its SHA-256 in hexadecimal digits."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The contents of a backup.

    Args:
        world: the name of the world that it was made from.
        made_at: when (real time).
        title: the world's title.
        embedder: the identity of the embedder at that time.
        agents: the agents in it.
        deleted: how many deleted agents are in it.
        files: every file but the manifest, by its path in the backup.
    """

    world: str
    made_at: datetime
    title: str = ""
    embedder: str = ""
    agents: tuple[BackedUp, ...] = ()
    deleted: int = 0
    files: Mapping[str, Kept] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(kept.size for kept in self.files.values())

    @property
    def rehearsals(self) -> frozenset[str]:
        """The names of the rehearsals: a file of each names its original."""
        return frozenset(agent.name for agent in self.agents if f"{AGENTS}/{agent.name}/{rehearsal.FILE}" in self.files)

    def to_json(self) -> str:
        """The text that ``from_json`` reads."""
        fields = {"format": FORMAT, **asdict(self), "made_at": self.made_at.isoformat()}
        return json.dumps(fields, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """The content of a manifest, checked.

        Raises:
            InvalidBackup: it is not a manifest, or names files that do not belong in a backup.
        """
        try:
            fields: dict[str, Any] = json.loads(text)
            _refuse_other_form(fields.pop("format"))
            agents = tuple(_agent(agent) for agent in fields.pop("agents"))
            files = {_path(name): _kept(name, kept) for name, kept in fields.pop("files").items()}
            made_at = time_given("made_at", fields.pop("made_at"))
            texts = {name: str(fields.pop(name)) for name in ("title", "embedder")}
            found = cls(
                checked_name(fields.pop("world"), "world name"),
                made_at,
                agents=agents,
                files=files,
                deleted=_count(fields.pop("deleted")),
                **texts,
            )
        except InvalidBackup:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            ours = "it is not as this program writes it"
            why = f"{error!s:.100}".rstrip(".") if isinstance(error, ValueError) else ours
            raise InvalidBackup(f"Its list of contents cannot be read: {why}.") from error
        _refuse_twins(found)
        return found


def _refuse_other_form(form: object) -> None:
    if form != FORMAT:
        raise InvalidBackup(f"It is a backup of the form {form!s:.60}, which this program does not know.")


def _agent(fields: Mapping[str, Any]) -> BackedUp:
    memories = {str(tier): _count(count) for tier, count in fields["memories"].items()}
    name = checked_name(fields["name"])
    return BackedUp(name, str(fields["shown"]), _count(fields["revision"]), memories, str(fields["problem"]))


def _kept(name: str, fields: Mapping[str, Any]) -> Kept:
    kept = Kept(_count(fields["size"]), str(fields["sha256"]))
    if not re.fullmatch(r"[0-9a-f]{64}", kept.sha256):
        raise InvalidBackup(f"It has no checksum for {shown(name)}.")
    return kept


def _count(number: object) -> int:
    if type(number) is not int or not 0 <= number < 1 << 62:
        raise ValueError(f"{shown(number)} is not a count")
    return number


def _path(name: str) -> str:
    """A path, checked to stay inside the backup's folders.

    Raises:
        InvalidBackup: it leads elsewhere.
    """
    parts = name.split("/")
    plain = all(
        part not in ("", ".", "..") and part.isprintable() and not set(part) & set('\\:*?"<>|') for part in parts
    )
    short = len(parts) <= _MOST_PARTS and all(len(part.encode("utf-8", "replace")) <= 255 for part in parts)
    if not (plain and short and _belongs(parts)):
        raise InvalidBackup(f"It contains a file that no backup has: {shown(name)}.")
    return name


def _belongs(parts: list[str]) -> bool:
    if parts[0] == WORLD:
        return len(parts) == 2 and not parts[1].startswith(".")
    if parts[0] not in (AGENTS, BIN) or len(parts) < 3 or parts[2] in _FILES_OF_OURS:
        return False
    binned = _BINNED.fullmatch(parts[1])
    name = parts[1] if parts[0] == AGENTS else binned[1] if binned else ""
    try:
        return checked_name(name) == name
    except InvalidAgentName:
        return False


def _refuse_twins(found: Manifest) -> None:
    """Refuse two names that some disks treat as one, which would overwrite each other."""
    seen: set[str] = set()
    folders = {name.split("/")[1] for name in found.files if name.startswith(f"{AGENTS}/")}
    for name in (*found.files, *folders):
        folded = unicodedata.normalize("NFKC", name).casefold()
        if folded in seen:
            raise InvalidBackup(f"It contains {shown(name)} twice.")
        seen.add(folded)
    if len({agent.name for agent in found.agents}) != len(found.agents):
        raise InvalidBackup("It names an agent twice.")
    if {agent.name for agent in found.agents} != folders:
        raise InvalidBackup("The agents that it names are not those whose files it holds.")
