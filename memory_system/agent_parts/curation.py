"""Curation: what a person or a game changes by hand: memories, settings and the personality, all of it undoable."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..core import personality as static_memory
from ..core.change_set import Change, ChangeSet, ModelCall, TextChange, excerpt, text_given, texts_given
from ..core.dismissed import fingerprint
from ..core.entry import DECAYING, MemoryEntry, MemoryId, MemoryIds, Tier, id_of
from ..core.files import as_store_errors
from ..core.times import moment_given
from ..errors import Conflict, InvalidParameter, StaleChange, kind_of
from ..operations import edit
from ..operations.context import Progress, by_age, no_progress
from ..operations.importing.events import Events, read
from ..store import put_off
from ..store.personality_file import PersonalityFile
from .context import Part
from .rating import arriving
from .retrieval import ground

TAKE_OVER = "take over"
"""The history's name for the operation that takes something from a rehearsal."""
CREATE = "create"
"""Its name for the first change of a character that was made with earlier events."""


class Curation(Part):
    """Edit, forget, settings, personality."""

    def edit(self, entry_id: MemoryId, fields: Mapping[str, Any], *, preview: bool) -> ChangeSet:
        """Change fields of one memory."""

        def planned() -> ChangeSet:
            return edit.edit(ground(self.context), self.context.find, id_of(entry_id), fields)

        return self.context.planned_and_done(planned, preview)

    def forget(self, ids: MemoryIds, *, preview: bool = False) -> ChangeSet:
        """Take memories, or those of these ids, out of recall; ``restore`` or ``undo`` bring them back."""

        def planned() -> ChangeSet:
            return edit.forget(ground(self.context), self.context.find, ids)

        return self.context.planned_and_done(planned, preview)

    def edit_many(
        self,
        ids: MemoryIds,
        add_tags: str | Sequence[str],
        remove_tags: str | Sequence[str],
        fields: Mapping[str, Any],
        *,
        preview: bool,
    ) -> ChangeSet:
        """Change many memories in one change set."""

        def planned() -> ChangeSet:
            self.context.refresh()
            with self.context.ledger.reading():
                revision = self.context.ledger.revision
                changes, left, words = edit.changes(self.context.ledger.find, ids, add_tags, remove_tags, fields)
            counted = f"{len(changes):,} memor{'ies' if len(changes) != 1 else 'y'}"
            title = f"Change {counted}: {words}" if changes else "Nothing to change"
            return self.context.plan("edit", title, changes, kept=left, revision=revision)

        return self.context.planned_and_done(planned, preview)

    def configure(self, settings: Mapping[str, Any], *, preview: bool) -> ChangeSet:
        """Change the agent's settings."""

        def planned() -> ChangeSet:
            before = self.context.ledger.text("settings")
            return edit.configure(ground(self.context), before, self.context.settings.evolve(**settings))

        return self.context.planned_and_done(planned, preview)

    def put_off(
        self,
        kind: str,
        of: str = "",
        *,
        until: datetime | None = None,
        mark: str = "",
        preview: bool = False,
    ) -> ChangeSet:
        """Postpone a decision: until then ``World.inbox`` does not list it as waiting; or take that back.

        Args:
            kind: what it is about, as in the inbox; see ``store.put_off.Matter``.
            of: which one of its kind, as in the inbox.
            until: the world's time at which it is listed again.
            mark: its state, as in the inbox; without ``until`` it is listed again when that changes. With neither it
                is listed again at once.
            preview: whether to plan only.

        Raises:
            InvalidParameter: there is no such kind, or the time has no zone.
        """
        return self.context.planned_and_done(lambda: self._putting_off(kind, of, until, mark), preview)

    def _putting_off(self, kind: str, of: str, until: datetime | None, mark: str) -> ChangeSet:
        words, of, mark = put_off.words(kind), text_given("of", of), text_given("mark", mark)
        with self.context.ledger.reading():
            before, revision = self.context.ledger.text(put_off.TEXT), self.context.ledger.revision
        now = self.context.clock()
        left = [record for record in put_off.parse_put_off(before) if (record.kind, record.of) != (kind, of)]
        left = [record for record in left if record.at is None or record.at > now]
        moment = "" if until is None else moment_given("'until'", until).isoformat()
        made = [put_off.PutOff(kind, of, moment, mark)] if moment or mark else []
        after = put_off.dump_put_off([*left, *made][-put_off.MOST :])
        which = self._which(kind, of)
        about = f"{words}, {which}" if which else words
        title = f"Put off: {about}" if made else f"No longer put off: {about}"
        texts = (TextChange(put_off.TEXT, before, after),) if after != (before or "[]") else ()
        return self.context.plan("put-off", title if texts else "Nothing to change", texts=texts, revision=revision)

    def _which(self, kind: str, of: str) -> str:
        """Which decision of its kind it is, in words; empty if there is at most one, or its memories are gone."""
        if kind in (put_off.Matter.CONTRADICTION, put_off.Matter.DUPLICATE):
            every = (entry for tier in DECAYING for entry in self.context.entries(tier))
            found = (entry for entry in every if fingerprint(entry.document) in of.split())
            return " and ".join(dict.fromkeys(excerpt(entry.document) for entry in sorted(found, key=by_age)))
        if kind == put_off.Matter.STALE:
            stale = self.context.find(of)
            return excerpt(stale.document) if stale else ""
        return excerpt(of) if of else ""

    def set_portrait(self, portrait: str | None, *, preview: bool = False) -> ChangeSet:
        """Give the agent a picture, as ``data:image/webp;base64,...``, or take it away.

        Raises:
            InvalidParameter: it is not such a picture, or has more than ``core.personality.MAX_PORTRAIT`` characters.
        """
        if portrait is not None and not isinstance(portrait, str):
            raise InvalidParameter(f"The portrait must be text, not {kind_of(portrait)}.")
        static_memory.refuse_no_portrait(portrait)
        self.context.refresh()
        before = self.context.ledger.text("portrait")
        texts = [TextChange("portrait", before, portrait)] if before != portrait else []
        title = "Set the portrait" if portrait else "Take the portrait away"
        return self.context.done(self.context.plan("portrait", title, texts=texts), preview)

    def save_personality(self, text: str, *, expected: str | None = None, preview: bool = False) -> ChangeSet:
        """Save a JSON text as the static memory, in the file and in recall; only changed facts are embedded.

        Args:
            text: the whole personality.
            expected: the text that the author started from, if it must still be in use.
            preview: whether to plan only.

        Raises:
            InvalidPersonality: all that is wrong with it, by line and field. Nothing was changed.
            StaleChange: somebody else changed it since. Nothing was changed.
        """
        if not isinstance(text, str):
            raise InvalidParameter(f"The personality must be JSON text, not {kind_of(text)}.")
        expected = None if expected is None else text_given("expected", expected)
        if not preview:
            self.context.writer()  # before a file is touched
        self.context.refresh()
        self.context.ledger.refuse_other_embedder()
        before = self.context.ledger.text("personality")
        if expected is not None and expected != before:
            raise StaleChange("Somebody else has changed this personality since you loaded it. Load it again.")
        file = self._file()
        source = file.path.name
        plan = edit.personality(self.context.plan, before, text, self.context.entries(Tier.STATIC), source)
        if not preview:
            with as_store_errors(source):
                file.set_aside_if_broken()
                if not plan:
                    file.write_if_missing(text)
        return self.context.done(plan, preview)

    def begin(
        self,
        text: str,
        events: Events,
        progress: Progress = no_progress,
        *,
        kept: Sequence[MemoryEntry] = (),
        card: str | None = None,
        portrait: str | None = None,
        calls: Sequence[ModelCall] = (),
    ) -> ChangeSet:
        """Give an empty agent a personality and earlier events, in one change set.

        Args:
            text: the personality, as JSON.
            events: as ``AgentMemory.add_short_term`` accepts them; those without a rating are rated as this one's.
            progress: called with the progress so far.
            kept: memories that are stored as they are, such as those of LTM.
            card: the character card that it was made from, as JSON.
            portrait: its picture, as it is stored.
            calls: the calls of a language model that read it.

        Raises:
            InvalidPersonality, InvalidEntry: it cannot be accepted. Nothing was changed.
            Conflict: the agent has a personality or memories.
        """
        if self.context.ledger.revision:
            raise Conflict(f"{self.context.name} has begun already.")
        born = self.save_personality(text, preview=True)
        personality = static_memory.parse(text)
        entries, rate = arriving(self.context, read(events, self.context.time(None)).entries, None)
        planned_on = dataclasses.replace(
            ground(self.context, None, progress),
            who=personality.identity.name,
            model=self.context.model_of(lambda: static_memory.personal(personality)),
        )
        added, _ = edit.add(planned_on, entries, self.context.ledger.find, overwrite=False, rate=rate)
        lived = (*added.changes, *(Change(None, entry, "It came in with the character.") for entry in kept))
        counted = f" with {len(lived):,} memor{'ies' if len(lived) != 1 else 'y'}" if lived else ""
        plan = dataclasses.replace(
            added,
            operation=CREATE,
            title=f"Create {personality.identity.name}{counted}",
            changes=(*born.changes, *lived),
            calls=(*calls, *added.calls),
            texts=(
                *born.texts,
                *(TextChange(name, None, text) for name, text in (("card", card), ("portrait", portrait)) if text),
            ),
        )
        return self.context.done(plan, False)

    @property
    def personality_on_disk(self) -> str | None:
        """The text of the personality file, valid or not; ``None`` if it cannot be read."""
        file = self.context.file
        return self.context.ledger.text("personality") if file is None else file.text()

    @property
    def personality_problem(self) -> str | None:
        """What is wrong with the personality file on disk, while the last good one is in use; else ``None``."""
        file = self.context.file
        return None if file is None else file.problem(self.context.ledger.text("personality"))

    def put_personality_back(self) -> None:
        """Write the personality in use into its file; a broken file is kept under another name.

        Raises:
            Conflict: there is nothing in use to write.
        """
        text = self.context.ledger.text("personality")
        if text is None:
            raise Conflict("No valid personality has been used yet, so there is nothing to put back.")
        file = self._file()
        with self.context.writer().writing(), as_store_errors(file.path.name):
            file.put_back(text)

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
            InvalidPersonality: the personality is not valid.
        """
        title, reason, noted = text_given("title", title), text_given("reason", reason), texts_given("notes", notes)
        taken = list(changes)
        kept_texts: list[TextChange] = []
        for name, text in texts.items():
            if name == "personality" and text is not None:
                plan = self.save_personality(text, preview=True)
                taken += plan.changes
                kept_texts += plan.texts
            elif (before := self.context.ledger.text(name)) != text:
                kept_texts.append(TextChange(name, before, text))
        return self.context.plan(
            TAKE_OVER, title, taken, texts=kept_texts, reason=reason, notes=noted, calls=tuple(calls)
        )

    def _file(self) -> PersonalityFile:
        self.context.present()
        assert self.context.file is not None, "only the past has no file"
        return self.context.file
