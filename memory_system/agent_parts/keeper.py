"""AgentKeeper: what keeps an agent's memory usable: whether it can be written, and vectors made anew.

AgentUnderstudy: what is asked of an agent that rehearses, and of the one that it was branched from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..core.change_set import Change, ChangeSet, ModelCall, TextChange
from ..core.memory import Vectors
from ..core.scoring import whole
from ..errors import EntryNotFound, shown
from ..operations import reembed as reembedding
from ..operations.context import Progress
from ..operations.reembed import Reembedded
from ..store.journal.as_of import Event
from ..store.journal.journal import Applied
from .historian import AgentHistorian
from .reader import no_progress

_AT_ONCE = 500
_MOST = 2**62
TAKE_OVER = "take over"
"""The operation under which the history tells what was kept from a rehearsal."""


class AgentUnderstudy(AgentHistorian):
    """The part by which two agents with a common past can be compared, and the one can take from the other."""

    @property
    def origin(self) -> str:
        """What only an agent and its copies have in common: the id of their first change set, if there is one."""
        with self._ledger.reading():
            return self._ledger.journal.change_set_at(1)

    def changes_since(self, revision: int) -> list[Applied]:
        """The change sets after a revision (0 = all), the newest first.

        Raises:
            InvalidParameter: it cannot be a revision.
        """
        whole("The revision", revision, 0, _MOST)
        self._refresh()
        found: list[Applied] = []
        while not found or found[-1].revision > revision + 1:
            some = self.history(_AT_ONCE, found[-1].revision if found else None)
            found += [one for one in some if one.revision > revision]
            if len(some) < _AT_ONCE or some[-1].revision <= revision:
                break
        return found

    def told_since(self, revision: int) -> list[ChangeSet]:
        """The change sets after a revision, the oldest first, without the memories that they changed: quick to tell."""
        self._refresh()
        with self._ledger.reading():
            return self._ledger.journal.past.heads_since(revision)

    def events_since(self, revision: int, ids: Sequence[str] | None = None) -> dict[str, list[Event]]:
        """What happened to these memories after a revision, or to all that anything happened to, the oldest first."""
        with self._ledger.reading():
            past = self._ledger.journal.past
            wanted = list(past.back(revision, self._ledger.revision)) if ids is None else list(ids)
            return past.events(wanted, revision)

    def texts_at(self, revision: int) -> dict[str, str | None]:
        """The texts as they were right after a revision."""
        now = self.texts()
        with self._ledger.reading():
            return self._ledger.journal.past.texts(revision, self._ledger.revision, now)

    def plan_to_take(
        self,
        title: str,
        changes: Sequence[Change],
        texts: Mapping[str, str | None],
        *,
        reason: str,
        notes: Sequence[str] = (),
        calls: Sequence[ModelCall] = (),
    ) -> ChangeSet:
        """The change set by which this agent takes memories and texts from another; a personality with its facts.

        Raises:
            InvalidPersonality: the personality is none.
        """
        taken = list(changes)
        kept_texts: list[TextChange] = []
        for name, text in texts.items():
            if name == "personality" and text is not None:
                plan = self.save_personality(text, preview=True)
                taken += plan.changes
                kept_texts += plan.texts
            elif (held := self._ledger.text(name)) != text:
                kept_texts.append(TextChange(name, held, text))
        return ChangeSet(
            TAKE_OVER,
            title,
            tuple(taken),
            self.now,
            self._ledger.revision,
            author=self.author,
            reason=reason,
            texts=tuple(kept_texts),
            notes=tuple(notes),
            calls=tuple(calls),
            agent=self.name,
        )


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
