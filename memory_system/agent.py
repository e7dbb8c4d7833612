"""AgentMemory: one agent's memory, as every front end sees it. Thread-safe; two processes may hold one agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from .agent_parts.rater import AgentRater
from .agent_parts.reader import no_progress
from .core.authors import running_script
from .core.change_set import ChangeSet
from .core.entry import MemoryEntry
from .core.files import as_store_errors, refuse_links
from .core.names import checked_name
from .core.scoring import Scoring, in_range, whole
from .core.settings import Settings
from .core.times import Clock
from .embedding.embedder import CachedEmbedder, Embedder, MiniLM
from .errors import AgentNotFound
from .llm import LanguageModel, tasks
from .llm.metered import Once
from .llm.offline.model import OfflineModel
from .operations import edit, migration, planning, reflection, summarisation
from .operations.context import Progress
from .operations.importing.events import Added, Events, read
from .recall.hybrid import TokenStates
from .recall.query import Facets
from .recall.rank import Recall
from .store.clock import world_clock
from .store.journal.moving import Journals
from .store.personality_file import PersonalityFile
from .store.read_only import open_ledger
from .store.server_notice import warn_if_served


class AgentMemory(AgentRater):
    """The memory of one agent: static memory from its personality, STM and LTM in Chroma, all journalled.

    Operations that change something answer the change set that was applied. With ``preview=True`` they
    answer it unapplied and change nothing; ``apply`` carries it out later, without asking a language model
    again. Wherever ``now`` may be given it is the world's time, aware of its zone; the world's clock
    otherwise.

    Args:
        name: the agent's name.
        database: the folder of all worlds.
        world: the world's name; its folder is ``database/world``. From the environment if not given.
        personalities: the folder of the personality files.
        embedder: texts to vectors; all-MiniLM-L6-v2 if not given.
        model: the language model; the offline rules if not given (a ``World`` chooses by the environment).
        clock: the world's time; its own clock if not given.
        author: who is behind the changes, as the history tells it; the running script's name if not given.
        tokens: token states that are shared with other agents, as a ``World`` does.
        durability: what a change survives, ``full`` or ``normal`` (see ``Settings``); the settings' if not given.
        settings: of the installation, for what is not given otherwise; from the environment if not given.
        at_once: how many memories may be rated at a time, 1 to 64; the environment's if not given.
        once: ratings that are kept so that the same text is rated once, shared with other agents, as a ``World`` does.
        journals: where journals are, as a ``World`` knows it; by the settings if not given.

    Raises:
        InvalidAgentName: the name cannot be used.
        AgentNotFound: there is neither a personality nor a folder of this name.
        StoreError: the files cannot be used.
    """

    def __init__(
        self,
        name: str,
        *,
        database: str | Path | None = None,
        world: str | None = None,
        personalities: str | Path | None = None,
        embedder: Embedder | None = None,
        model: LanguageModel | None = None,
        clock: Clock | None = None,
        author: str = "",
        tokens: TokenStates | None = None,
        durability: str | None = None,
        settings: Settings | None = None,
        at_once: int | None = None,
        once: Once | None = None,
        journals: Journals | None = None,
    ) -> None:
        with as_store_errors(f"The agent {str(name)[:64]!r}"):
            settings = settings or Settings()
            checked = checked_name(name)
            world_folder = Path(database or settings.database) / checked_name(world or settings.world, "world name")
            file = PersonalityFile(Path(personalities or settings.personalities) / f"{checked}.json")
            folder = world_folder / checked
            if tokens is None:  # a world that opens its agents has looked itself
                warn_if_served(world_folder)
            if not file.path.exists() and not folder.exists():
                raise AgentNotFound(
                    f"There is no agent {checked!r}: neither {file.path} nor {folder} is there. "
                    'Write the personality file; {"identity": {"name": "..."}} is enough.'
                )
            refuse_links(folder)
            embedder = embedder or CachedEmbedder(MiniLM(settings.cache))
            self._own = None if journals else Journals(settings.journal_url, durability or settings.durability)
            try:
                ledger = open_ledger(
                    folder, file.path, embedder, journals=journals or self._own, chroma=settings.chroma
                )
            except BaseException:
                self._let_go_of_server()
                raise
        clock = clock or world_clock(world_folder)
        model, author = model or OfflineModel(embedder), author or running_script()
        super().__init__(checked, ledger, embedder, model, clock, file, author, tokens)
        self._rate_with(settings.llm_at_once if at_once is None else whole("at_once", at_once, 1, 64), once or Once())
        try:
            self._refresh()
        except BaseException:
            self.close()
            raise

    @property
    def gone(self) -> bool:
        """Whether it was closed, or its files were moved, deleted or replaced by somebody else."""
        return self._ledger.gone

    def close(self) -> None:
        """Let go of all files; the agent is not used afterwards."""
        try:
            self._ledger.close()
        finally:
            self._let_go_of_server()

    def _let_go_of_server(self) -> None:
        if self._own is not None:
            self._own.close()

    def alone(self) -> AbstractContextManager[None]:
        """Within it, no other thread or process writes this agent; for those who move its files."""
        return self._ledger.writing()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- recall ---------------------------------------------------------------------------------------

    def query_memory(
        self,
        prompt: str,
        top_k: int | None = None,
        threshold: float | None = None,
        *,
        now: datetime | None = None,
        static_threshold: float | None = None,
        static_share: float | None = None,
        scoring: Scoring | None = None,
        facets: Facets | None = None,
        requery: int = 0,
        touch: bool = True,
    ) -> Recall:
        """The memories that answer a cue: static first, then STM, then LTM while the answer is short.

        It is logged with its answer, so that it can be lived through again; see ``queries`` and ``relive``.

        Args:
            prompt: the cue, 1 to 32,000 characters.
            top_k: most memories to recall, 0 to 10,000; the agent's setting (5) if not given, as for all below.
            threshold: the score to exceed, 0 to 30 (0.45).
            now: the world's time.
            static_threshold: the score that static memory has to exceed, 0 to 1 (0.35).
            static_share: the share of the seats that static memory may take while others wait, 0 to 1 (0.4).
            scoring: weights, decay and measure of relevancy (the preset ``balanced``).
            facets: which memories may be found at all; all if not given.
            requery: how many of the best hits become cues of a second round for the seats left free, 0 to 20.
            touch: whether what is recalled counts as accessed now, which renews its recency.

        Returns:
            The recalled memories with their scores and parts; ``context`` is a text for a prompt.

        Raises:
            InvalidParameter: a parameter is out of its range.
        """
        query = self._query(prompt, top_k, threshold, now, static_threshold, static_share, scoring, facets, requery)
        parameters = {
            "top_k": top_k,
            "threshold": threshold,
            "static_threshold": static_threshold,
            "static_share": static_share,
            "scoring": scoring,
        }
        given = tuple(name for name, value in parameters.items() if value is not None)
        return self._asked(query, given, touch=touch)

    # -- operations ------------------------------------------------------------------------------------

    def add_short_term(
        self,
        events: Events,
        *,
        overwrite_existing: bool = True,
        rate: bool = True,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Added:
        """Remember events in STM, each rated on arrival.

        Args:
            events: an entry, a mapping, a list of either, or the path of a JSON file in the form
                ``{"documents": [...], "metadatas": [...], "ids": [...]}``.
            overwrite_existing: whether an id that STM holds is overwritten; it is skipped otherwise.
            rate: whether the language model is asked about events without a rating.
            now: the time of events that have none.
            preview: whether to plan only.
            progress: told how far it is.
            cancelled: asked now and then whether to stop rating; what is not rated by then is stored unrated.

        Returns:
            What became of each event, or would become of it. One that could not be rated is stored, unrated; see
            ``rate_unrated``.

        Raises:
            InvalidEntry, InvalidFile: an event cannot be taken; none is taken then.
            Immutable: an id belongs to static memory.
        """
        entries = read(events, self._time(now))
        ground = self._ground(now, progress)
        plan, outcomes = edit.add(
            ground, entries, self._ledger.find, overwrite=overwrite_existing, rate=rate, cancelled=cancelled
        )
        return Added(outcomes, self._done(plan, preview))

    def rate(self, text: str) -> tasks.Rating:
        """How poignant a text is, 1 to 10, and why; stores nothing.

        Raises:
            InvalidEntry: the text cannot be a memory.
            ModelError: the language model did not help.
        """
        return self.model.complete(tasks.rate(MemoryEntry(text, id="to be rated").document)).answer

    def migrate_stm2ltm(
        self,
        threshold: float | None = None,
        *,
        ids: str | Sequence[str] | None = None,
        now: datetime | None = None,
        preview: bool = False,
    ) -> ChangeSet:
        """Move what STM has no room for to LTM if its importance exceeds ``threshold`` (0 to 1), else forget it.

        With ``ids`` the chosen entries move, whatever their importance. Pinned and protected entries stay; so does
        what is unrated, and what a person wrote is never forgotten by this.

        Raises:
            InvalidParameter, EntryNotFound: the threshold or an id is wrong.
        """
        ground = self._ground(now)
        chosen = None if ids is None else edit.listed(ids)
        limit = ground.settings.migration_threshold if threshold is None else threshold
        return self._done(migration.plan(ground, in_range("The threshold", limit, 0, 1), chosen), preview)

    def summarize_and_forget(
        self,
        k: int = 10,
        *,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> ChangeSet:
        """Replace the ``k`` (2 to 500) least important LTM entries by one summary that keeps their ids and dates.

        Raises:
            InvalidParameter: ``k`` is out of its range.
            ModelError: the language model did not help. Nothing was changed.
        """
        count = whole("k", k, 2, 500)
        return self._done(summarisation.plan(self._ground(now, progress), count), preview)

    def reflect_from_recent_memory(
        self,
        *,
        only_if_due: bool = False,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> ChangeSet:
        """Draw insights from recent STM and keep them in LTM with the ids of their evidence.

        With ``only_if_due`` nothing happens until the ratings since the last reflection add up to the
        agent's ``reflection_trigger`` (150).

        Raises:
            ModelError: the language model did not help. Nothing was changed.
        """
        return self._done(reflection.plan(self._ground(now, progress), only_if_due=only_if_due), preview)

    def plan_from_memory(
        self,
        now: datetime | None = None,
        *,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> ChangeSet:
        """Plan the rest of the day in timed actions, kept in LTM; the old plan of that day is replaced.

        Raises:
            ModelError: the language model did not help. Nothing was changed.
        """
        routine = self.personality.routine if self.personality else []
        return self._done(planning.plan(self._ground(now, progress), routine), preview)

    def reset_memory(self, *, preview: bool = False) -> ChangeSet:
        """Empty STM and LTM; the personality, pinned and protected memories stay, and ``undo`` brings all back."""
        return self._done(edit.reset(self._ground(None)), preview)
