"""AgentNarrator: remembering what was talked about."""

from __future__ import annotations

import dataclasses
from datetime import datetime

from . import curation, intake_turns
from .changes import ChangeSet
from .consolidation import synopsis
from .consolidation.ground import Ground, Progress, within
from .intake_turns import Turns
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
        added, _ = curation.add(_within(ground, 0, share), entries, self._ledger.find, overwrite=False, rate=rate)
        return self._done(synopsis.plan(_within(ground, share, 1), added), preview)


def _within(ground: Ground, begin: float, end: float) -> Ground:
    """The ground of one step of several, whose progress is a part of the whole."""
    return dataclasses.replace(ground, progress=within(ground.progress, begin, end))
