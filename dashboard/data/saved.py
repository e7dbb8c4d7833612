"""Worlds as tables: the list of them, and the differences between two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pandas as pd

from memory_system.core import ago, real_clock
from memory_system.maintenance import Saved, WorldsCompared

from .tables import short, visible

COLUMNS = {
    "open": "Open here",
    "world": "World",
    "title": "Title",
    "characters": "Characters",
    "memories": "Memories",
    "changed": "Last changed",
    "branch": "Branch of",
    "size": "MB",
}
_MOST, _TEXT = 500, 200


def rows(worlds: Sequence[Saved]) -> pd.DataFrame:
    """The worlds, with the one that is open marked; without the columns of titles and branches if none has any."""
    now = real_clock()
    records = [
        {
            "open": "✓" if world.served else "",
            "world": visible(world.name),
            "title": visible(world.title),
            "characters": world.characters,
            "memories": world.memories,
            "changed": world.changed_at,
            "branch": visible(f"{world.branched.world}, {ago(world.branched.at, now)}") if world.branched else "",
            "size": round(world.size / 1e6, 1),
        }
        for world in worlds
    ]
    frame = pd.DataFrame(records, columns=list(COLUMNS))
    return frame.drop(columns=[column for column in ("title", "branch") if not frame[column].any()])


def differing(found: WorldsCompared, called: Callable[[str], str] = str) -> pd.DataFrame:
    """The differences between two worlds, with a memory or a line of a text in each row; at most 500.

    ``called`` returns what people call an agent.
    """
    return pd.DataFrame(list(_lines(found, called))[:_MOST], columns=["character", "what", "left", "right"])


def _lines(found: WorldsCompared, called: Callable[[str], str]) -> Iterable[tuple[str, ...]]:
    for what, left, right in found.told:
        yield "", visible(what), *_short(left, right)
    for character in found.characters:
        for memory in character.memories:
            left, right = (end.document if end else "" for end in (memory.left, memory.right))
            yield visible(called(character.name)), "memory", *_short(left, right)
        for text in character.texts:
            for what, left, right in text.lines:
                yield (
                    visible(called(character.name)),
                    visible(f"{text.name.partition(':')[0]}: {what}"),
                    *_short(left, right),
                )


def _short(*ends: str) -> list[str]:
    return [short(visible(end), _TEXT) for end in ends]
