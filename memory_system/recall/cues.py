"""Saved cues and judgments: what an agent must recall, and what people said about what it recalled.

A saved cue is a regression test: "must recall X", "must not recall Y". A judgment is a cue with the memories that
were called right or wrong answers to it. Both are kept in the agent's journal as JSON text.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.change_set import entry_to_json
from ..core.entry import MemoryEntry
from ..core.kinds import MAX_ID
from ..core.records import Records
from ..errors import InvalidParameter, kind_of, shown
from .query import checked_cue

MAX_CUES = 200
"""Saved cues of one agent."""
MAX_JUDGED = 2_000
"""Judged cues of one agent."""
MAX_NAME = 80
"""Characters of the name of a saved cue."""
MAX_IDS = 100
"""Memories that a saved cue must recall, and that it must not."""
MAX_BYTES = 2_000_000
"""Bytes of either list as text: every change of it is kept in the history, before and after."""


@dataclass(frozen=True)
class SavedCue:
    """A cue by name, with what it must and must not recall.

    Args:
        name: 1 to 80 printable characters; runs of spaces count as one. Unique within the agent, whatever the case.
        cue: the prompt for memory, 1 to 32,000 characters; spaces around it are removed.
        must: ids of the memories that have to be recalled, at most 100; repeats count once.
        must_not: ids of those that must not be, at most 100, none of them in ``must``.

    Raises:
        InvalidParameter: one is not as described.
    """

    name: str
    cue: str
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", _name(self.name))
        object.__setattr__(self, "cue", checked_cue(self.cue).strip())
        for field in ("must", "must_not"):
            ids = _ids(field, getattr(self, field))
            if len(ids) > MAX_IDS:
                raise InvalidParameter(f"'{field}' names {len(ids):,} memories; at most {MAX_IDS} are allowed.")
            object.__setattr__(self, field, ids)
        if both := [entry_id for entry_id in self.must if entry_id in self.must_not]:
            raise InvalidParameter(f"{shown(both[0])} is in both lists, “must recall” and “must not recall”.")


@dataclass(frozen=True)
class Judgment:
    """A cue, with the memories that were called right answers to it and those that were called wrong ones.

    Args:
        cue: the prompt for memory, 1 to 32,000 characters; spaces around it are removed.
        right: ids of the memories that answer it.
        wrong: ids of those that do not, none of them in ``right``.

    Raises:
        InvalidParameter: one is not as described, or no memory is judged.
    """

    cue: str
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "cue", checked_cue(self.cue).strip())
        for field in ("right", "wrong"):
            object.__setattr__(self, field, _ids(field, getattr(self, field)))
        if not self.right and not self.wrong:
            raise InvalidParameter("A judgment names at least one memory, right or wrong.")
        if both := set(self.right) & set(self.wrong):
            raise InvalidParameter(f"The memory {shown(min(both))} cannot be both right and wrong.")

    def verdict(self, entry_id: str) -> bool | None:
        """Whether a memory was called right; ``None`` if it was not judged."""
        return True if entry_id in self.right else False if entry_id in self.wrong else None


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidParameter(f"The name of a saved cue must be text, not {kind_of(value)}.")
    name = " ".join(unicodedata.normalize("NFC", value).split())
    if not name:
        raise InvalidParameter("The saved cue needs a name.")
    if len(name) > MAX_NAME:
        raise InvalidParameter(f"The name has {len(name):,} characters; at most {MAX_NAME} are allowed.")
    if not name.isprintable():
        raise InvalidParameter(f"The name {shown(name)} contains an invisible character.")
    return name


def _ids(field: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidParameter(f"'{field}' must be a list of the ids of memories, not {kind_of(value)}.")
    for entry_id in value:
        if not isinstance(entry_id, str) or not 0 < len(entry_id) <= MAX_ID or not entry_id.isprintable():
            raise InvalidParameter(f"'{field}' names {shown(entry_id)}, which is not the id of a memory.")
    return tuple(dict.fromkeys(value))


def name_key(name: object) -> str:
    """A key that is equal for two names of saved cues that count as the same: they may differ in case.

    Raises:
        InvalidParameter: it is not a valid name.
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _name(name)).casefold())


# -- as text -------------------------------------------------------------------------------------------

_CUES = Records(SavedCue, "saved cues", MAX_CUES, MAX_BYTES, lambda cue: name_key(cue.name))
_JUDGMENTS = Records(Judgment, "judgments", MAX_JUDGED, MAX_BYTES, lambda judgment: judgment.cue)


