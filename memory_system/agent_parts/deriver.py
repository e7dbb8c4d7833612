"""AgentDeriver: what to do with a memory that rests on what has changed: derive it again, or keep it.

AgentNarrator: remembering what was talked about.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime

from ..core.change_set import ChangeSet
from ..errors import Protected
from ..operations import edit, rederivation, synopsis
from ..operations.context import Ground, Progress, within
from ..operations.edit import PROTECTED, writable
from ..operations.importing import turns as intake_turns
from ..operations.importing.turns import Turns
from .reader import no_progress
from .restorer import AgentRestorer


class AgentNarrator(AgentRestorer):
    """The listening part: a conversation into memory."""

    def remember_conversation(
        self,
        turns: Turns,
        *,
        rate: bool = True,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> ChangeSet:
        """Remember a conversation in STM: each turn, and a synopsis of what it shows, linked to its turns.

        The synopsis says what was asked, what was done, how a speaker felt, what they prefer and why an answer
        was given, as far as the conversation shows it. Where the language model fails the turns are stored all
        the same, without a synopsis, and the notes say so.

        Args:
            turns: at most 2,000: mappings ``{"speaker": ..., "text": ..., "timestamp": ...}``, pairs of speaker
                and text, or one text of lines ``Name: what is said``.
            rate: whether the language model is asked how poignant each turn is.
            now: the time of turns where none has one.
            preview: whether to plan only.
            progress: told how far it is.

        Raises:
            InvalidEntry: a turn cannot be taken; the message says which, counted from 1. Nothing was changed.
        """
        entries = intake_turns.read(turns, self._time(now))
        ground = self._ground(now, progress)
        share = 0.8 if rate else 0.0
        added, _ = edit.add(_within(ground, 0, share), entries, self._ledger.find, overwrite=False, rate=rate)
        return self._done(synopsis.plan(_within(ground, share, 1), added), preview)


def _within(ground: Ground, begin: float, end: float) -> Ground:
    """The ground of one step of several, whose progress is a part of the whole."""
    return dataclasses.replace(ground, progress=within(ground.progress, begin, end))


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
