"""AgentDeriver: what to do with a memory that rests on what has changed: derive it again, or keep it."""

from __future__ import annotations

from datetime import datetime

from .changes import ChangeSet
from .consolidation import rederivation
from .consolidation.ground import Progress
from .curation import PROTECTED, writable
from .errors import Protected
from .narrator import AgentNarrator
from .reader import no_progress


class AgentDeriver(AgentNarrator):
    """The thinking-again part. Nothing is rewritten by itself: ``stale`` tells, and a person decides."""

    def rederive(
        self,
        entry_id: str,
        *,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> ChangeSet:
        """Make the text of a reflection, summary, synopsis or planned action anew from its evidence as it is now.

        It keeps its id, rating, tags and marks, but that it is by a person where its text changes; what was deleted
        leaves its evidence, what faded into a summary does not. Where nothing is left or nothing follows, nothing is
        changed, and the notes say so.

        Raises:
            EntryNotFound, Immutable: there is no such memory, or it is static.
            Protected: it is protected.
            InvalidParameter: it was not derived from memories.
            ModelError: the language model did not help. Nothing was changed.
        """
        entry = writable(self.find, entry_id)
        if entry.protected:
            raise Protected(PROTECTED)
        routine = self.personality.routine if self.personality else []
        ground = self._ground(now, progress)
        return self._done(rederivation.plan(ground, entry, self._sources(entry), routine), preview)

    def keep_stale(self, entry_id: str, *, preview: bool = False) -> ChangeSet:
        """Say that a person looked at a stale memory and keeps it as it is; the history tells it, and can undo it.

        Raises:
            EntryNotFound, Immutable: there is no such memory, or it is static.
        """
        entry = writable(self.find, entry_id)
        return self._done(rederivation.keep(self._ground(None), entry, self.stale_of(entry_id)), preview)
