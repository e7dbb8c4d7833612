"""AgentRestorer: taking back what was done: one change, all since a moment, or an undo; and purging for good."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence

from ..core.change_set import Change, ChangeSet, Kept, TextChange, load_entry, short
from ..core.entry import MemoryEntry, Tier
from ..core.scoring import whole
from ..errors import Conflict, EntryNotFound, Immutable, InvalidParameter, StaleChange, shown
from ..operations.context import bare
from ..operations.edit import listed
from ..operations.undo import (
    AS_BEFORE,
    GO_BACK,
    PURGE,
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
from ..store.copying import SET_ASIDE
from ..store.journal.history import Applied
from .editor import AgentEditor

_MOST = 2**62


class AgentRestorer(AgentEditor):
    """The part that takes back. All of it is journalled, and can itself be undone; but for ``purge``."""

    def apply(self, change_set: ChangeSet) -> ChangeSet:
        """Carry out a previewed change set, once; answers it with its revision.

        Raises:
            StaleChange: what it touches has changed since; with going back, anything. Nothing was changed.
        """
        if isinstance(change_set, ChangeSet) and change_set.operation == GO_BACK:
            self._ledger.refuse_read_only()
            with self._ledger.writing():
                self._refuse_gone_on(change_set)
                return super().apply(change_set)
        texts: Iterable[str] = ()
        if isinstance(change_set, ChangeSet) and change_set.purges and change_set.problem() is None:
            self._ledger.refuse_read_only()
            texts = self._ledger.journal.bin.texts(change_set.purges)
            self._tokens.forget(texts)  # before nobody knows any more what they were made of
        done = super().apply(change_set)
        if texts:
            self._tokens.forget(texts)  # somebody may have looked at the past meanwhile
        return done

    def undo(
        self,
        revision: int | ChangeSet,
        *,
        keep: str | Sequence[str] = (),
        overwrite: str | Sequence[str] = (),
        preview: bool = False,
    ) -> ChangeSet:
        """Take an applied change set, or the one of a revision, back; an undo can itself be undone.

        Args:
            revision: which one.
            keep: ids of memories, or names of texts, that later changes touched and that stay as they are now.
            overwrite: those that are taken back all the same; what later changes made of them is lost from recall,
                and stays in the history. ``conflicts`` tells where there is something to choose.
            preview: whether to plan only.

        Raises:
            InvalidParameter: the change set has not been applied, or did nothing to what is to be chosen.
            ChangeSetNotFound: there is no such revision.
            Conflict: it has been undone already, or cannot be undone at all.
            StaleChange: later changes touched the same memories, and it was not chosen what to do; it says which.
        """
        number = _number(revision)
        self._refresh()
        with self._ledger.reading():
            told = self._ledger.journal.get(number)
            refuse_undone(told)
            plan = undoing(told, self._present(told), listed(keep), listed(overwrite))
            refuse_clashes(told.change_set.title, self._with_events(plan.clashes, number))
        operation = REDO if told.change_set.operation == UNDO else UNDO
        return self._done(self._take_back(operation, title_of(told.change_set), plan, undoes=number), preview)

    def redo(
        self,
        revision: int | ChangeSet,
        *,
        keep: str | Sequence[str] = (),
        overwrite: str | Sequence[str] = (),
        preview: bool = False,
    ) -> ChangeSet:
        """Do again what was undone: the undo of the undo. The arguments are those of ``undo``.

        Raises:
            InvalidParameter, ChangeSetNotFound, StaleChange: as with ``undo``.
            Conflict: the change set does not stand undone.
        """
        return self.undo(self._undo_of(revision), keep=keep, overwrite=overwrite, preview=preview)

    def conflicts(self, revision: int | ChangeSet) -> tuple[Clash, ...]:
        """Where undoing a change set would overwrite later work, memory by memory; none if nothing stands in its way.

        For one that stands undone: where doing it again would.

        Raises:
            InvalidParameter, ChangeSetNotFound, Conflict: as with ``undo``.
        """
        number = _number(revision)
        self._refresh()
        with self._ledger.reading():
            told = self._ledger.journal.get(number)
            if told.undone_by is not None:
                number = told.undone_by
                told = self._ledger.journal.get(number)
            refuse_undone(told)
            return self._with_events(undoing(told, self._present(told)).clashes, number)

    def undo_back_to(self, revision: int | ChangeSet, *, preview: bool = False) -> ChangeSet:
        """Bring all memories and texts to what they were right after a revision, in one change set.

        Settings, personality, saved cues and judgments included. What was recalled since stays recalled: looking
        something up is no edit. What was purged since cannot come back; ``kept`` tells of it.

        Raises:
            InvalidParameter: it is no revision.
            ChangeSetNotFound: there is no such revision.
            StaleChange: what was previewed is applied after somebody changed something. Nothing was changed.
        """
        if preview:
            return self._going_back(revision)
        self._ledger.refuse_read_only()
        with self._ledger.writing():  # nobody comes between the plan and what it does
            return self.apply(self._going_back(revision))

    def _going_back(self, revision: int | ChangeSet) -> ChangeSet:
        number = _number(revision)
        self._refresh()
        with self._ledger.reading():
            journal, newest = self._ledger.journal, self._ledger.revision
            told = journal.get(number)
            bodies = {key: load_entry(body) for key, body in journal.past.back(number, newest).items()}
            texts = journal.past.texts(number, newest, self._ledger.texts())
            plan = going_back(number, bodies, texts, self._held(list(bodies)))
        later = newest - number
        notes = (f"It takes back what the {later:,} later changes did.",) if later else ()
        title = f"Go back to right after “{short(told.change_set.title)}”"
        return self._take_back(GO_BACK, title, plan, notes=notes)

    def purge(self, ids: str | Sequence[str], *, preview: bool = False) -> ChangeSet:
        """Take what forgotten memories said out of the history and every file of the agent. This cannot be undone.

        Their ids, kinds and times stay, so that the history hangs together. What was derived from them is left, and
        may still tell what they said; so do copies that were made before, such as backups and copied characters.

        Raises:
            EntryNotFound: there never was such a memory, or it has been purged before.
            Immutable: it is, or was, a fact of the personality.
            Conflict: one is still remembered: forget it first.
            StoreError: files cannot be written; what is left to erase is erased at the next change or opening.
        """
        wanted = listed(ids)
        with self._ledger.reading():
            gone, lost = set(wanted), self._ledger.journal.bin.lost(wanted)
            for entry_id in wanted:
                held = self._ledger.find(entry_id)
                if held is not None and held.tier is Tier.STATIC:
                    raise Immutable("This is a fact of the personality, whose earlier texts stay in the history.")
                if held is not None:
                    raise Conflict(f"“{short(held.document)}” is still remembered. Forget it first, then purge it.")
                if entry_id in lost:
                    raise EntryNotFound("This memory has been purged already; nothing is left of it.")
                last = self._ledger.journal.last_version(entry_id) if entry_id.isprintable() else None
                if last is None:
                    raise EntryNotFound(f"There never was a memory {shown(entry_id)}.")
                if last.tier is Tier.STATIC:
                    raise Immutable("This was a fact of the personality, whose earlier texts stay in the history.")
            tables = (self._ledger.tables[tier] for tier in (Tier.STM, Tier.LTM))
            resting = sum(not gone.isdisjoint(entry.evidence) for table in tables for entry in table.entries)
        notes = [
            "Their texts leave the history, the search tables and the store. That they were, and when, stays.",
            "Copies that were made before, such as backups and copied characters, still hold them.",
        ]
        if resting:
            notes.insert(1, f"Derived memories that rest on them are left, and may tell what they said: {resting}.")
        aside = sorted(path.name for pattern in SET_ASIDE[:2] for path in self._ledger.folder.glob(pattern))
        if aside:
            notes.append(f"So do files of the agent that were set aside, until you delete them: {', '.join(aside)}.")
        title = "Purge a memory for good" if len(wanted) == 1 else f"Purge {len(wanted)} memories for good"
        plan = self._planned(PURGE, title if wanted else "Nothing to purge", notes=tuple(notes))
        return self._done(dataclasses.replace(plan, purges=tuple(wanted)), preview)

    def restore(self, ids: str | Sequence[str], *, preview: bool = False) -> ChangeSet:
        """Bring forgotten memories back as they last were, such as the sources of a summary.

        Raises:
            EntryNotFound: there never was such a memory, or it has been purged.
            Immutable: it was a fact of the personality.
        """
        wanted = listed(ids)
        if self._ledger.journal.bin.lost(wanted):
            raise EntryNotFound("This memory was purged for good; nothing is left to bring back.")
        return super().restore(wanted, preview=preview)

    # -- how ---------------------------------------------------------------------------------------------

    def _undo_of(self, revision: int | ChangeSet) -> int:
        told = self._ledger.journal.get(_number(revision))
        if told.undone_by is None:
            raise Conflict(f"“{told.change_set.title}” has not been undone, so there is nothing to do again.")
        return told.undone_by

    def _refuse_gone_on(self, plan: ChangeSet) -> None:
        """What goes back to a moment takes all back that came since: what came after it was planned, too."""
        with self._ledger.reading():
            later = self._ledger.journal.since(plan.base_revision)
        if later and all(one.id != plan.id for one in later):
            raise StaleChange(
                f"“{short(later[0].title)}” by {later[0].author} was done since this was planned, and would not be "
                "taken back. Preview it again."
            )

    def _present(self, told: Applied) -> Present:
        return self._held([change.entry_id for change in told.change_set.changes])

    def _held(self, ids: Sequence[str]) -> Present:
        """How things stand; the caller holds the tables still."""

        def find(entry_id: str) -> MemoryEntry | None:
            held = self._ledger.find(entry_id)
            return None if held is None else bare(held)

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
            left = any(one.reason != AS_BEFORE for one in plan.kept)
            ending = "would change is left as it is" if left else "would have it"
            title = f"Nothing to do: {'what' if left else 'all is as'} “{short(title)}” {ending}"
            notes = ()
        elif plan.chosen:
            title += f"; {plan.chosen} kept as they are" if plan.chosen > 1 else "; one kept as it is"
        return self._planned(operation, title, plan.changes, plan.texts, plan.kept, notes, undoes)

    def _planned(
        self,
        operation: str,
        title: str,
        changes: Sequence[Change] = (),
        texts: Sequence[TextChange] = (),
        kept: Sequence[Kept] = (),
        notes: tuple[str, ...] = (),
        undoes: int | None = None,
    ) -> ChangeSet:
        """Planned without a ``Ground``: that reads all memories, and looking whether an undo can be done is quick."""
        return ChangeSet(
            operation,
            title,
            tuple(changes),
            self.now,
            self._ledger.revision,
            author=self.author,
            texts=tuple(texts),
            kept=tuple(kept),
            notes=notes,
            undoes=undoes,
            agent=self.name,
        )


def _number(revision: int | ChangeSet) -> int:
    number = revision.revision if isinstance(revision, ChangeSet) else revision
    if number is None:
        raise InvalidParameter("This change set has not been applied, so there is nothing to undo.")
    return whole("The revision", number, 1, _MOST)
