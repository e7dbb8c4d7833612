"""Rehearsals: which agent is a branch of which, since when and why, recorded in a file in the branch's folder."""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ..core.files import as_store_errors, read_at_most, replace_text
from ..core.names import MAX_NAME, checked_name
from ..core.times import parse_time
from ..errors import InvalidParameter, StoreDamaged, kind_of

FILE = "rehearsal.json"
MAX_PURPOSE = 80
MAX_AUTHOR = 1_000
_MAX_BYTES = 100_000
_MOST_BYTES = 200
_JOINERS = " _-'."


@dataclass(frozen=True)
class Rehearsal:
    """An agent that was branched from another, for trying things out.

    Args:
        name: the agent that rehearses.
        of: the agent that it was branched from.
        revision: the newest revision of both when it was begun, 0 or more; after that they diverged.
        begun_at: the real time at which it was begun.
        world_time: the world's time then.
        author: who began it.
        purpose: what is tried, in a few words, at most 80 characters; may be empty.
        together: an id shared by those begun at one go; empty if it was begun by itself.
    """

    name: str
    of: str
    revision: int
    begun_at: datetime
    world_time: datetime
    author: str = "script"
    purpose: str = ""
    together: str = ""

    def to_json(self) -> str:
        """One line of JSON for ``rehearsal.json``; the name is the folder's."""
        body = asdict(self) | {"begun_at": self.begun_at.isoformat(), "world_time": self.world_time.isoformat()}
        del body["name"]
        return json.dumps(body, ensure_ascii=False) + "\n"


def checked_purpose(purpose: object) -> str:
    """The purpose, on one line.

    Raises:
        InvalidParameter: it is not a text, is invisible, or is longer than 80 characters.
    """
    if not isinstance(purpose, str):
        raise InvalidParameter(f"What is tried must be text, not {kind_of(purpose)}.")
    line = " ".join(purpose.split())
    if len(line) > MAX_PURPOSE:
        raise InvalidParameter(f"What is tried has {len(line):,} characters; at most {MAX_PURPOSE} are allowed.")
    if not line.isprintable():
        raise InvalidParameter("What is tried contains an invisible character; leave it out.")
    return line


def read(folder: Path) -> Rehearsal | None:
    """The rehearsal recorded in an agent's folder; ``None`` if the agent is not one.

    Raises:
        StoreDamaged: the file cannot be read, or is invalid.
    """
    path = folder / FILE
    try:
        body = json.loads(read_at_most(path, _MAX_BYTES))
        return _checked(folder.name, body)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise StoreDamaged(
            f"{path} does not say of whom {folder.name!r} is a rehearsal: {error!s:.100}. Put it back, or delete it, "
            "and the agent is a character of its own."
        ) from error


def played(folder: Path) -> str:
    """The character that the agent of a folder plays: itself, or the one it rehearses."""
    with suppress(StoreDamaged):  # opening that agent reports it
        if (rehearsal := read(folder)) is not None:
            return rehearsal.of
    return folder.name


def _checked(name: str, body: Mapping[str, Any]) -> Rehearsal:
    revision = body["revision"]
    if not isinstance(revision, int) or isinstance(revision, bool) or not 0 <= revision < 2**62:
        raise ValueError("it has no valid revision")
    words = [body.get(key, "") for key in ("author", "purpose", "together")]
    if not all(isinstance(word, str) and len(word) <= MAX_AUTHOR for word in words):
        raise ValueError("its description is not all text")
    times = (parse_time(body["begun_at"]), parse_time(body["world_time"]))
    return Rehearsal(name, checked_name(body["of"]), revision, *times, *words)


def write(folder: Path, rehearsal: Rehearsal) -> None:
    """Record that an agent is a rehearsal.

    Raises:
        StoreError: the folder cannot be written.
    """
    with as_store_errors(f"The rehearsal {rehearsal.name!r}"):
        replace_text(folder / FILE, rehearsal.to_json())


def free_name(of: str, taken: set[str]) -> str:
    """A name for the next rehearsal of an agent: "mira rehearsal", "mira rehearsal 2", ...; "мира 2" in other scripts.

    Args:
        of: the agent's name.
        taken: the names that others have, casefolded.
    """
    latin = all(unicodedata.name(letter, "").startswith("LATIN") for letter in of if letter.isalpha())
    word = " rehearsal" if latin else ""  # a name has one script
    for number in itertools.count(1 if word else 2):
        ending = word + (f" {number}" if number > 1 else "")
        beginning = of[: MAX_NAME - len(ending)]
        while len(beginning.encode("utf-8")) > _MOST_BYTES - len(ending):
            beginning = beginning[:-1]
        name = f"{beginning.rstrip(_JOINERS)}{ending}"
        if name.casefold() not in taken:
            return checked_name(name)
    raise AssertionError("there is no last number")
