"""The note of how an agent was last closed, from which opening quickly sees whether anything can be wrong.

While nobody has the agent open it is in ``closed.json``; opening renames it, so that a process that was killed leaves
none. Even then it shows which of Chroma's index files have not been written since, and so cannot be half written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from ..core.change_set import ChangeSet
from ..core.files import replace_text
from .chroma.files import Stamp, altered, stamp

_CLOSED, _OPENED = "closed.json", "opened.json"


@dataclass(frozen=True)
class Note:
    """How an agent was closed.

    Args:
        revision: the journal's.
        counts: how many entries the store of each tier held.
        embedder: the identity of what made the vectors in the tables.
        files: size and time of the journal's and the store's files.
        clean: whether nobody has opened the agent since.
        store: the address of the server that held the store; empty if its files are the agent's own.
        ours: whether the store ranked by our distance, in every tier; missing in notes of older versions.
        waiting: the revisions that the store lacked when the agent was put to sleep; ``counts`` includes them.
    """

    revision: int
    counts: Mapping[str, int]
    embedder: str
    files: Mapping[str, list[int]] = field(default_factory=dict)
    clean: bool = True
    store: str = ""
    ours: bool = False
    waiting: Sequence[int] = ()

    def altered(self, lying: Stamp) -> list[str]:
        """Which of an agent's ``files_of`` have changed; none after a copy that changed only their times."""
        return altered(self.files, lying)

    def as_left(self, lying: Stamp, store: str = "") -> bool:
        """Whether the agent was closed with this store, and its ``files_of`` are unchanged, including their times."""
        return self.clean and self.store == store and bool(self.files) and self.files == lying

    def later(self, revision: int, counts: Mapping[str, int], embedder: str, waiting: Iterable[int]) -> Note:
        """The note of an agent whose store was not checked since this one, and lacks these revisions."""
        return replace(self, revision=revision, counts=counts, embedder=embedder, waiting=sorted(waiting))


def tells(note: Note | None, pending: Iterable[ChangeSet]) -> bool:
    """Whether a note says that exactly these are waiting for the store."""
    return note is not None and {*note.waiting} == {change_set.revision for change_set in pending}


def files_of(folder: Path) -> Stamp:
    """The files of an agent that a note covers, with their sizes and times."""
    return stamp(*(folder / name for name in ("chroma", "journal.sqlite3", "journal.sqlite3-wal", "journal.json")))


def said_of(altered: Iterable[str]) -> list[str]:
    """The message about index files that something else changed: when Chroma writes them, its database changes too."""
    changed = [name for name in altered if name.startswith("chroma/")]
    if not changed or "chroma/chroma.sqlite3" in changed:
        return []
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return [f"{changed[0]}{more} was changed since the agent was closed; what it holds is right."]


def read(folder: Path) -> Note | None:
    """The last note in an agent's folder; ``None`` if there is none, or it cannot be read."""
    for name in (_CLOSED, _OPENED):
        try:
            body = json.loads((folder / name).read_text(encoding="utf-8"))
            note = Note(**{"embedder": "", "files": {}, **body, "clean": name == _CLOSED})
            return note if _is_one(note) else None
        except FileNotFoundError:
            continue
        except (OSError, ValueError, TypeError, RecursionError):
            return None
    return None


def _is_one(note: Note) -> bool:
    """Whether each field of what was read has the right type."""
    counts, files = note.counts, note.files
    return (
        isinstance(note.waiting, list | tuple)
        and all(isinstance(number, int) for number in note.waiting)
        and isinstance(counts, dict)
        and all(isinstance(count, int) for count in counts.values())
        and isinstance(files, dict)
        and all(isinstance(file, list) and [type(part) for part in file] == [int, int] for file in files.values())
    )


def opened(folder: Path) -> None:
    """Note that the agent is open."""
    with suppress(OSError):  # then the next opening checks more than it needs to, or less: it compares all files
        (folder / _CLOSED).replace(folder / _OPENED)


def forget(folder: Path) -> None:
    """Remove the note of a closed agent, so that the next opening compares every row and vector of its store."""
    with suppress(OSError):
        (folder / _CLOSED).unlink(missing_ok=True)


def write(folder: Path, note: Note) -> None:
    """Note that the agent is closed, with its files as they are now.

    Raises:
        OSError: it cannot be written; the next opening takes longer.
    """
    body = asdict(note) | {"files": files_of(folder)}
    del body["clean"]
    replace_text(folder / _CLOSED, json.dumps(body))
    (folder / _OPENED).unlink(missing_ok=True)