def parse_cues(text: str | None) -> tuple[SavedCue, ...]:
    """The saved cues of a text that ``dump_cues`` wrote; none for ``None``.

    Raises:
        InvalidDocument: everything that is wrong with it, by position in the list.
    """
    return _CUES.parse(text)


def dump_cues(cues: Sequence[SavedCue]) -> str:
    """One line of JSON.

    Raises:
        InvalidParameter: there are more than 200, two of one name, or the text is too long.
    """
    return _CUES.dump(cues)


def parse_judgments(text: str | None) -> tuple[Judgment, ...]:
    """The judgments of a text that ``dump_judgments`` wrote; none for ``None``.

    Raises:
        InvalidDocument: everything that is wrong with it, by position in the list.
    """
    return _JUDGMENTS.parse(text)


def dump_judgments(judgments: Sequence[Judgment]) -> str:
    """One line of JSON.

    Raises:
        InvalidParameter: there are more than 2,000, one cue is judged twice, or the text is too long.
    """
    return _JUDGMENTS.dump(judgments)


# -- changed -------------------------------------------------------------------------------------------


def with_cue(cues: Sequence[SavedCue], saved: SavedCue) -> tuple[SavedCue, ...]:
    """The cues with one added at the end, or in place of the one with the same name."""
    key = name_key(saved.name)
    if all(name_key(cue.name) != key for cue in cues):
        return (*cues, saved)
    return tuple(saved if name_key(cue.name) == key else cue for cue in cues)


def judgment_of(judgments: Iterable[Judgment], cue: str) -> Judgment | None:
    """The judgment on the answers to a cue; ``None`` if there is none."""
    text = cue.strip()
    return next((judgment for judgment in judgments if judgment.cue == text), None)


def with_verdict(judgments: Sequence[Judgment], cue: str, entry_id: str, verdict: bool | None) -> tuple[Judgment, ...]:
    """The judgments after a memory was called right (true) or wrong (false) for a cue, or no longer either (``None``).

    Raises:
        InvalidParameter: the cue or the id is invalid.
    """
    asked = checked_cue(cue).strip()
    judgment = judgment_of(judgments, asked)
    if (judgment.verdict(entry_id) if judgment else None) == verdict:
        return tuple(judgments)
    right = [other for other in judgment.right if other != entry_id] if judgment else []
    wrong = [other for other in judgment.wrong if other != entry_id] if judgment else []
    if verdict is not None:
        (right if verdict else wrong).append(entry_id)
    after = (Judgment(asked, tuple(right), tuple(wrong)),) if right or wrong else ()
    if judgment is None:
        return (*judgments, *after)
    place = list(judgments).index(judgment)
    return (*judgments[:place], *after, *judgments[place + 1 :])


# -- exported ------------------------------------------------------------------------------------------


def judgments_jsonl(judgments: Iterable[Judgment], entries: Iterable[MemoryEntry] | None = None) -> str:
    """The judgments as JSON lines ``{"cue", "right", "wrong"}``, as ``python -m memory_system evaluate`` reads them.

    Args:
        judgments: the judgments.
        entries: the memories, if they are to precede the judgments as lines, so that the file can be evaluated by
            itself. Ids that are not among them are then left out, as is a cue with no other ids.

    Returns:
        A line for each, every one with a line end; empty if there are none.
    """
    lines: list[dict[str, Any]] = []
    known: set[str] | None = None
    if entries is not None:
        memories = list(entries)
        known = {entry.id for entry in memories}
        lines += [_memory_line(entry) for entry in memories]
    lines += _cue_lines(judgments, known)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _memory_line(entry: MemoryEntry) -> dict[str, Any]:
    """A memory as ``MemoryEntry.from_dict`` accepts it, with the caller's own keys as metadata."""
    line = entry_to_json(entry)
    extras = line.pop("extras", None)
    return line | ({"metadata": extras} if extras else {})


def _cue_lines(judgments: Iterable[Judgment], known: set[str] | None) -> Iterator[dict[str, Any]]:
    for judgment in judgments:
        right = [entry_id for entry_id in judgment.right if known is None or entry_id in known]
        wrong = [entry_id for entry_id in judgment.wrong if known is None or entry_id in known]
        if right or wrong:
            yield {"cue": judgment.cue, "right": right, "wrong": wrong}
