"""AgentEditor: what a person or a game changes in an agent's memory by hand, each change journalled and undoable."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Self, cast

from ..core.change_set import ChangeSet, is_text
from ..core.entry import Tier
from ..core.files import as_store_errors
from ..core.settings import AgentSettings
from ..core.times import Clock
from ..embedding.embedder import Embedder
from ..errors import Conflict, InvalidParameter, InvalidPersonality, StaleChange
from ..llm import LanguageModel
from ..operations import edit as curation
from ..operations.context import Progress
from ..recall.hybrid import TokenStates
from ..store.ledger import Ledger
from ..store.personality_file import PersonalityFile
from ..store.viewer import OnlookersLedger
from .reader import AgentReader, no_progress

Applying = Callable[[ChangeSet], None]
"""Is told a change set that is going to be applied."""


class AgentEditor(AgentReader):
    """The curating half: edit, pin, forget, restore, settings, personality.

    Each method answers the change set that was applied; with ``preview=True`` it answers it unapplied and
    changes nothing.
    """

    _ledger: Ledger

    def __init__(
        self,
        name: str,
        ledger: Ledger,
        embedder: Embedder,
        model: LanguageModel,
        clock: Clock,
        file: PersonalityFile,
        author: str,
        tokens: TokenStates | None = None,
    ) -> None:
        super().__init__(name, ledger, embedder, model, clock, tokens)
        self._file = file
        self.author = author
        self._applying: Applying | None = None

    def acting_as(self, author: str, applying: Applying | None = None) -> Self:
        """The same memory, whose changes the history tells as this author's.

        Args:
            author: who is behind them.
            applying: called with each change set right before it is applied or noted, in the thread that does it, so
                that a caller can tell its own changes by their ids from those of others.
        """
        if not is_text(author) or not author.strip():
            raise InvalidParameter("The author must be a text, such as the name of a script.")
        other = copy.copy(self)
        other.author = author
        other._applying = applying
        return other

    def looked_at(self, why: str) -> Self:
        """The same memory for somebody who may look and change nothing; ``why`` is the sentence that refuses it."""
        other = copy.copy(self)
        other._ledger = cast("Ledger", OnlookersLedger(self._ledger, why))
        return other

    def edit(self, entry_id: str, *, preview: bool = False, **fields: Any) -> ChangeSet:
        """Change fields of one memory; see ``curation.EDITABLE``.

        Raises:
            EntryNotFound, Immutable, InvalidParameter, InvalidEntry: it cannot be changed so.
        """
        return self._done(curation.edit(self._ground(None), self.find, entry_id, fields), preview)

    def forget(self, ids: str | Sequence[str], *, preview: bool = False) -> ChangeSet:
        """Take memories out of recall; ``restore`` or ``undo`` bring them back."""
        return self._done(curation.forget(self._ground(None), self.find, ids), preview)

    def restore(self, ids: str | Sequence[str], *, preview: bool = False) -> ChangeSet:
        """Bring forgotten memories back as they last were, such as the sources of a summary."""
        last = self._ledger.journal.last_version
        return self._done(curation.restore(self._ground(None), self.find, last, ids), preview)

    def configure(self, *, preview: bool = False, **settings: Any) -> ChangeSet:
        """Change the agent's settings, such as ``stm_size=50``; see ``AgentSettings``.

        Raises:
            InvalidParameter: an unknown setting, or a value out of its range.
        """
        held = self._ledger.text("settings")
        after = AgentSettings.from_json(held).evolve(**settings)
        return self._done(curation.configure(self._ground(None), held, after), preview)

    def save_personality(self, text: str, *, expected: str | None = None, preview: bool = False) -> ChangeSet:
        """Take a JSON text as the static memory, in the file and in recall; only changed facts are embedded.

        Args:
            text: the whole personality.
            expected: the text that the author began with, if it must still be in use.
            preview: whether to plan only.

        Raises:
            InvalidPersonality: all that is wrong with it, by line and field. Nothing was changed.
            StaleChange: somebody else changed it since. Nothing was changed.
        """
        if not isinstance(text, str):
            raise InvalidParameter(f"The personality must be JSON text, not a {type(text).__name__}.")
        if not preview:
            self._ledger.refuse_read_only()
        self._refresh()
        held = self.personality_text
        if expected is not None and expected != held:
            raise StaleChange("Somebody else has changed this personality since you loaded it. Load it again.")
        source = self._file.path.name
        plan = curation.personality(self._ground(None), held, text, self.entries(Tier.STATIC), source)
        if not preview:
            with as_store_errors(source):
                self._file.set_aside_if_broken()
                if not plan:
                    self._file.write_if_missing(text)
        return self._done(plan, preview)

    @property
    def personality_on_disk(self) -> str | None:
        """The text of the personality file, good or broken; ``None`` where nothing can be read."""
        return self._file.text()

    def put_personality_back(self) -> None:
        """Write the personality in use into its file; a broken file is kept beside it, under another name.

        Raises:
            Conflict: there is nothing in use to write.
        """
        text = self.personality_text
        if text is None:
            raise Conflict("No good personality has been in use yet, so there is none to put back.")
        self._ledger.refuse_read_only()
        with self._ledger.writing(), as_store_errors(self._file.path.name):
            self._file.put_back(text)

    # -- history ---------------------------------------------------------------------------------------

    def apply(self, change_set: ChangeSet) -> ChangeSet:
        """Carry out a previewed change set, once; answers it with its revision.

        Raises:
            StaleChange: what it touches has changed since. Nothing was changed.
        """
        self._tell(change_set)
        return self._ledger.apply(change_set)

    def _tell(self, change_set: ChangeSet) -> None:
        """Tell whoever acts what is going to stand in the history."""
        if self._applying is not None:
            self._applying(change_set)

    def rate_again(
        self, ids: str | Sequence[str], *, preview: bool = False, progress: Progress = no_progress
    ) -> ChangeSet:
        """Rate memories (again); those that the model cannot rate stay as they are."""
        return self._done(curation.rate_again(self._ground(None, progress), self.find, ids), preview)

    def _done(self, plan: ChangeSet, preview: bool) -> ChangeSet:
        return plan if preview else self.apply(plan)

    @property
    def personality_problem(self) -> str | None:
        """What is wrong with the personality file on disk, while the last good one is in use; else ``None``."""
        return self._file.problem(self.personality_text)

    def _refresh(self) -> None:
        """Re-index what changed in the personality file, if somebody edited it on disk."""
        try:
            if self._ledger.read_only or self._file.edited() is None:
                return
            with self._ledger.writing():
                text = self._file.edited()
                self._file.seen()
                held = self.personality_text
                if text is not None and text != held:
                    with self._ledger.reading():
                        static = list(self._ledger.tables[Tier.STATIC].entries)
                    file = self._file.path.name
                    plan = curation.personality(self._ground(None), held, text, static, file)
                    self._ledger.apply(dataclasses.replace(plan, author=f"file {file}"))
        except (InvalidPersonality, StaleChange):
            self._file.seen()  # ``personality_problem`` tells; the last good one stays in use
