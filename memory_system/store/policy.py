"""Policy: whether an agent may be changed. It is checked when something is about to be written, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .. import errors
from .journal.as_of import Moment


@dataclass(frozen=True)
class Policy:
    """Allows everything, unless it has a reason not to.

    Args:
        why: the sentence that explains to people why nothing can be changed; ``None`` = it can.
    """

    error: ClassVar[type[errors.MemorySystemError]] = errors.ReadOnly
    why: str | None = None

    def refuse(self) -> None:
        """Do nothing if an agent may be changed.

        Raises:
            NotAllowed, ReadOnlyPast, ReadOnly: it may not; depending on the kind of policy.
        """
        if self.why is not None:
            raise self.error(self._sentence(self.why))

    def _sentence(self, why: str) -> str:
        return why


class Viewer(Policy):
    """Allows reading everything and changing nothing."""

    error = errors.NotAllowed


@dataclass(frozen=True)
class Past(Policy):
    """For an agent's past, which cannot be changed any more.

    Args:
        moment: which moment is shown.
    """

    error = errors.ReadOnlyPast
    moment: Moment | None = None


@dataclass(frozen=True)
class ReadOnly(Policy):
    """For an agent whose journal is damaged, shown from its store, or one on a read-only disk.

    Args:
        name: the agent's name.
        damaged: whether the journal is the reason, so that a new one can be begun.
    """

    name: str = ""
    damaged: bool = True

    def _sentence(self, why: str) -> str:
        return f"{self.name!r} can only be read. {why}"
