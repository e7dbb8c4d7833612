"""Exporting: a character as a file for people and other programs. It only reads, and touches nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.change_set import is_text
from ..core.entry import DECAYING, Tier
from ..core.personality import is_portrait
from ..errors import StoreError
from ..operations.exporting import Character, Exported, Form, Remembered, exported, form_of, rows
from ..store.staleness import KEEP, Trace
from .context import Part


class Exporting(Part):
    """A character as a file."""

    def export_as(self, form: Form | str = Form.CARD_PNG) -> Exported:
        """The character as a file: a character card, a dossier, a folder of Markdown, JSON lines or a table.

        An imported card is exported as it came, as far as the character is still the same: unknown ``extensions``,
        greetings and notes stay. All that it is and remembers now is in the lorebook. ``import_material`` reads back
        all forms but the dossier. No access time is changed, and only JSON lines contain access times.

        Args:
            form: see ``Form``; or the name of a file, whose ending decides.

        Returns:
            The file, with its name, media type and bytes, and notes on what is not in it.

        Raises:
            InvalidParameter: there is no such form.
        """
        kind = form_of(form)
        return exported(self.character(), kind)

    def character(self) -> Character:
        """Who it is and what it remembers at one moment, as the source of exports."""
        context = self.context
        context.refresh()
        with context.ledger.reading():
            lived = [entry for tier in DECAYING for entry in context.entries(tier)]
            portrait, text = (context.ledger.text(name) for name in ("portrait", "personality"))
            stale, traces = self._history([entry.id for entry in lived])
            memories = []
            for entry in lived:
                own = traces.get(entry.id, ())
                written = [trace.author for trace in own if trace.before is None or _rewrites(trace)]
                holds = entry.id not in stale
                verified = holds and (entry.authored or any(trace.operation == KEEP for trace in own))
                memories.append(Remembered(entry, written[-1] if written else "", verified, stale.get(entry.id, ())))
            return Character(
                context.name,
                context.display_name,
                context.clock(),
                context.personality,
                text,
                tuple(context.entries(Tier.STATIC)),
                tuple(memories),
                context.ledger.text("card"),
                portrait if is_text(portrait) and is_portrait(portrait) else None,
                rows.about(context.name, context.embedder.identity, text, context.policy.why),
            )

    def _history(self, ids: Sequence[str]) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, Sequence[Trace]]]:
        """What is stale, by id and why, and what was done with memories; empty if the journal is damaged."""
        evidence = self.context.ledger.journal.evidence
        try:
            stale = {
                memory.entry.id: tuple(alteration.sentence for alteration in memory.alterations)
                for memory in evidence.stale()
            }
            return stale, evidence.traces(ids)
        except StoreError:
            return {}, {}


def _rewrites(trace: Trace) -> bool:
    return trace.before is not None and trace.after is not None and trace.before.document != trace.after.document
