"""Contents: the tables, texts and vectors that an agent is stored in, for those who build on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import numpy as np

from ..core.change_set import ChangeSet, is_text, text_given, texts_given
from ..core.entry import DECAYING, MemoryId, Tier, id_of
from ..core.languages import NAMES, languages_of
from ..core.memory import Vectors
from ..embedding.embedder import known_languages
from ..errors import InvalidParameter, OtherEmbedder, shown
from ..operations import reembed
from ..operations.context import Progress, no_progress
from ..operations.edit import ids_of
from ..operations.reembed import Reembedded
from ..recall.hybrid import TokenStates
from ..recall.table import Table
from ..store.policy import ReadOnly
from .context import Part

_READ = 200
"""How many memories are read to find the language."""
_AT_LEAST = 550_000
"""About how many bytes an open agent uses besides its tables: the journal's connections and their caches."""


class Contents(Part):
    """What an agent is stored in."""

    def text(self, name: str) -> str | None:
        """A text that is stored with the memories, such as ``conversation:`` and an id; ``None`` if there is none.

        Raises:
            InvalidParameter: the name is not a text.
        """
        if not is_text(name):
            raise InvalidParameter(f"The name of a text must be a text, not {shown(name)}.")
        self.context.refresh()
        return self.context.ledger.text(name)

    def texts(self) -> dict[str, str | None]:
        """Personality, settings, saved cues, judgments and the states of conversations as stored, by name."""
        self.context.refresh()
        return self.context.ledger.texts()

    def purged_since(self, revision: int) -> bool:
        """Whether a memory was purged by a later change than this one, so that its text is no longer shown."""
        return self.context.present().journal.bin.last_purge() > revision

    def lost(self, ids: Sequence[MemoryId]) -> set[str]:
        """Which of these memories were purged."""
        return self.context.present().journal.bin.lost(ids_of(ids))

    def done(self, change_set_id: str) -> ChangeSet | None:
        """The change set of this id, if it was carried out and is still in the history."""
        return self.context.present().journal.by_id(text_given("change_set_id", change_set_id))

    @property
    def tokens(self) -> TokenStates:
        """The token states that relevancies are computed from."""
        return self.context.tokens

    def cast(self) -> Sequence[str]:
        """The names of the characters of its world; empty if it was opened without them."""
        return () if self.context.knows is None else self.context.knows.knowledge.cast()

    def embedded(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts, shape (n, d), by the embedder in use; they are not stored."""
        return self.context.embedder.embed(texts_given("texts", texts))

    def cue_vector(self, cue: str) -> Vectors:
        """The vector that a cue is compared with, shape (d,)."""
        vector: Vectors = self.context.cue_vectors([text_given("cue", cue)])[0]
        return vector

    @contextmanager
    def shelf(self, tier: Tier) -> Iterator[Table]:
        """The table of a tier, which does not change while it is read. Do not change it."""
        with self.still():
            yield self.context.ledger.tables[tier]

    @contextmanager
    def still(self, cues: Sequence[str] = ()) -> Iterator[None]:
        """Keep all tables unchanged: several questions within the block wait for others once, and see one moment.

        Args:
            cues: what will be asked; embedded first, as that takes longest.
        """
        if asked := texts_given("cues", cues):
            self.context.cue_vectors(asked)
        self.context.refresh()
        with self.context.ledger.reading():
            yield

    @property
    def is_damaged(self) -> bool:
        """Whether its journal is damaged, so that it is shown from its store, from which a new one can be made."""
        policy = self.context.policy
        return isinstance(policy, ReadOnly) and policy.damaged

    @property
    def size(self) -> int:
        """About how many bytes of memory it uses, mostly for its tables."""
        return _AT_LEAST + sum(table.size for table in self.context.ledger.tables.values())

    @property
    def to_rate(self) -> int:
        """How many memories of STM and LTM wait for their rating by a language model."""
        with self.still():
            return sum(len(self.context.ledger.tables[tier].to_rate) for tier in DECAYING)

    @property
    def waits_for_rating(self) -> bool:
        """Whether anything in short-term memory is to be rated by a language model and is not yet."""
        with self.context.ledger.reading():
            return bool(self.context.ledger.tables[Tier.STM].to_rate)

    def flush(self) -> None:
        """Write the recalls that are not written yet, now.

        Raises:
            StoreError: it cannot be written; it is tried again later.
        """
        if self.context.held is not None:
            self.context.held.flush()

    def rest(self) -> bool:
        """Free the memory of what can be read again at the next recall, which is most of it.

        It does not wait: if somebody is reading or writing at this moment, it does nothing and returns ``False``.
        """
        ledger = self.context.owner()
        with ledger.turns.at_once() as nobody_else:
            for table in ledger.tables.values() if nobody_else else ():
                table.rest()
        return nobody_else

    def sleep(self) -> None:
        """Close the agent for a while: a little that its store lacks is written when it is opened again.

        Raises:
            StoreError: the last accesses could not be written.
        """
        self.context.owner().close(asleep=True)

    def let_go(self) -> None:
        """Release the tables of a closed agent; the rest of it is small, and Python may free it later."""
        if self.context.held is not None:
            self.context.held.tables.clear()

    @property
    def waiting_for_vectors(self) -> int:
        """How many memories have no vector of the embedder in use, and are not found by meaning."""
        with self.context.ledger.reading():
            return sum(len(table.rows_without_vector()) for table in self.context.ledger.tables.values())

    @property
    def of_another_embedder(self) -> bool:
        """Whether an embedder other than the one in use made its vectors, so that nothing is recalled or changed."""
        return self.embedder_problem is not None

    @property
    def embedder_problem(self) -> str | None:
        """A sentence that another embedder made its vectors, and what to do; ``None`` if it was the one in use."""
        try:
            self.context.ledger.refuse_other_embedder()
        except OtherEmbedder as error:
            return error.sentence
        return None

    @property
    def languages(self) -> dict[str, int]:
        """How many memories are in each language, by its code of ISO 639-1, the most common first.

        It reads STM and LTM, or static memory if they are empty: at most 200 memories, evenly spread.
        """
        with self.context.ledger.reading():
            tables = self.context.ledger.tables
            lived = [tables[tier] for tier in DECAYING]
            read = lived if any(map(len, lived)) else [tables[Tier.STATIC]]
            step = -(-sum(map(len, read)) // _READ) or 1
            return languages_of(table.entries.document(row) for table in read for row in range(0, len(table), step))

    @property
    def poor_recall(self) -> str:
        """Why recall will be poor, in a sentence; empty if the embedder knows the language of most memories."""
        known = known_languages(self.context.embedder)
        if known is None:
            return ""
        found = self.languages
        strange = [name for name in found if name not in known]
        count = sum(found[name] for name in strange)
        if not count or 2 * count <= sum(found.values()):
            return ""
        names = " and ".join(NAMES[name] for name in strange[:2])
        return (
            f"Most of these memories are in {names}, which the embedder {self.context.embedder.identity} was not made "
            "for: recall will be poor. Choose another one, such as “multilingual”."
        )

    def alone(self) -> AbstractContextManager[None]:
        """Within the block, no other thread or process writes this agent; for moving its files."""
        return self.context.owner().writing()

    def at_rest(self) -> AbstractContextManager[None]:
        """As ``alone``, for copying its files: within the block they are as if the agent were closed."""
        return self.context.owner().at_rest()

    def vector(self, entry_id: MemoryId) -> Vectors | None:
        """The vector, shape (d,), float32, of a memory; ``None`` if it has none of the embedder in use.

        Raises:
            EntryNotFound: there is no such memory.
        """
        entry_id = id_of(entry_id)
        with self.context.ledger.reading():
            entry = self.context.entry(entry_id)
            vector = self.context.ledger.tables[entry.tier].vector(entry_id)
            return None if not vector.size or np.isnan(vector).any() else vector.copy()

    def reembed(self, *, progress: Progress = no_progress, cancelled: Callable[[], bool] = lambda: False) -> Reembedded:
        """Make the vectors of all memories that have none of the embedder in use, and rebuild their store.

        If it is stopped or killed, the next call goes on from there. Memories can be recalled and changed meanwhile.
        The history shows it, as a change of no memory.

        Args:
            progress: called with the share done, 0 to 1, and what is being done.
            cancelled: called between batches, to ask whether to stop.

        Raises:
            ReadOnly: the agent can only be read.
            EmbedderError: a text could not be embedded; those before it are done.
        """
        return reembed.reembed(
            self.context.writer(), self.context.clock(), self.context.author, progress, cancelled, self.context.tell
        )
