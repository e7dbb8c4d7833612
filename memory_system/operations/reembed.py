"""Making vectors again: for another embedding model, or for a store with another distance."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ..core.change_set import ChangeSet, counted, so_many
from ..store.journal.vectors import content_hash, rounded
from ..store.ledger import REEMBED, Ledger
from .context import Progress, refuse_uncallable

BATCH = 64
"""How many texts at a time: what a stop can lose, and how long a writer waits."""


@dataclass(frozen=True)
class Reembedded:
    """The result of re-embedding.

    Args:
        embedded: how many texts were embedded.
        waiting: how many memories still have no vector because it was stopped.
        store_made_anew: whether the store was written from the journal.
    """

    embedded: int
    waiting: int
    store_made_anew: bool

    @property
    def done(self) -> bool:
        """Whether every memory has its vector."""
        return not self.waiting


def reembed(
    ledger: Ledger,
    now: datetime,
    author: str,
    progress: Progress,
    cancelled: Callable[[], bool],
    tell: Callable[[ChangeSet], None] = lambda _noted: None,
) -> Reembedded:
    """Embed what has no vector, batch by batch, and then rewrite the store if it has other vectors.

    ``tell`` is called with what will be noted in the history.

    Raises:
        ReadOnly: nothing can be written.
        EmbedderError: a text could not be embedded.
    """
    ledger.policy.refuse()
    refuse_uncallable(progress=progress, cancelled=cancelled)
    identity = ledger.embedder.identity
    with ledger.reading():
        texts = list(dict.fromkeys(entry.document for entry in ledger.without_vector()))
    embedded = 0
    for start in range(0, len(texts), BATCH):
        if cancelled():
            break
        progress(0.8 * start / len(texts), f"Embedding {start:,} of {so_many(len(texts))}")
        batch = texts[start : start + BATCH]
        vectors = dict(zip(map(content_hash, batch), rounded(ledger.embedder.embed(batch)), strict=True))
        ledger.keep_vectors(vectors)
        embedded += len(batch)
    with ledger.reading():
        waiting = len(ledger.without_vector())
    rebuilt = False
    if not waiting and not cancelled():
        rebuilt = _write_store(ledger, progress)
    if embedded or rebuilt:
        title = f"Embedded {so_many(embedded)} with {identity}" + (", and rebuilt the store" if rebuilt else "")
        notes = (f"{counted(waiting, 'memory waits', 'memories wait')} for a vector.",) if waiting else ()
        noted = ChangeSet(REEMBED, title, (), now, ledger.revision, author=author, notes=notes)
        tell(noted)
        ledger.note(noted)
    progress(1.0, "Done" if not waiting else "Stopped")
    return Reembedded(embedded, waiting, rebuilt)


def _write_store(ledger: Ledger, progress: Progress) -> bool:
    progress(0.8, "Looking at the store")
    aside = ledger.make_store_anew(lambda share: progress(0.8 + 0.2 * share, "Writing the store"))
    if aside is None:
        return False
    shutil.rmtree(aside, ignore_errors=True)  # the journal keeps its former vectors
    return True
