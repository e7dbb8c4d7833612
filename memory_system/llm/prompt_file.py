"""A world's wordings of the prompts, in ``prompts.jsonl``: every version is a line, and a prompt's last one counts.

Lines are only ever added, so that no wording is lost, even if two people edit at once. Unreadable lines are
skipped: a broken file must not keep an event from being remembered.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..core.files import State, as_store_errors, read_at_most, state_of
from ..core.times import parse_time, real_clock
from ..errors import InvalidParameter, StoreError
from .prompts import SHIPPED, Prompts, checked, prompt, shipped

FILE = "prompts.jsonl"
_MOST_BYTES = 20_000_000
"""Some thousand wordings of the greatest length; more are refused."""


@dataclass(frozen=True)
class Wording:
    """One version of a prompt.

    Args:
        name: the prompt's.
        text: the wording; ``None`` = the one that ships.
        at: when it was saved, in real time.
        by: who saved it.
    """

    name: str
    text: str | None
    at: datetime
    by: str = ""

    @property
    def told(self) -> str:
        """The prompt's wording in this version."""
        return shipped(self.name) if self.text is None else self.text


@dataclass(frozen=True)
class _Read:
    """The contents of a file of one size and time: versions, prompts in use, and problems, in a sentence."""

    of: State
    wordings: tuple[Wording, ...] = ()
    prompts: Prompts = SHIPPED
    problem: str = ""


class PromptFile:
    """The prompts of one world. A change by another program is seen at the next call.

    Args:
        folder: the world's.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._contents = _Read((0, 0, 0))

    @property
    def prompts(self) -> Prompts:
        """The current prompts."""
        return self._read().prompts

    @property
    def problem(self) -> str:
        """What in the file cannot be read and is skipped, in a sentence; empty if nothing."""
        return self._read().problem

    def versions(self, name: str) -> tuple[Wording, ...]:
        """Every version of a prompt that was ever saved, the newest first."""
        return tuple(reversed([wording for wording in self._read().wordings if wording.name == name]))

    def save(self, name: str, text: str, *, by: str = "", now: datetime | None = None) -> Wording:
        """Change the wording of a prompt from the next call on; the earlier one stays among its versions.

        Args:
            name: the prompt's, see ``llm.prompts.PROMPTS``.
            text: 1 to 4,000 characters (2,000 for talks) that contain what has to be filled in, such as ``{count}``.
            by: who does it.
            now: the real time.

        Raises:
            InvalidParameter: there is no such prompt, or the text is invalid. Nothing was changed.
            StoreError: the world's folder cannot be written, or the file is full.
        """
        wording = checked(name, text)
        return self._add(Wording(name, None if wording == shipped(name) else wording, now or real_clock(), by))

    def restore(self, name: str, *, by: str = "", now: datetime | None = None) -> Wording:
        """Return a prompt to the wording that ships; its other wordings stay among its versions.

        Raises:
            InvalidParameter: there is no such prompt.
            StoreError: the world's folder cannot be written, or the file is full.
        """
        return self.save(name, shipped(name), by=by, now=now)

    def _add(self, wording: Wording) -> Wording:
        if wording.told == self.prompts.text(wording.name):
            return wording  # it is the current one already
        line = {"prompt": wording.name, "text": wording.text, "at": wording.at.isoformat(), "by": _writable(wording.by)}
        with as_store_errors(f"The file {self._path.name} of the prompts"):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            data = (json.dumps(line, ensure_ascii=False) + "\n").encode()
            with open(self._path, "ab+") as file:
                if file.tell() + len(data) > _MOST_BYTES:
                    raise StoreError(
                        f"{self._path} is full: move it elsewhere to start again with the shipped prompts."
                    )
                if file.tell():
                    file.seek(-1, 2)
                    data = data if file.read(1) == b"\n" else b"\n" + data  # after an incomplete line
                file.write(data)
        return wording

    def _read(self) -> _Read:
        try:
            of = state_of(self._path)
            if of != self._contents.of:
                self._contents = _contents_of(of, read_at_most(self._path, _MOST_BYTES))
        except FileNotFoundError:
            self._contents = _Read((0, 0, 0))
        except OSError as error:
            return _Read((0, 0, 0), problem=f"{self._path} cannot be read: {error.strerror or error}.")
        return self._contents


def _contents_of(of: State, data: bytes) -> _Read:
    found: list[Wording] = []
    broken = 0
    for line in data.splitlines():
        try:
            body = json.loads(line)
            name, text = prompt(body["prompt"]).name, body["text"]
            text = None if text is None else checked(name, text)
            found.append(Wording(name, text, parse_time(body["at"]), _writable(str(body.get("by", ""))[:200])))
        except (InvalidParameter, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            broken += 1
    problem = f"{broken} of the lines in {FILE} cannot be read or used, and are passed over." if broken else ""
    own = {wording.name: wording.text for wording in found}
    return _Read(of, tuple(found), Prompts({name: text for name, text in own.items() if text is not None}), problem)


def _writable(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair, which no page can show."""
    return text.encode(errors="replace").decode()
