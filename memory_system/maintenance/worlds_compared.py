"""Comparing two worlds: agents that are only in one of them, and the differences of those in both.

It reads their journals, so that nothing of either is opened, touched or made.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..core import personality
from ..core.change_set import PERSON, dump_entry
from ..core.entry import DECAYING, MemoryEntry, Tier
from ..core.known import WORLD_AGENT
from ..operations.context import bare
from ..store.clock import read_about, world_clock
from ..store.journal.journal import Journal
from ..store.journal.moving import Journals
from ..world.branches.texts import differing
from ..world.swap import Spot

_MIND = "personality"


@dataclass(frozen=True)
class MemoryDiffers:
    """A memory that is not the same in both worlds; ``None`` where it does not exist."""

    entry_id: str
    left: MemoryEntry | None
    right: MemoryEntry | None


@dataclass(frozen=True)
class TextDiffers:
    """A text that is not the same: the personality, the settings, the saved cues, a record of a person, ...

    Args:
        name: its name.
        lines: the differences: what each is about, and in words what it is on the left and on the right.
    """

    name: str
    lines: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class CharacterDiffers:
    """The differences of an agent that is in both worlds.

    Args:
        name: the agent's; ``world.knowledge`` for what the worlds know.
        left_changes: changes on the left since both had the same history; all of them if they never had.
        right_changes: the same on the right.
        common: the revision up to which both have the same history, 0 if they never had.
        memories: those that differ, by id.
        texts: those that differ, by name.
    """

    name: str
    left_changes: int
    right_changes: int
    common: int
    memories: tuple[MemoryDiffers, ...]
    texts: tuple[TextDiffers, ...]

    @property
    def only_left(self) -> tuple[MemoryEntry, ...]:
        """Memories that are on the left only."""
        return tuple(memory.left for memory in self.memories if memory.left is not None and memory.right is None)

    @property
    def only_right(self) -> tuple[MemoryEntry, ...]:
        """Memories that are on the right only."""
        return tuple(memory.right for memory in self.memories if memory.right is not None and memory.left is None)

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.memories or self.texts)


@dataclass(frozen=True)
class WorldsCompared:
    """Two worlds, compared.

    Args:
        left: the name of the one.
        right: the name of the other.
        only_left: agents that are only in the one, by name.
        only_right: agents that are only in the other.
        characters: those that are in both and differ, by name.
        same: those that are in both and do not differ.
        told: differences of the worlds themselves (title, time ...): what, on the left, and on the right.
    """

    left: str
    right: str
    only_left: tuple[str, ...]
    only_right: tuple[str, ...]
    characters: tuple[CharacterDiffers, ...]
    same: tuple[str, ...]
    told: tuple[tuple[str, str, str], ...]

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.only_left or self.only_right or self.characters or self.told)


def compared(left: Spot, right: Spot, names: tuple[list[str], list[str]], journals: Journals) -> WorldsCompared:
    """Compare two worlds.

    Args:
        left: where the one is.
        right: where the other is.
        names: the agents of the one and of the other.
        journals: where journals are.

    Raises:
        StoreError: a journal cannot be read.
        InvalidPersonality: a personality file cannot be read.
    """
    ours, theirs = (set(some) for some in names)
    both = [_character(left, right, name, journals) for name in sorted(ours & theirs)]
    return WorldsCompared(
        left.folder.name,
        right.folder.name,
        tuple(sorted(ours - theirs)),
        tuple(sorted(theirs - ours)),
        tuple(character for character in both if character),
        tuple(character.name for character in both if not character),
        tuple(_world_differences(left.folder, right.folder)),
    )


def _world_differences(left: Path, right: Path) -> list[tuple[str, str, str]]:
    about = [read_about(folder) for folder in (left, right)]
    clocks = [world_clock(folder)().isoformat(timespec="minutes") for folder in (left, right)]
    lines = [(what, *(getattr(side, what) for side in about)) for what in ("title", "about", "first")]
    return [(what, text, other) for what, text, other in [*lines, ("time", *clocks)] if text != other]


def _character(left: Spot, right: Spot, name: str, journals: Journals) -> CharacterDiffers:
    with (
        journals.of(left.folder / name).looked_at() as mine,
        journals.of(right.folder / name).looked_at() as theirs,
    ):
        common = _common(mine, theirs)
        changes = [0 if journal is None else journal.revision - common for journal in (mine, theirs)]
        memories = _memories([_entries(journal, name) for journal in (mine, theirs)]) if any(changes) else ()
        texts = _texts([(left, mine), (right, theirs)], name)
    return CharacterDiffers(name, changes[0], changes[1], common, memories, texts)


def _common(left: Journal | None, right: Journal | None) -> int:
    """The newest revision up to which two journals are the same."""
    if left is None or right is None:
        return 0
    low, high = 0, min(left.revision, right.revision)
    while low < high:
        middle = (low + high + 1) // 2
        same = left.change_set_at(middle)
        if same and same == right.change_set_at(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _entries(journal: Journal | None, name: str) -> dict[str, MemoryEntry]:
    tiers = Tier if name == WORLD_AGENT else DECAYING  # facts are shown with the personality
    return (
        {} if journal is None else {key: entry for tier in tiers for key, (entry, _) in journal.entries(tier).items()}
    )


def _memories(sides: list[dict[str, MemoryEntry]]) -> tuple[MemoryDiffers, ...]:
    mine, theirs = sides
    found = []
    for entry_id in sorted({*mine, *theirs}):
        entry, other = mine.get(entry_id), theirs.get(entry_id)
        if entry is None or other is None or dump_entry(bare(entry)) != dump_entry(bare(other)):
            found.append(MemoryDiffers(entry_id, entry, other))
    return tuple(found)


def _texts(sides: list[tuple[Spot, Journal | None]], name: str) -> tuple[TextDiffers, ...]:
    mine, theirs = (_texts_of(spot, journal, name) for spot, journal in sides)
    found = []
    for key in sorted({*mine, *theirs}):
        before, after = mine.get(key), theirs.get(key)
        if before != after and (lines := tuple(differing(key, before, after))):
            found.append(TextDiffers(key, lines))
    return tuple(found)


def _texts_of(spot: Spot, journal: Journal | None, name: str) -> dict[str, str | None]:
    texts = {} if journal is None else journal.texts()
    own_texts = {key: text for key, text in texts.items() if ":" not in key or key.startswith(PERSON)}
    text = personality.read(spot.agent(name).personality)
    return own_texts if text is None else {**own_texts, _MIND: text}
