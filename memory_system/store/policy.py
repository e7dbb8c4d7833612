"""Policy: whether an agent may be changed. It is asked where something is about to be written, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .. import errors
from .journal.as_of import Moment


@dataclass(frozen=True)
class Policy:
    """Lets everything be done, unless it has a reason against it.

    Args:
        why: the sentence that tells people why nothing can be changed; ``None`` = it can.
    """

    error: ClassVar[type[errors.MemorySystemError]] = errors.ReadOnly
    why: str | None = None

    def refuse(self) -> None:
        """Do nothing where an agent may be changed.

        Raises:
            NotAllowed, ReadOnlyPast, ReadOnly: it may not; by the kind of the policy.
        """
        if self.why is not None:
            raise self.error(self._sentence(self.why))

    def _sentence(self, why: str) -> str:
        return why


class Viewer(Policy):
    """Lets somebody look at everything and change nothing."""

    error = errors.NotAllowed


@dataclass(frozen=True)
class Past(Policy):
    """Shows an agent as it was: nothing of it can be changed any more.

    Args:
        moment: which moment is shown.
    """

    error = errors.ReadOnlyPast
    moment: Moment | None = None


@dataclass(frozen=True)
class ReadOnly(Policy):
    """Shows an agent whose journal is damaged, from what its store holds; or one that lies on a read-only disk.

    Args:
        name: the agent's name.
        damaged: whether it is for its journal, of which a new one can be begun.
    """

    name: str = ""
    damaged: bool = True

    def _sentence(self, why: str) -> str:
        return f"{self.name!r} can only be read. {why}"
