"""What another program stores among an agent's memories: entries with its own name for them in their metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from ...agent import AgentMemory
from ...core.change_set import Change, ChangeSet
from ...core.entry import MemoryEntry, Tier
from ...core.kinds import Scalar
from ...operations.context import bare

Ends = tuple[MemoryEntry | None, MemoryEntry | None]
"""An entry before and after a change; ``None`` = it does not exist."""


class Notes:
    """The entries of one tier that have a key in their metadata, changed by one change set at a time.

    Args:
        agent: whose memories.
        author: the name under which the history shows the changes.
        key: the name of the metadata with the other program's name for an entry.
        tier: where they are.
    """

    def __init__(self, agent: AgentMemory, author: str, key: str, tier: Tier) -> None:
        self.agent = agent.acting_as(author)
        self.key, self.tier = key, tier

    def entries(self) -> dict[str, MemoryEntry]:
        """The entries by the other program's names; touches nothing."""
        return {
            str(entry.extras[self.key]): entry for entry in self.agent.entries(self.tier) if self.key in entry.extras
        }

    def named(self, entry: MemoryEntry, **metadata: Scalar) -> MemoryEntry:
        """An entry with other metadata."""
        return bare(entry).evolve(metadata={**entry.extras, **metadata})

    def alone(self) -> AbstractContextManager[None]:
        """Within the block nobody else changes the agent: what is read there still holds when it is changed."""
        return self.agent.contents.alone()

    def undo(self) -> ChangeSet | None:
        """Undo the author's last change that is not undone yet; ``None`` if there is none among the last hundred."""
        acts = self.agent.history(100, author=self.agent.author)
        last = next((act for act in acts if act.undone_by is None and act.change_set.undoes is None), None)
        return None if last is None else self.agent.undo(last.revision)

    def apply(self, operation: str, title: str, changes: Sequence[Ends]) -> None:
        """Carry out changes as one change set, which one undo takes back.

        Raises:
            StaleChange, Protected, StoreError: it cannot be done. Nothing was changed.
        """
        agent = self.agent
        as_changes = tuple(
            Change(None if entry is None else bare(entry), other, f"{title}.") for entry, other in changes
        )
        agent.apply(
            ChangeSet(operation, title, as_changes, agent.now, agent.revision, author=agent.author, agent=agent.name)
        )


def below(path: str, sizes: Mapping[str, int], levels: int = 2) -> dict[str, int]:
    """The size of a folder and of its content down to some levels, by path; names that begin with a dot are hidden.

    Args:
        path: the folder.
        sizes: the bytes of each file below it, by path.
        levels: how deep; a folder's name ends with a slash.
    """
    found = {path: 0}
    for name, size in sizes.items():
        parts = name.removeprefix(f"{path}/").split("/")
        if not any(part.startswith(".") for part in parts):
            found[path] += size
            for depth in range(1, min(len(parts), levels) + 1):
                shown = "/".join((path, *parts[:depth])) + ("/" if depth < len(parts) else "")
                found[shown] = found.get(shown, 0) + size
    return found
