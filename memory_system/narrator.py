"""AgentNarrator: telling what is remembered, and remembering what was talked about."""

from __future__ import annotations

import dataclasses
from datetime import datetime

from . import curation, intake_turns
from .changes import ChangeSet
from .consolidation import synopsis
from .consolidation.ground import Ground, Progress
from .editor import AgentEditor, no_progress
from .intake_turns import Turns
from .narrative import Hits, Narrative, tell


class AgentNarrator(AgentEditor):
    """The telling part: a narrative from memories, and a conversation into memory."""

    def narrate(self, cue: str, hits: Hits) -> Narrative:
        """The hits joined into one narrative that keeps when each happened; changes and stores nothing.

        Every sentence carries the ids it rests on; one that rests on none, or says more than they do, is
        dropped, and kept in ``dropped`` with the reason. Offline it is a dated, ordered digest of quotations.

        Args:
            cue: what the narrative is to answer, 1 to 32,000 characters.
            hits: what ``query_memory`` answered, or a list of candidates or memories, the best first.

        Raises:
            InvalidParameter: the cue is empty or too long, or a hit is no memory.
            ModelError: the language model did not help.
        """
        return tell(self.display_name, self._query(cue).cue, hits, self.model)

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
    return dataclasses.replace(
        ground, progress=lambda done, doing: ground.progress(begin + (end - begin) * done, doing)
    )
