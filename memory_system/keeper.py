"""AgentKeeper: what keeps an agent's memory usable: whether it can be written, and vectors made anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import reembedding
from .consolidation.ground import Progress
from .errors import EntryNotFound, shown
from .memory import Vectors
from .reader import no_progress
from .reembedding import Reembedded
from .understudy import AgentUnderstudy


class AgentKeeper(AgentUnderstudy):
    """The part that looks after the store itself."""

    @property
    def read_only(self) -> str | None:
        """Why nothing can be changed, in a sentence: the journal is damaged. ``None`` where all is well."""
        return self._ledger.read_only

    @property
    def waiting_for_vectors(self) -> int:
        """How many memories have no vector of the embedder in use, and are not found by meaning."""
        with self._ledger.reading():
            return len(self._ledger.without_vector())

    def vector(self, entry_id: str) -> Vectors | None:
        """The vector, shape (d,), float32, of a memory; ``None`` if it has none of the embedder in use.

        Raises:
            EntryNotFound: there is no such memory.
        """
        with self._ledger.reading():
            entry = self._ledger.find(entry_id)
            if entry is None:
                raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
            vector = self._ledger.tables[entry.tier].vector(entry_id)
            return None if not vector.size or np.isnan(vector).any() else vector.copy()

    def reembed(self, *, progress: Progress = no_progress, cancelled: Callable[[], bool] = lambda: False) -> Reembedded:
        """Make the vectors of all memories that have none of the embedder in use, and the store of them anew.

        What was done stays done: stopped or killed, it goes on from there when it is called again. Memories can be
        recalled and changed meanwhile. The history tells it, as a change of no memory.

        Args:
            progress: told how far it is, 0 to 1, and what is being done.
            cancelled: asked between batches whether to stop.

        Raises:
            ReadOnly: the agent can only be read.
            EmbedderError: a text could not be embedded; those before it are done.
        """
        return reembedding.reembed(self._ledger, self.now, self.author, progress, cancelled, self._tell)
