"""History: what was done to an agent, taking it back, and the agent as it was at any moment of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from ..core.change_set import ChangeSet, Revision, excerpt, in_quotes, load_entry, revision_of
from ..core.entry import MemoryEntry, MemoryId, MemoryIds, Tier, id_of
from ..core.scoring import whole
from ..core.times import moment_given
from ..errors import ChangeSetNotFound, Conflict, InvalidParameter, StaleChange
from ..operations.context import bare
from ..operations.edit import ids_of
from ..operations.undo import (
    AS_BEFORE,
    GO_BACK,
    REDO,
    UNDO,
    Clash,
    Present,
    Undoing,
    going_back,
    refuse_clashes,
    refuse_undone,
    title_of,
    undoing,
)
from ..store import protocols
from ..store.journal.as_of import Event, Moment
from ..store.journal.history import Applied, HistoryKinds, Sought
from ..store.journal.horizon import HistoryKept, Limits
from .context import Context, Part
from .knowledge import Then

_AT_ONCE = 500
_MOST = 2**62
_BEGINNING = datetime.min.replace(tzinfo=UTC)


class History(Part):
    """What was done, and undoing it. Everything is journalled, and an undo can itself be undone."""

    def history(
        self,
        limit: int = 100,
        before: int | None = None,
        *,
        contains: str = "",
        author: str = "",
        operation: str = "",
        entry_id: MemoryId = "",
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Applied]:
        """Applied change sets, the newest first.

        Args:
            limit: how many at most, 1 to 10,000.
            before: only those older than this revision: the last one of a page, to get the next page.
            contains: words in the title, the reason, the author or a memory's text before or after, in any case.
            author: exactly this one; ``history_kinds`` lists them.
            operation: exactly this kind, such as ``migrate``.
            entry_id: only those that changed this memory, or that of this id.
            since: applied at this real time or later.
            until: applied before this real time.

        Raises:
            InvalidParameter: a value is out of its range.
        """
        older = None if before is None else whole("before", before, 0, _MOST)
        sought = Sought(contains, author, operation, id_of(entry_id), since, until)
        with self.context.ledger.reading():
            return self.context.ledger.journal.history(whole("limit", limit, 1, 10_000), older, sought)

    def of_text(self, name: str, limit: int) -> list[Applied]:
        """The newest change sets that changed the text of this name (``is_text_name``), the newest first."""
        with self.context.ledger.reading():
            return self.context.ledger.journal.history(limit, None, Sought(text=name))

    def change(self, revision: int) -> Applied:
        """One applied change set.

        Raises:
            ChangeSetNotFound: the history has no such revision.
        """
        number = whole("The revision", revision, 1, _MOST)
        with self.context.ledger.reading():
            return self.context.ledger.journal.get(number)

    def last_act(self, operation: str, author: str = "") -> Applied | None:
        """The newest change set of a kind, even if it was dropped from the history; see ``Journal.last_act``."""
        with self._ledger.reading():
            return self._ledger.journal.last_act(operation, author)

    def history_kinds(self) -> HistoryKinds:
        """The authors and the kinds of the changes in the history, each with a count."""
        with self.context.ledger.reading():
            return self.context.ledger.journal.kinds()

    @property
    def begins_after(self) -> int:
        """The newest revision that was dropped; 0 = the history is complete."""
        with self._ledger.reading():
            return self._ledger.journal.horizon.floor

    def history_kept(self, changes: int | None = None, days: int | None = None) -> HistoryKept:
        """How far the history reaches back, how big it is, and how much of it would be dropped.

        Args:
            changes: for a history of this many changes; the setting if not given.
            days: for a history of this many days; the setting if not given.

        Raises:
            InvalidParameter: one is out of its range; see ``AgentSettings``.
        """
        limits = {"history_changes": changes, "history_days": days}
        agent_settings = self.context.settings.evolve(
            **{name: value for name, value in limits.items() if value is not None}
        )
        with self._ledger.reading():
            return self._ledger.journal.horizon.kept(
                Limits(agent_settings.history_changes, agent_settings.history_days)
            )

    def undo(
        self,
        revision: Revision,
        *,
        keep: MemoryIds = (),
        overwrite: MemoryIds = (),
        preview: bool = False,
    ) -> ChangeSet:
        """Take an applied change set, or the one of a revision, back; an undo can itself be undone.

        Args:
            revision: which one.
            keep: memories or their ids, or names of texts, that later changes touched and that stay as they are now.
            overwrite: those that are taken back even so; what later changes made of them is lost from recall, but
                stays in the history. ``conflicts`` lists where to choose.
            preview: whether to plan only.

        Raises:
            InvalidParameter: the change set has not been applied, or did not touch something in ``keep`` or
                ``overwrite``.
            ChangeSetNotFound: there is no such revision.
            Conflict: it has been undone already, or cannot be undone at all.
            StaleChange: later changes touched the same memories and nothing was chosen; the message says which.
        """
        number, kept, overwritten = _number(revision), ids_of(keep), ids_of(overwrite)

        def planned() -> ChangeSet:
            self.context.refresh()
            with self._ledger.reading():
                record = self._ledger.journal.get(number)
                refuse_undone(record)
                plan = undoing(record, self._present(record), kept, overwritten)
                refuse_clashes(record.change_set.title, self._with_events(plan.clashes, number))
            operation = REDO if record.change_set.operation == UNDO else UNDO
            return self._take_back(operation, title_of(record.change_set), plan, undoes=number)

        if preview or not (kept or overwritten):
            return self.context.planned_and_done(planned, preview)
        plan = planned()
        try:
            return self.context.apply(plan)
        except StaleChange as error:  # the choice was made for what was there
            raise StaleChange(
                "Something that this undoes was changed at the same moment. Check what conflicts now (“conflicts”) and "
                "choose again. Nothing was changed."
            ) from error

    def redo(
        self,
        revision: Revision,
        *,
        keep: MemoryIds = (),
        overwrite: MemoryIds = (),
        preview: bool = False,
    ) -> ChangeSet:
        """Do again what was undone: the undo of the undo. The arguments are those of ``undo``.

        Raises:
            InvalidParameter, ChangeSetNotFound, StaleChange: as with ``undo``.
            Conflict: the change set is not undone at present.
        """
        return self.undo(self._undo_of(revision), keep=keep, overwrite=overwrite, preview=preview)

    def conflicts(self, revision: Revision) -> tuple[Clash, ...]:
        """Where undoing a change set would overwrite later work, memory by memory; empty if it can simply be undone.

        For a change set that is undone: where doing it again would.

        Raises:
            InvalidParameter, ChangeSetNotFound, Conflict: as with ``undo``.
        """
        number = _number(revision)
        self.context.refresh()
        with self._ledger.reading():
            record = self._ledger.journal.get(number)
            if record.undone_by is not None:
                number = record.undone_by
                record = self._ledger.journal.get(number)
            refuse_undone(record)
            return self._with_events(undoing(record, self._present(record)).clashes, number)

    def undo_back_to(self, revision: Revision, *, preview: bool = False) -> ChangeSet:
        """Bring all memories and texts to what they were right after a revision, in one change set.

        This includes settings, personality, saved cues and judgments. What was recalled since stays recalled: a recall
        is not an edit. What was purged since cannot come back; ``kept`` lists it.

        Raises:
            InvalidParameter: it cannot be a revision.
            ChangeSetNotFound: there is no such revision.
            StaleChange: the preview is applied after somebody changed something. Nothing was changed.
        """
        if preview:
            return self._going_back(revision)
        with self.context.writer().writing():  # nobody can write between the plan and its application
            return self.context.apply(self._going_back(revision))

    def _going_back(self, revision: Revision) -> ChangeSet:
        number = _number(revision)
        self.context.refresh()
        with self._ledger.reading():
            journal, newest = self._ledger.journal, self._ledger.revision
            record = journal.get(number)
            bodies = {key: load_entry(body) for key, body in journal.past.back(number, newest).items()}
            texts = journal.past.texts(number, newest, self._ledger.texts())
            plan = going_back(number, bodies, texts, self._present_of(list(bodies)))
        later = newest - number
        notes = (f"It undoes what the {later:,} later changes did.",) if later else ()
        title = f"Go back to right after {excerpt(record.change_set.title)}"
        return self._take_back(GO_BACK, title, plan, notes=notes)

    def note(self, change_set: ChangeSet) -> ChangeSet:
        """Record in the history an attempt that changed nothing; returns it with its revision."""
        ledger = self.context.writer()
        self.context.tell(change_set)
        return ledger.note(change_set)

    # -- since a revision ------------------------------------------------------------------------------

    @property
    def origin(self) -> str:
        """What an agent shares only with its copies: the id of its first change set, if there is one."""
        with self._ledger.reading():
            return self._ledger.journal.origin

    def changes_since(self, revision: int) -> list[Applied]:
        """The change sets after a revision (0 = all), the newest first.

        Raises:
            InvalidParameter: it cannot be a revision.
            ChangeSetNotFound: the history does not reach that far back.
        """
        whole("The revision", revision, 0, _MOST)
        self.context.refresh()
        if revision:
            self._ledger.journal.refuse_let_go(revision)
        found: list[Applied] = []
        while True:
            some = self.history(_AT_ONCE, found[-1].revision if found else None)
            found += [record for record in some if record.revision > revision]
            if len(some) < _AT_ONCE or some[-1].revision <= revision:
                return found

    def told_since(self, revision: int) -> list[ChangeSet]:
        """The change sets after a revision, the oldest first, without the memories that they changed; quick."""
        self.context.refresh()
        with self._ledger.reading():
            return self._ledger.journal.past.heads_since(revision)

    def events_since(self, revision: int, ids: Sequence[MemoryId] | None = None) -> dict[str, list[Event]]:
        """What happened to these memories, or to all, after a revision, the oldest first.

        Raises:
            ChangeSetNotFound: the history does not reach that far back.
        """
        revision = whole("The revision", revision, 0, 2**63 - 1)
        with self._ledger.reading():
            self._ledger.journal.refuse_let_go(revision)
            past = self._ledger.journal.past
            entry_ids = list(past.back(revision, self._ledger.revision)) if ids is None else ids_of(ids)
            return past.events(entry_ids, revision)

    def texts_at(self, revision: int) -> dict[str, str | None]:
        """The texts as they were right after a revision."""
        now = self._ledger.texts()
        with self._ledger.reading():
            return self._ledger.journal.past.texts(revision, self._ledger.revision, now)

    # -- how -------------------------------------------------------------------------------------------

    @property
    def _ledger(self) -> protocols.Present:
        return self.context.present()

    def _undo_of(self, revision: Revision) -> int:
        record = self._ledger.journal.get(_number(revision))
        if record.undone_by is None:
            raise Conflict(
                f"{in_quotes(record.change_set.title)} has not been undone, so there is nothing to do again."
            )
        return record.undone_by

    def _present(self, record: Applied) -> Present:
        return self._present_of([change.entry_id for change in record.change_set.changes])

    def _present_of(self, ids: Sequence[str]) -> Present:
        """The present state; the caller keeps the tables unchanged."""

        def find(entry_id: str) -> MemoryEntry | None:
            entry = self._ledger.find(entry_id)
            return None if entry is None else bare(entry)

        def static() -> list[MemoryEntry]:
            return list(self._ledger.tables[Tier.STATIC].entries)

        return Present(find, self._ledger.text, static, self._ledger.journal.bin.purged(ids))

    def _with_events(self, clashes: Collection[Clash], revision: int) -> tuple[Clash, ...]:
        past = self._ledger.journal.past
        events = past.events([clash.key for clash in clashes if not clash.is_text], revision)
        return tuple(
            dataclasses.replace(
                clash,
                later=tuple(past.texts_since(clash.key, revision) if clash.is_text else events[clash.key]),
            )
            for clash in clashes
        )

    def _take_back(
        self, operation: str, title: str, plan: Undoing, *, undoes: int | None = None, notes: tuple[str, ...] = ()
    ) -> ChangeSet:
        if not (plan.changes or plan.texts):
            left = any(memory.reason != AS_BEFORE for memory in plan.kept)
            ending = "would change is left as it is" if left else "would have it"
            title = f"Nothing to do: {'what' if left else 'all is as'} {excerpt(title)} {ending}"
            notes = ()
        elif plan.chosen:
            title += f"; {plan.chosen} kept as they are" if plan.chosen > 1 else "; one kept as it is"
        return self.context.plan(
            operation, title, plan.changes, texts=plan.texts, kept=plan.kept, notes=notes, undoes=undoes
        )


def _number(revision: Revision) -> int:
    return whole("The revision", revision_of(revision), 1, _MOST)


def as_of(
    context: Context,
    at: datetime | None = None,
    *,
    revision: int | None = None,
    access: int | None = None,
    world_time: datetime | None = None,
    really: datetime | None = None,
) -> Context:
    """The agent as it was at a moment; see ``AgentMemory.as_of``.

    ``really`` is the real time at which its world knew what it knew then: that of the revision if not given.
    """
    if sum(way is not None for way in (at, revision, world_time)) != 1:
        raise InvalidParameter("A moment is exactly one of a real time, 'revision' or 'world_time'.")
    if access is not None and revision is None:
        raise InvalidParameter("'access' counts the accesses since a revision; give the revision, too.")
    present = context.present()
    context.refresh()
    with present.reading():
        present.flush()
        past = present.journal.past
        if at is not None:
            moment: Moment | None = past.at_real_time(moment_given("The time", at))
        elif world_time is not None:
            moment = past.at_world_time(moment_given("The world's time", world_time))
        else:
            number = whole("The revision", revision, 0, _MOST)
            accessed = whole("The access", 0 if access is None else access, 0, _MOST)
            moment = past.at_revision(number, accessed, context.clock())
        if moment is None:
            raise ChangeSetNotFound(f"The history has no revision {revision}.")
        then = Then(really or at, world_time)
        if then == Then():
            then = Then(present.journal.applied_at(moment.revision) or _BEGINNING)
    return context.as_of(moment, then)
