"""AgentMemory: one agent's memory, as every front end sees it. Thread-safe; two processes may open one agent."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

from .agent_parts.contents import Contents
from .agent_parts.context import Applying, Context, Part
from .agent_parts.cues import Cues
from .agent_parts.curation import Curation
from .agent_parts.duplicates import Duplicates
from .agent_parts.exporting import Exporting
from .agent_parts.history import History, as_of
from .agent_parts.importing import Importing
from .agent_parts.knowledge import Knowledge, Knows, alone
from .agent_parts.plans import Plans
from .agent_parts.provenance import Provenance
from .agent_parts.rating import Rating, arriving
from .agent_parts.replay import Replay
from .agent_parts.retrieval import Retrieval, ground
from .agent_parts.trash import Trash
from .core.authors import BY_ITSELF, running_script
from .core.change_set import ChangeSet, is_text, text_given
from .core.dismissed import Dismissed
from .core.entry import MemoryEntry, MemoryId, MemoryIds, Tier, id_of
from .core.files import HeldOpen, as_store_errors, refuse_links
from .core.known import WORLD_AGENT
from .core.names import checked_name
from .core.personality import Personality, is_portrait
from .core.scoring import whole
from .core.settings import MEMORY, AgentSettings, Retention, Settings
from .core.times import Clock
from .embedding import registry as embedders
from .embedding.embedder import CachedEmbedder, Embedder
from .errors import AgentNotFound, InvalidParameter, StaleChange
from .llm import LanguageModel, tasks
from .llm.guarded import Begin
from .llm.metered import Metered, Once
from .llm.offline.model import OfflineModel
from .llm.usage import Account, Spent
from .operations import edit, migration, reflection, summarisation, synopsis
from .operations.context import Progress, no_progress, refusing_no_truth, truth, within
from .operations.importing import turns as intake
from .operations.importing.events import Added, Events, read
from .operations.retention import BESIDE, rule_of
from .recall.cues import Judgment, SavedCue
from .recall.hybrid import TokenStates
from .recall.measures import Hybrid
from .recall.query import QueryOptions
from .recall.rank import Recall
from .store.clock import world_clock
from .store.journal.as_of import Moment
from .store.journal.moving import Journals
from .store.named import THROWN_AWAY, placed
from .store.personality_file import PersonalityFile
from .store.policy import Past, Viewer
from .store.read_only import open_ledger
from .store.server_notice import warn_if_served
from .store.slot import personalities_of

_Part = TypeVar("_Part", bound=Part)
_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


def _of(
    part: Callable[[Context], _Part], method: Callable[Concatenate[_Part, _Given], _Answer]
) -> Callable[Concatenate[AgentMemory, _Given], _Answer]:
    """A method of an agent that one of its parts implements."""

    @wraps(method)
    def call(agent: AgentMemory, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Answer:
        return method(part(agent._context), *args, **kwargs)

    return call


@refusing_no_truth
class AgentMemory(HeldOpen):
    """The memory of one agent: static memory from its personality, STM and LTM in Chroma, all journalled.

    Operations that change something return the change set that was applied. With ``preview=True`` they return it
    unapplied and change nothing; ``apply`` carries it out later, without asking a language model again. ``now`` is
    the world's time, with its zone; by its clock if not given. Where ids are accepted, so are memories themselves.

    Args:
        name: the agent's name.
        database: the folder of all worlds.
        world: the world's name; its folder is ``database/world``. From the environment if not given.
        personalities: the folder of the personality files; the world's own, or the settings', if not given.
        embedder: turns texts into vectors; the one that the settings name if not given.
        model: the language model; the offline rules if not given (a ``World`` chooses by the environment).
        clock: the world's time; its own clock if not given.
        author: who is behind the changes, as the history shows it; the running script's name if not given.
        tokens: token states that are shared with other agents, as a ``World`` does.
        durability: what a change survives, ``full`` or ``normal`` (see ``Settings``); the settings' if not given.
        settings: the installation's, for everything not given here; from the environment if not given.
        at_once: how many memories may be rated at a time, 1 to 64; the environment's if not given.
        once: ratings that are kept so that a text is rated only once, shared with other agents, as a ``World`` does.
        journals: where journals are, as a ``World`` knows it; from the settings if not given.
        take_over: whether memories with vectors of another embedder are re-embedded without asking; if not given,
            only where ``embedder`` is given.
        knowledge: what the world knows, as a ``World`` passes it to its agents; from its folder if not given.

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
        take_over: bool | None = None,
        knowledge: Knowledge | None = None,
    ) -> None:
        truth("take_over", take_over)
        with as_store_errors(f"The agent {str(name)[:64]!r}"):
            settings = placed(settings or Settings())
            checked = checked_name(name)
            world_folder = Path(database or settings.database) / checked_name(world or settings.world, "world name")
            there = personalities or personalities_of(world_folder, Path(settings.personalities))
            file, folder = PersonalityFile(Path(there) / f"{checked}.json"), world_folder / checked
            if tokens is None:  # a world that opens its agents has already checked
                warn_if_served(world_folder)
            if not file.path.exists() and not folder.exists():
                raise AgentNotFound(
                    f"There is no agent {checked!r}: neither {file.path} nor {folder} is there. "
                    'Write the personality file; {"identity": {"name": "..."}} is enough.'
                )
            refuse_links(folder)
            take_over = embedder is not None if take_over is None else take_over
            embedder = embedder or CachedEmbedder(embedders.chosen(settings))
            self._own = ExitStack()
            if journals is None:
                journals = Journals(settings.journal_url, durability or settings.durability)
                self._own.callback(journals.close)
            try:
                ledger = open_ledger(
                    folder, file.path, embedder, journals=journals, chroma=settings.chroma, take_over=take_over
                )
            except BaseException:
                self._own.close()
                raise
        if settings.store == MEMORY and settings.database in world_folder.parents:
            ledger.messages.append(THROWN_AWAY)
        tokens, clock = tokens or TokenStates.of(embedder), clock or world_clock(world_folder)
        if knowledge is None and checked != WORLD_AGENT:
            options: dict[str, Any] = {"personalities": personalities, "author": author, "settings": settings}
            options |= {"embedder": embedder, "tokens": tokens, "journals": journals, "take_over": take_over}
            knowledge = alone(world_folder, AgentMemory, clock=clock, **options)
            self._own.callback(knowledge.close)
        self._context = Context(
            checked,
            embedder,
            model or OfflineModel(embedder),
            clock,
            tokens,
            Hybrid(tokens),
            ledger,
            ledger,
            ledger.policy,
            file,
            Account(ledger.folder),
            once or Once(),
            settings.llm_at_once if at_once is None else whole("at_once", at_once, 1, 64),
            author or running_script(),
            knows=None if knowledge is None or checked == WORLD_AGENT else Knows(knowledge, checked),
        )
        try:
            self._context.refresh()
        except BaseException:
            self.close()
            raise

    @classmethod
    def _over(cls, context: Context) -> Self:
        """The agent of a context."""
        agent = cls.__new__(cls)
        agent._context, agent._own = context, ExitStack()
        return agent

    # -- who it is, and as whose it is used --------------------------------------------------------------

    @property
    def name(self) -> str:
        """The agent's name."""
        return self._context.name

    @property
    def display_name(self) -> str:
        """The name in the personality, such as "Mira Holloway"; the agent's name where there is none."""
        return self._context.display_name

    @property
    def author(self) -> str:
        """Who is behind the changes, as the history shows it."""
        return self._context.author

    @property
    def now(self) -> datetime:
        """The world's time."""
        return self._context.clock()

    @property
    def embedder(self) -> Embedder:
        """What turns this agent's texts into vectors."""
        return self._context.embedder

    @property
    def model(self) -> LanguageModel:
        """The language model, whose calls are counted; it can be replaced."""
        return self._context.model

    @model.setter
    def model(self, model: LanguageModel) -> None:
        self._context.bare_model = model.inner if isinstance(model, Metered) else model

    @property
    def settings(self) -> AgentSettings:
        """The agent's own settings."""
        return self._context.settings

    @property
    def personality(self) -> Personality | None:
        """The static memory in use; ``None`` where there is none yet."""
        return self._context.personality

    @property
    def personality_text(self) -> str | None:
        """The JSON text of the static memory in use."""
        return self._context.ledger.text("personality")

    @property
    def portrait(self) -> str | None:
        """The agent's picture, as ``data:image/webp;base64,...``; ``None`` = it has none."""
        text = self._context.ledger.text("portrait")
        return text if text and is_portrait(text) else None

    @property
    def personality_problem(self) -> str | None:
        """What is wrong with the personality file on disk, while the last good one is in use; else ``None``."""
        return Curation(self._context).personality_problem

    @property
    def stamp(self) -> tuple[int, int]:
        """A key for caches: changes with every change set and every access, whichever process made it."""
        self._context.refresh()
        with self._context.ledger.reading():
            return self._context.ledger.stamp

    @property
    def revision(self) -> int:
        """The newest change set; 0 = before the first."""
        return self.stamp[0]

    @property
    def messages(self) -> tuple[str, ...]:
        """What was found and repaired when the agent was opened, as readable sentences."""
        return tuple(self._context.ledger.messages)

    @property
    def read_only(self) -> str | None:
        """Why nothing can be changed, in a sentence; ``None`` where it can."""
        return self._context.policy.why

    @property
    def moment(self) -> Moment | None:
        """Which moment of its past is shown; ``None`` = the present."""
        policy = self._context.policy
        return policy.moment if isinstance(policy, Past) else None

    @property
    def gone(self) -> bool:
        """Whether it was closed, or its files were moved, deleted or replaced by somebody else."""
        return self._context.ledger.gone

    def acting_as(self, author: str, applying: Applying | None = None) -> Self:
        """The same memory, with this author for its changes in the history.

        Args:
            author: who is behind the changes.
            applying: called with each change set right before it is applied or noted, in the thread that does it, so
                that a caller can tell its own changes from those of others by their ids.
        """
        if not is_text(author) or not author.strip():
            raise InvalidParameter("The author must be a text, such as the name of a script.")
        if self.moment is not None:  # the past cannot be changed
            return self
        return self._over(self._context.differing(author=author, applying=applying))

    def asking(self, begin: Begin) -> Self:
        """The same memory, with ``begin`` called before each call of the language model; it may refuse the call."""
        return self._over(self._context.differing(asking=begin))

    def looked_at(self, why: str) -> Self:
        """The same memory for somebody who may look but not change anything; ``why`` is the sentence of the refusal."""
        return self._over(self._context.differing(policy=Viewer(text_given("why", why))))

    def uncounted(self, model: LanguageModel) -> Self:
        """The same memory with a model of its own, whose calls are not counted: to see what would be asked."""
        return self._over(self._context.differing(bare_model=model, account=None))

    def as_of(
        self,
        at: datetime | None = None,
        *,
        revision: int | None = None,
        access: int | None = None,
        world_time: datetime | None = None,
    ) -> Self:
        """The agent as it was at a moment, read-only; it answers as it would have answered then.

        It uses the texts, tiers, ratings, last accesses, personality, settings, saved cues and history from then and,
        where no time is given, the world's time at that moment. The language model and the embedder are the present
        ones. Anything that would change it raises ``ReadOnlyPast``.

        A moment is given in one of three ways. A world has a clock of its own, which may stand still or be put back,
        so the time in the story and the real time can differ.

        Args:
            at: a real time: with what had been applied and recalled by then. A future time means the present.
            revision: a revision of the history, 0 = before the first: right after that change set.
            access: with ``revision``, the number of the last access since then, as in a logged query; if not given,
                there had been none.
            world_time: a time of the world: as it was when the world's clock last stood there, or before.

        Returns:
            A view whose ``now`` is the world's time at that moment. That time is not stored: it is taken from the last
            change set or access before the moment; if that was made within five minutes of its own real time, the
            world followed the real time, and ``now`` is ``at``. For ``world_time`` it is that time.

        Raises:
            InvalidParameter: not exactly one of the three is given, or a time has no zone.
            ChangeSetNotFound: there is no such revision.
        """
        return self._over(as_of(self._context, at, revision=revision, access=access, world_time=world_time))

    def close(self) -> None:
        """Close all files; do not use the agent afterwards. A viewer's agent stays open for the others."""
        if isinstance(self._context.policy, Viewer):
            return
        try:
            self._context.owner().close()
        finally:
            self._own.close()

    def __repr__(self) -> str:
        return f"<AgentMemory {self.name!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        if self.moment is None:  # a moment of the past holds no files
            self.close()

    # -- its parts, for what is asked less often ---------------------------------------------------------

    @property
    def retrieval(self) -> Retrieval:
        """Recall: also which parts of a memory matched a cue, and when a memory drops out of several answers."""
        return Retrieval(self._context)

    @property
    def contents(self) -> Contents:
        """How it is stored: tables, texts, vectors and token states, and exclusive use of its files."""
        return Contents(self._context)

    @property
    def timeline(self) -> History:
        """What was done since a revision, and which history it shares with its copies."""
        return History(self._context)

    @property
    def curation(self) -> Curation:
        """Its personality file, and taking over memories from another agent."""
        return Curation(self._context)

    @property
    def cues(self) -> Cues:
        """Its saved cues and judgments, also as a file."""
        return Cues(self._context)

    @property
    def duplicates(self) -> Duplicates:
        """What may be a duplicate or a contradiction, and whether it still is."""
        return Duplicates(self._context)

    # -- recall ---------------------------------------------------------------------------------------

    def query_memory(
        self,
        prompt: str,
        top_k: int | None = None,
        threshold: float | None = None,
        *,
        touch: bool = True,
        **options: Unpack[QueryOptions],
    ) -> Recall:
        """The memories that answer a cue, by the agent's rule of seats: the best of all tiers, or tier after tier.

        It is logged, to be asked again (``queries``, ``relive``); a viewer's agent and a past one are not touched.

        Args:
            prompt: the cue, 1 to 32,000 characters.
            top_k: most memories to recall, 0 to 10,000; the agent's setting (5) if not given, as for all below.
            threshold: the confidence to exceed, 0 to 1 (0.4), or the score, 0 to 30, according to ``scoring.passing``.
            touch: whether what is recalled counts as accessed now, which renews its recency.
            options: ``now``, the world's time; ``static_threshold``, what static memory has to exceed, 0 to 1 (0.4);
                ``static_share``, the share of seats that static memory may take while others wait, 0 to 1 (0.4);
                ``scoring``, weights, decay, measure and rules (the preset ``balanced``); ``facets``, which memories
                may be found at all (all); ``requery``, how many hits become cues of a second round for free seats, 0
                to 20 (0); ``instances`` of the cue, asked too, at most 20 (none); ``expand``, for how many of them the
                language model is asked, 0 to 20 (0); ``addressed``, whether it is said to the agent: "I" is not it.

        Returns:
            The recalled memories with their scores and parts; ``context`` is a text for a prompt.

        Raises:
            InvalidParameter: a parameter is out of its range.
            OtherEmbedder: the agent's vectors were made by an embedder other than the chosen one; ``reembed`` first.
        """
        return Retrieval(self._context).query_memory(prompt, top_k, threshold, touch=touch, **options)

    query = _of(Retrieval, Retrieval.query)
    answer = _of(Retrieval, Retrieval.answer)
    explain = _of(Retrieval, Retrieval.explain)
    explanation = _of(Retrieval, Retrieval.explanation)
    ways = _of(Retrieval, Retrieval.ways)
    forecast = _of(Retrieval, Retrieval.forecast)
    would_have_answered = _of(Retrieval, Retrieval.would_have_answered)
    similar = _of(Retrieval, Retrieval.similar)
    narrate = _of(Retrieval, Retrieval.narrate)
    touch = _of(Retrieval, Retrieval.touch)
    queries = _of(Replay, Replay.queries)
    relive = _of(Replay, Replay.relive)

    # -- looking ---------------------------------------------------------------------------------------

    def entries(self, tier: Tier | str) -> list[MemoryEntry]:
        """All memories of a tier, ordered by id; touches nothing."""
        return self._context.entries(tier)

    def find(self, entry_id: MemoryId) -> MemoryEntry | None:
        """The memory of this id in any tier, or ``None``; touches nothing."""
        return self._context.find(id_of(entry_id))

    def last_version(self, entry_id: MemoryId) -> MemoryEntry:
        """A memory as it is, or as it was before it was forgotten.

        Raises:
            EntryNotFound: the agent never had it.
        """
        return self._context.last_version(id_of(entry_id))

    def get_stats(self, now: datetime | None = None) -> dict[str, Any]:
        """Counts, settings, and the model and embedder in use, as plain values; touches nothing."""
        settings = self.settings
        stm, ltm = self.entries(Tier.STM), self.entries(Tier.LTM)
        return {
            "agent": self.name,
            "static": len(self.entries(Tier.STATIC)),
            "stm": len(stm),
            "stm_size": settings.stm_size,
            "ltm": len(ltm),
            "unrated": sum(1 for entry in (*stm, *ltm) if entry.rating is None),
            "reflection_weight": reflection.weight((*stm, *ltm)),
            "reflection_trigger": settings.reflection_trigger,
            "revision": self._context.ledger.revision,
            "model": self.model.label,
            "embedder": self.embedder.identity,
            "now": self._context.time(now).isoformat(),
        }

    text = _of(Contents, Contents.text)
    texts = _of(Contents, Contents.texts)
    reembed = _of(Contents, Contents.reembed)

    @property
    def waiting_for_vectors(self) -> int:
        """How many memories have no vector of the embedder in use, and are not found by meaning."""
        return Contents(self._context).waiting_for_vectors

    plan_from_memory = _of(Plans, Plans.plan_from_memory)
    plan_now = _of(Plans, Plans.plan_now)
    lineage = _of(Provenance, Provenance.lineage)
    built_on = _of(Provenance, Provenance.built_on)
    stale = _of(Provenance, Provenance.stale)
    stale_of = _of(Provenance, Provenance.stale_of)
    rederive = _of(Provenance, Provenance.rederive)
    keep_stale = _of(Provenance, Provenance.keep_stale)

    @property
    def saved_cues(self) -> tuple[SavedCue, ...]:
        """The saved cues, in the order in which they were first saved."""
        return Cues(self._context).saved_cues

    @property
    def judgments(self) -> tuple[Judgment, ...]:
        """The judgments on the answers to each cue, in the order in which the cues were first judged."""
        return Cues(self._context).judgments

    save_cue = _of(Cues, Cues.save_cue)
    remove_cue = _of(Cues, Cues.remove_cue)
    check_cues = _of(Cues, Cues.check_cues)
    judge = _of(Cues, Cues.judge)
    precision = _of(Cues, Cues.precision)
    versus = _of(Cues, Cues.versus)
    tune = _of(Cues, Cues.tune)

    @property
    def dismissed(self) -> tuple[Dismissed, ...]:
        """What a person has dismissed as neither a duplicate nor a contradiction."""
        return Duplicates(self._context).dismissed

    suspicions = _of(Duplicates, Duplicates.suspicions)
    merge = _of(Duplicates, Duplicates.merge)
    dismiss = _of(Duplicates, Duplicates.dismiss)
    suspect_again = _of(Duplicates, Duplicates.suspect_again)

    # -- history ---------------------------------------------------------------------------------------

    history = _of(History, History.history)
    history_kinds = _of(History, History.history_kinds)
    history_kept = _of(History, History.history_kept)
    change = _of(History, History.change)
    undo = _of(History, History.undo)
    redo = _of(History, History.redo)
    conflicts = _of(History, History.conflicts)
    undo_back_to = _of(History, History.undo_back_to)
    forgotten = _of(Trash, Trash.forgotten)
    count_forgotten = _of(Trash, Trash.count_forgotten)
    restore = _of(Trash, Trash.restore)
    purge = _of(Trash, Trash.purge)
    empty_bin = _of(Trash, Trash.empty_bin)

    # -- curation --------------------------------------------------------------------------------------

    def apply(self, change_set: ChangeSet) -> ChangeSet:
        """Carry out a previewed change set, once; returns it with its revision.

        With ``AgentSettings.auto_migrate``, whatever then overflows short-term memory migrates at once, as a change set
        of its own.

        Raises:
            NotAllowed, ReadOnlyPast, ReadOnly: nothing may be changed.
            StaleChange: what it touches has changed since (for going back: anything has). Nothing was changed.
        """
        done = self._context.apply(change_set)
        if self.settings.auto_migrate and migration.fills(done):
            world = self.acting_as(BY_ITSELF)
            plan = world.migrate_stm2ltm(now=done.planned_at, preview=True)
            why = f"Short-term memory overflowed by revision {done.revision}."
            with suppress(StaleChange):  # somebody else makes room at the same moment
                world.apply(dataclasses.replace(plan, reason=why))
        return done

    def edit(self, entry_id: MemoryId, *, preview: bool = False, **fields: Any) -> ChangeSet:
        """Change fields of one memory; see ``operations.edit.EDITABLE``.

        Raises:
            EntryNotFound, Immutable, InvalidParameter, InvalidEntry: it cannot be changed like that.
        """
        return Curation(self._context).edit(entry_id, fields, preview=preview)

    def edit_many(
        self,
        /,
        ids: MemoryIds,
        *,
        add_tags: str | Sequence[str] = (),
        remove_tags: str | Sequence[str] = (),
        preview: bool = False,
        **fields: Any,
    ) -> ChangeSet:
        """Change many memories in one change set, which one undo takes back; see ``operations.edit.FIELDS``.

        Memories that are so already and facts of the personality are left alone; ``kept`` says why. A rating
        without an explanation is recorded as made by hand.

        Args:
            ids: the memories, or their ids.
            add_tags: tags that each of them gets.
            remove_tags: tags that none of them keeps.
            preview: whether to plan only.
            fields: such as ``rating=7`` (1 to 10, ``None`` = unrated) or ``pinned=True``.

        Raises:
            EntryNotFound: an id has no memory. Nothing was changed, as for all below.
            InvalidParameter: a field that cannot be set for many, or a tag both to add and to remove.
            InvalidEntry: a value that cannot be accepted; the message says for which memory.
        """
        return Curation(self._context).edit_many(ids, add_tags, remove_tags, fields, preview=preview)

    def configure(self, *, preview: bool = False, **settings: Any) -> ChangeSet:
        """Change the agent's settings, such as ``stm_size=50``; see ``AgentSettings``.

        Raises:
            InvalidParameter: an unknown setting, or a value out of its range.
        """
        return Curation(self._context).configure(settings, preview=preview)

    forget = _of(Curation, Curation.forget)
    put_off = _of(Curation, Curation.put_off)
    save_personality = _of(Curation, Curation.save_personality)
    set_portrait = _of(Curation, Curation.set_portrait)
    read_material = _of(Importing, Importing.read_material)
    bring_in = _of(Importing, Importing.bring_in)
    import_material = _of(Importing, Importing.import_material)
    embed_ahead = _of(Importing, Importing.embed_ahead)
    export_as = _of(Exporting, Exporting.export_as)
    rate_again = _of(Rating, Rating.rate_again)
    rate_unrated = _of(Rating, Rating.rate_unrated)
    unrated = _of(Rating, Rating.unrated)

    @property
    def spent(self) -> tuple[Spent, ...]:
        """What its calls of language models used so far, by model and task; the offline rules use nothing.

        Raises:
            StoreError: the count cannot be read.
        """
        return Rating(self._context).spent

    # -- operations ------------------------------------------------------------------------------------

    def add_short_term(
        self,
        events: Events,
        *,
        overwrite_existing: bool = True,
        rate: bool = True,
        wait: bool | None = None,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Added:
        """Remember events in STM, each rated on arrival, or in the background where ``AgentSettings.rated_by`` says so.

        Args:
            events: an entry, a mapping, a list of either, or the path of a JSON file in the form
                ``{"documents": [...], "metadatas": [...], "ids": [...]}``. A time without a zone is in the world's;
                an ``importance_score`` is 0.1 to 1.0 or, if any of them is above 1, all are 1 to 10, and the notes of
                the change set say so.
            overwrite_existing: whether an id that is in STM already is overwritten; if not, it is skipped.
            rate: whether the language model is asked about events without a rating.
            wait: whether they wait for its answer whatever ``rated_by`` says; those that do not, and are not rated by
                ``nobody``, are rated by the offline rules meanwhile. As ``rated_by`` says if not given.
            now: the time of events that have none.
            preview: whether to plan only.
            progress: called with the progress so far; it may raise to cancel, and nothing is changed then.
            cancelled: called now and then, to ask whether to stop rating; what is not rated by then is stored unrated.

        Returns:
            What became, or would become, of each event. One that could not be rated is stored, unrated; see
            ``rate_unrated``.

        Raises:
            InvalidEntry, InvalidFile: an event cannot be accepted. Nothing was changed.
            Immutable: an id belongs to static memory.
        """
        taken = read(events, self._context.time(now))
        find, on = self._context.ledger.find, ground(self._context, now, within(progress, 0.0, 0.5), newest=0)
        entries, rate = arriving(self._context, taken.entries, wait) if rate else (taken.entries, False)
        plan, outcomes = edit.add(on, entries, find, overwrite=overwrite_existing, rate=rate, cancelled=cancelled)
        plan = dataclasses.replace(plan, notes=(*taken.notes, *plan.notes))
        embedded = Importing(self._context).embedded
        return Added(outcomes, plan if preview else self.apply(embedded(plan, within(progress, 0.5, 1.0))))

    def remember_conversation(
        self,
        turns: intake.Turns,
        *,
        rate: bool = True,
        now: datetime | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> ChangeSet:
        """Remember a conversation in STM: each turn, and a synopsis of what it shows, linked to its turns.

        The synopsis says what was told, asked and done, how a speaker felt, what they prefer and why an answer was
        given, as far as the conversation shows it. If the language model fails, the turns are still stored, without a
        synopsis, and the notes say so.

        Args:
            turns: at most 2,000: mappings ``{"speaker": ..., "text": ..., "timestamp": ...}``, pairs of speaker
                and text, or one text of lines ``Name: what is said``.
            rate: whether the language model is asked how poignant each turn is.
            now: the time of turns where none has one.
            preview: whether to plan only.
            progress: called with the progress so far.

        Raises:
            InvalidEntry: a turn cannot be accepted; the message says which, counted from 1. Nothing was changed.
        """
        entries = intake.read(turns, self._context.time(now))
        planned_on = ground(self._context, now, progress)
        share = 0.8 if rate else 0.0
        added, _ = edit.add(planned_on.step(0, share), entries, self._context.ledger.find, overwrite=False, rate=rate)
        plan = synopsis.plan(planned_on.step(share, 1), added)
        return plan if preview else self.apply(plan)

    def rate(self, text: str) -> tasks.Rating:
        """How poignant a text is for this agent, given who it is: 1 to 10, and why; stores nothing.

        Raises:
            InvalidEntry: the text cannot be a memory.
            ModelError: the language model gave no usable answer.
        """
        return self.model.complete(tasks.rate(MemoryEntry(text, id="to be rated").document, self._context.who())).answer

    def migrate_stm2ltm(
        self,
        threshold: float | None = None,
        *,
        ids: MemoryIds | None = None,
        now: datetime | None = None,
        retention: Retention | None = None,
        preview: bool = False,
    ) -> ChangeSet:
        """Move what overflows STM to LTM if it is worth keeping, else forget it.

        Pinned, protected and unrated entries stay, and what a person wrote is never forgotten by this.

        Args:
            threshold: what has to be exceeded, 0 to 1; the agent's setting if not given. It is an importance or, by
                the ``learned`` retention, a chance.
            ids: move these entries, or those of these ids, instead, whatever they are worth.
            now: the world's time.
            retention: ``importance``, or ``learned``: the chance that the memory is asked for, with the reason for
                each. The agent's setting if not given.
            preview: whether to plan only.

        Raises:
            InvalidParameter, EntryNotFound: the threshold, the retention or an id is wrong.
        """
        chosen = None if ids is None else edit.ids_of(ids)

        def planned() -> ChangeSet:
            on = ground(self._context, now, recalls=False, newest=BESIDE)
            return migration.plan(on, rule_of(on.settings, threshold, retention), chosen)

        return self._context.planned_and_done(planned, preview)

    def summarize_and_forget(
        self, k: int = 10, *, now: datetime | None = None, preview: bool = False, progress: Progress = no_progress
    ) -> ChangeSet:
        """Replace the ``k`` (2 to 500) least important LTM entries by one summary that keeps their ids and dates.

        Raises:
            InvalidParameter: ``k`` is out of its range.
            ModelError: the language model gave no usable answer. Nothing was changed.
        """
        count = whole("k", k, 2, 500)
        return self._context.done(summarisation.plan(ground(self._context, now, progress), count), preview)

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
            ModelError: the language model gave no usable answer. Nothing was changed.
        """
        planned = reflection.plan(ground(self._context, now, progress), only_if_due=only_if_due)
        return self._context.done(planned, preview)

    def reset_memory(self, *, preview: bool = False) -> ChangeSet:
        """Empty STM and LTM; the personality, pinned and protected memories stay, and ``undo`` brings all back."""
        return self._context.planned_and_done(lambda: edit.reset(ground(self._context)), preview)
