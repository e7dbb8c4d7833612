"""Duplicates: memories that may be duplicates or contradict each other, found and settled."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..core.change_set import ChangeSet, TextChange, excerpt
from ..core.dismissed import Dismissed, dump_dismissed, fingerprint, of_texts, parse_dismissed
from ..core.entry import DECAYING, MemoryId, id_of
from ..core.scoring import in_range, whole
from ..errors import InvalidParameter
from ..llm.offline.model import OfflineModel
from ..operations import edit
from ..operations.context import Progress, no_progress, refuse_uncallable
from ..operations.duplicates import second_opinion, suspicions
from ..operations.duplicates.suspicions import RELATED, THRESHOLD, Look, MemoryTable, Suspicion
from ..recall.table import KINDS
from .context import Part


class Duplicates(Part):
    """Suspicions, and a person's decisions on them. Each is one change set, which one undo takes back."""

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

        Every pair is compared by its vectors; related pairs are searched for negations, numbers, times and opposites,
        and read by the language model, if there is one. Memories can be recalled and changed meanwhile.

        Args:
            threshold: the cosine from which two memories count as duplicates, 0.7 to 1.
            ask_model: whether the language model is asked about the pairs; the offline rules are never asked.
            limit: how many suspicions of each sort at most, 1 to 10,000.
            progress: called with the progress so far; it may raise to cancel.

        Returns:
            The suspicions, without those that a person has dismissed; each says why it is one.

        Raises:
            InvalidParameter: a parameter is out of its range.
        """
        least = in_range("The threshold", threshold, RELATED, 1)
        most = whole("limit", limit, 1, 10_000)
        self.context.refresh()
        refuse_uncallable(progress=progress)
        dismissed = self.dismissed
        with self.context.ledger.reading():
            tables = [self.context.ledger.tables[tier] for tier in DECAYING]
            copies = [
                MemoryTable(
                    table.entries.copied(),
                    table.vectors.copy(),
                    [KINDS[number] for number in table.columns["kind"][: len(table)].tolist()],
                )
                for table in tables
            ]
        asks = ask_model and self.context.model.name != OfflineModel.name
        share = 0.6 if asks else 1.0
        found = suspicions.look(
            copies,
            dismissed,
            threshold=least,
            now=self.context.clock(),
            limit=most,
            progress=lambda done, doing: progress(share * done, doing),
        )
        if not asks:
            return found
        return second_opinion.ask(
            found,
            self.context.display_name,
            self.context.model,
            lambda done, doing: progress(share + (1 - share) * done, doing),
        )

    def still(self, look: Look) -> Look:
        """Those earlier suspicions that still hold: their memories are unchanged, and nobody dismissed them since."""
        known = set(self.dismissed)
        return dataclasses.replace(
            look,
            suspicions=tuple(
                suspicion for suspicion in look.suspicions if self._stands(suspicion) and suspicion.mark not in known
            ),
        )

    def _stands(self, suspicion: Suspicion) -> bool:
        found = (self.context.find(entry.id) for entry in suspicion.entries)
        return all(
            now is not None and now.document == then.document
            for now, then in zip(found, suspicion.entries, strict=True)
        )

    @property
    def dismissed(self) -> tuple[Dismissed, ...]:
        """What a person has dismissed as neither a duplicate nor a contradiction."""
        return self.context.parsed("dismissed", parse_dismissed)

    # -- settling --------------------------------------------------------------------------------------

    def merge(
        self, ids: Sequence[MemoryId], text: str | None = None, *, keep: MemoryId | None = None, preview: bool = False
    ) -> ChangeSet:
        """Merge several memories into one; the others are forgotten, and can be restored.

        The one that stays gets the tags and the evidence of all and the importance of the most important, and counts
        as written by a person if one of them does; its time, kind and other metadata are its own. What rested on
        another now rests on it, and saved cues and judgments that named another name it.

        Args:
            ids: two memories or more, at most 1,000, or their ids.
            text: what it says; its own text if not given.
            keep: the one that stays, or its id, one of ``ids``; the first if not given.
            preview: whether to plan only.

        Raises:
            EntryNotFound, Immutable: an id has no memory, or it is a fact of the personality.
            InvalidParameter: there are fewer than two memories, or ``keep`` is not among them.
            InvalidEntry: the text cannot be a memory.
            Conflict: a memory that would be forgotten is pinned.
        """
        stays = None if keep is None else id_of(keep)
        return self.context.planned_and_done(lambda: self._merging(edit.ids_of(ids), text, stays), preview)

    def _merging(self, ids: list[str], text: str | None, keep: str | None) -> ChangeSet:
        self.context.refresh()
        with self.context.ledger.reading():
            revision = self.context.ledger.revision
            tables = [self.context.ledger.tables[tier] for tier in DECAYING]
            every = [entry for table in tables for entry in table.entries]
            changes, left, notes = edit.merged(self.context.ledger.find, ids, keep, text, every)
            kept = ids[0] if keep is None else keep
            texts = edit.renamed_texts(self.context.ledger.text, set(ids) - {kept}, kept)
        stays = next(
            (change.after for change in changes if change.entry_id == kept and change.after), None
        ) or self.context.find(kept)
        assert stays is not None, "it was found a moment ago"
        title = f"Merge {len(ids):,} memories into {excerpt(stays.document)}"
        return self.context.plan("merge", title, changes, texts=texts, kept=left, notes=notes, revision=revision)

    def dismiss(self, ids: Sequence[MemoryId], *, preview: bool = False) -> ChangeSet:
        """Record that these memories are neither duplicates nor contradictions; they are not suspected again.

        It is stored by their texts: a memory that is edited may be suspected again.

        Args:
            ids: two memories, or more that hold the same text, or their ids.
            preview: whether to plan only.

        Raises:
            EntryNotFound: an id has no memory.
            InvalidParameter: there is only one memory, or there are more than two different texts.
        """
        return self.context.planned_and_done(lambda: self._dismissing_one(edit.ids_of(ids)), preview)

    def _dismissing_one(self, ids: Sequence[str]) -> ChangeSet:
        entries = [self.context.entry(entry_id) for entry_id in ids]
        texts = {fingerprint(entry.document) for entry in entries}
        if len(entries) < 2 or len(texts) > 2:
            raise InvalidParameter("A suspicion concerns two memories, or several with the same text.")
        record = of_texts(entry.document for entry in entries)
        what = f"{excerpt(entries[0].document)} and {excerpt(entries[1].document)}"
        with self.context.ledger.reading():
            after = self.dismissed if record in self.dismissed else (*self.dismissed, record)
            return self._dismissing(after, f"Leave as they are: {what}")

    def suspect_again(self, *, preview: bool = False) -> ChangeSet:
        """Take back every dismissal, so that all suspicions are listed again."""
        return self.context.planned_and_done(
            lambda: self._dismissing((), f"Look again at {len(self.dismissed)} dismissed suspicions"), preview
        )

    def _dismissing(self, after: tuple[Dismissed, ...], title: str) -> ChangeSet:
        with self.context.ledger.reading():
            before, revision = self.context.ledger.text("dismissed"), self.context.ledger.revision
        text = before if after == self.dismissed else dump_dismissed(after)
        texts = (TextChange("dismissed", before, text),) if text != before else ()
        return self.context.plan("dismiss", title if texts else "Nothing to change", texts=texts, revision=revision)
