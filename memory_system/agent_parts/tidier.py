"""AgentTidier: duplicates and contradictions found and settled, and many memories changed together."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ..core.change_set import Change, ChangeSet, Kept, TextChange, short
from ..core.dismissed import Dismissed, dump_dismissed, fingerprint, of_texts, parse_dismissed
from ..core.entry import MemoryEntry, Tier
from ..core.scoring import in_range, whole
from ..errors import EntryNotFound, InvalidParameter, shown
from ..llm.offline.model import OfflineModel
from ..operations import edit
from ..operations.context import Progress
from ..operations.duplicates import second_opinion, suspicions
from ..operations.duplicates.suspicions import RELATED, THRESHOLD, Held, Look, Suspicion
from ..recall.table import KINDS
from .reader import no_progress
from .tester import AgentTester

_TIERS = (Tier.STM, Tier.LTM)


class AgentTidier(AgentTester):
    """The tidying part. Each change is one change set, so that one undo takes it back."""

    # -- looking ---------------------------------------------------------------------------------------

    def suspicions(
        self,
        *,
        threshold: float = THRESHOLD,
        ask_model: bool = True,
        limit: int = 200,
        progress: Progress = no_progress,
    ) -> Look:
        """Memories of STM and LTM that may be duplicates, or contradict each other; touches nothing.

        Every pair is compared by its vectors; pairs that are related are read for negations, numbers, times and
        opposites, and by the language model, if there is one. Memories can be recalled and changed meanwhile.

        Args:
            threshold: the cosine from which on two memories are called duplicates, 0.7 to 1.
            ask_model: whether the language model is asked about the pairs; the offline rules are never asked.
            limit: how many suspicions of each sort at most, 1 to 10,000.
            progress: told how far it is; it may raise to cancel.

        Returns:
            The suspicions, those left out that a person has dismissed; each says why it is one.

        Raises:
            InvalidParameter: a parameter is out of its range.
        """
        least = in_range("The threshold", threshold, RELATED, 1)
        most = whole("limit", limit, 1, 10_000)
        self._refresh()
        dismissed = self.dismissed
        with self._ledger.reading():
            tables = [self._ledger.tables[tier] for tier in _TIERS]
            held = [
                Held(
                    table.entries.copied(),
                    table.vectors.copy(),
                    [KINDS[number] for number in table.columns["kind"][: len(table)].tolist()],
                )
                for table in tables
            ]
        asks = ask_model and self.model.name != OfflineModel.name
        share = 0.6 if asks else 1.0
        found = suspicions.look(
            held,
            dismissed,
            threshold=least,
            now=self.now,
            limit=most,
            progress=lambda done, doing: progress(share * done, doing),
        )
        if not asks:
            return found
        return second_opinion.ask(
            found, self.display_name, self.model, lambda done, doing: progress(share + (1 - share) * done, doing)
        )

    def still(self, look: Look) -> Look:
        """What of an earlier look still stands: the memories are as they were, and nobody has dismissed it since."""
        known = set(self.dismissed)
        return dataclasses.replace(
            look, suspicions=tuple(one for one in look.suspicions if self._stands(one) and one.mark not in known)
        )

    def _stands(self, suspicion: Suspicion) -> bool:
        found = (self.find(entry.id) for entry in suspicion.entries)
        return all(
            now is not None and now.document == then.document
            for now, then in zip(found, suspicion.entries, strict=True)
        )

    @property
    def dismissed(self) -> tuple[Dismissed, ...]:
        """What a person has looked at and found to be neither a duplicate nor a contradiction."""
        return self._parsed("dismissed", parse_dismissed)

    # -- settling --------------------------------------------------------------------------------------

    def merge(
        self, ids: Sequence[str], text: str | None = None, *, keep: str | None = None, preview: bool = False
    ) -> ChangeSet:
        """Make one memory of several; the others are forgotten, and can be restored.

        The one that stays has the tags and the evidence of all, the importance of the most important, and a person's
        hand in it if one of them had; its time, kind and other metadata are its own. What rested on another now rests
        on it, and saved cues and judgments that named another name it.

        Args:
            ids: two memories or more, at most 1,000.
            text: what it says; its own text if not given.
            keep: the id of the one that stays, one of ``ids``; the first if not given.
            preview: whether to plan only.

        Raises:
            EntryNotFound, Immutable: there is no memory of an id, or it is a fact of the personality.
            InvalidParameter: fewer than two memories, or ``keep`` is not among them.
            InvalidEntry: the text cannot be one.
            Conflict: one that would go is pinned.
        """
        wanted = edit.listed(ids)
        self._refresh()
        with self._ledger.reading():
            revision = self._ledger.revision
            tables = [self._ledger.tables[tier] for tier in _TIERS]
            every = [entry for table in tables for entry in table.entries]
            changes, left, notes = edit.merged(self._ledger.find, wanted, keep, text, every)
            kept = wanted[0] if keep is None else keep
            texts = edit.renamed_texts(self._ledger.text, set(wanted) - {kept}, kept)
        stays = next((one.after for one in changes if one.entry_id == kept and one.after), None) or self.find(kept)
        assert stays is not None, "it was found a moment ago"
        title = f"Merge {len(wanted)} memories into “{short(stays.document)}”"
        return self._done(self._tidied("merge", title, revision, changes, left, notes, texts), preview)

    def dismiss(self, ids: Sequence[str], *, preview: bool = False) -> ChangeSet:
        """Say that these memories are neither duplicates nor contradictions; they are not suspected again.

        It is kept by their texts: one that is edited may be suspected anew.

        Args:
            ids: two memories, or more that hold the same text.
            preview: whether to plan only.

        Raises:
            EntryNotFound: there is no memory of an id.
            InvalidParameter: one memory only, or more than two different texts.
        """
        wanted = edit.listed(ids)
        entries = [self._one_held(entry_id) for entry_id in wanted]
        texts = {fingerprint(entry.document) for entry in entries}
        if len(entries) < 2 or len(texts) > 2:
            raise InvalidParameter("A suspicion is of two memories, or of several that hold the same text.")
        one = of_texts(entry.document for entry in entries)
        after = self.dismissed if one in self.dismissed else (*self.dismissed, one)
        what = f"“{short(entries[0].document)}” and “{short(entries[1].document)}”"
        return self._dismissing(after, f"Leave as they are: {what}", preview)

    def suspect_again(self, *, preview: bool = False) -> ChangeSet:
        """Take back every dismissal, so that all suspicions are listed again."""
        return self._dismissing((), f"Look again at {len(self.dismissed)} dismissed suspicions", preview)

    def _dismissing(self, after: tuple[Dismissed, ...], title: str, preview: bool) -> ChangeSet:
        with self._ledger.reading():
            held, revision = self._ledger.text("dismissed"), self._ledger.revision
        text = held if after == self.dismissed else dump_dismissed(after)
        texts = (TextChange("dismissed", held, text),) if text != held else ()
        plan = self._tidied("dismiss", title if texts else "Nothing to change", revision, [], [], [], texts)
        return self._done(plan, preview)

    # -- many together ---------------------------------------------------------------------------------

    def edit_many(
        self,
        ids: str | Sequence[str],
        *,
        add_tags: str | Sequence[str] = (),
        remove_tags: str | Sequence[str] = (),
        preview: bool = False,
        **fields: Any,
    ) -> ChangeSet:
        """Change many memories in one change set, which one undo takes back; see ``bulk.FIELDS``.

        Those that are so already are left alone, and facts of the personality are; ``kept`` says why. A rating
        without an explanation is told as made by hand.

        Args:
            ids: the memories.
            add_tags: tags that each of them gets.
            remove_tags: tags that none of them keeps.
            preview: whether to plan only.
            fields: such as ``rating=7`` (1 to 10, ``None`` = unrated) or ``pinned=True``.

        Raises:
            EntryNotFound: there is no memory of an id. Nothing was changed, as for all below.
            InvalidParameter: a field that cannot be set for many, or a tag both to add and to remove.
            InvalidEntry: a value that cannot be taken; the message says of which memory.
        """
        self._refresh()
        with self._ledger.reading():
            revision = self._ledger.revision
            changes, left, words = edit.changes(self._ledger.find, ids, add_tags, remove_tags, fields)
        counted = f"{len(changes):,} memor{'ies' if len(changes) != 1 else 'y'}"
        title = f"Change {counted}: {words}" if changes else "Nothing to change"
        return self._done(self._tidied("edit", title, revision, changes, left), preview)

    def _one_held(self, entry_id: str) -> MemoryEntry:
        entry = self.find(entry_id)
        if entry is None:
            raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
        return entry

    def _tidied(
        self,
        operation: str,
        title: str,
        revision: int,
        changes: Sequence[Change],
        kept: Sequence[Kept] = (),
        notes: Sequence[str] = (),
        texts: tuple[TextChange, ...] = (),
    ) -> ChangeSet:
        """Planned without a ``Ground``, which reads all memories: a click on one of 100,000 has to be quick."""
        return ChangeSet(
            operation,
            title,
            tuple(changes),
            self.now,
            revision,
            author=self.author,
            kept=tuple(kept),
            notes=tuple(notes),
            texts=texts,
            agent=self.name,
        )
