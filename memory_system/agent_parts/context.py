"""Context: what all parts of an agent share. It checks the agent's policy and applies its change sets."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from ..core import personality as static_memory
from ..core.change_set import Change, ChangeSet, Kept, TextChange, excerpt
from ..core.entry import MemoryEntry, Tier
from ..core.known import WORLD_AGENT, refuse_others
from ..core.memory import Vectors
from ..core.personality import Personality
from ..core.settings import AgentSettings
from ..core.times import Clock, in_zone, moment_given, stamp, zone_named
from ..embedding.embedder import Embedder
from ..errors import EntryNotFound, InvalidParameter, InvalidPersonality, ReadOnlyPast, StaleChange, shown
from ..llm import LanguageModel, prices
from ..llm.guarded import Begin, Guarded
from ..llm.metered import Metered, Once, Terms
from ..llm.usage import Account, Budget
from ..operations import edit, planning, purging
from ..operations.context import refusing_no_truth
from ..operations.migration import MIGRATE
from ..operations.undo import GO_BACK
from ..recall.cue_vectors import cue_vectors
from ..recall.hybrid import TokenStates
from ..recall.measures import Hybrid
from ..recall.table import Table
from ..store.journal.as_of import Moment
from ..store.journal.tables import DEFAULTS
from ..store.ledger import Ledger
from ..store.ledger_checks import refuse_other_length, widths_of
from ..store.past import PastLedger, Pasts
from ..store.personality_file import PersonalityFile
from ..store.policy import Past, Policy, ReadOnly
from ..store.protocols import Present, Readable
from .knowledge import Knows, Then
from .replanning import carried_out

Parsed = TypeVar("Parsed")
Applying = Callable[[ChangeSet], None]
"""Called with a change set that is about to be applied."""


@dataclass
class Context:
    """One agent, shared by its parts.

    Args:
        name: the agent's name.
        embedder: turns texts into vectors.
        bare_model: the language model, whose calls are not counted.
        clock: the world's time.
        tokens: the token states that relevancies are computed from.
        hybrid: measures relevancy over its tables, and caches what it read of them.
        ledger: what is read: the agent's ledger, or a moment of its past.
        held: the ledger itself; ``None`` for the past.
        policy: whether anything may be changed.
        file: the personality's file; ``None`` for the past.
        account: what calls of the language model used; ``None`` = they are not counted.
        once: ratings that are kept so that the same text is rated once.
        at_once: how many memories may be rated at a time.
        author: who is behind the changes, as the history shows it.
        applying: called with each change set right before it is applied or noted.
        asking: called before each call of the language model, which it can prevent by raising.
        knows: what it knows of its world; ``None`` if it is in none.
        of: the context that it was derived from, so that this one keeps that one alive.
    """

    name: str
    embedder: Embedder
    bare_model: LanguageModel
    clock: Clock
    tokens: TokenStates
    hybrid: Hybrid
    ledger: Readable
    held: Ledger | None
    policy: Policy
    file: PersonalityFile | None
    account: Account | None = None
    once: Once = field(default_factory=Once)
    at_once: int = 1
    author: str = ""
    applying: Applying | None = None
    asking: Begin | None = None
    knows: Knows | None = None
    of: Context | None = None
    pasts: Pasts = field(default_factory=Pasts)
    unforgotten: tuple[Hashable, Mapping[Tier, Table], Hybrid] | None = None
    """The tables with what migration forgot put back, keyed by what they were made of, and what measures them."""
    _parsed: dict[str, tuple[str | None, Any]] = field(default_factory=dict)

    def differing(self, **fields: Any) -> Context:
        """The same with these fields."""
        return dataclasses.replace(self, of=self, **fields)

    # -- what is held ----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in edits of the personality file on disk; called before anything is read.

        While the tables are kept unchanged this has been done already, and one moment is seen until they are released.
        """
        file = self.file
        try:
            if self.held is None or file is None or self.policy.why is not None or self.held.turns.still:
                return
            if self.held.other_embedder or (text := file.edited()) is None:
                return  # the edit waits until it can be taken in
            ledger = self.writer()
            if text == ledger.text("personality"):  # as whenever it is opened
                file.seen()
                return
            with ledger.writing():
                text = file.edited()
                file.seen()
                before = ledger.text("personality")
                if text is not None and text != before:
                    with ledger.reading():
                        static = list(ledger.tables[Tier.STATIC].entries)
                    plan = edit.personality(self.plan, before, text, static, file.path.name)
                    ledger.apply(dataclasses.replace(plan, author=f"file {file.path.name}"))
        except (InvalidPersonality, StaleChange):
            if file is not None:
                file.seen()  # ``personality_problem`` says so; the last good one stays in use

    def time(self, now: datetime | None) -> datetime:
        """The given time, checked; the world's time if none is given."""
        return self.clock() if now is None else moment_given("'now'", now)

    def parsed(self, name: str, parse: Callable[[str | None], Parsed]) -> Parsed:
        """The parsed value of a text of the journal; it is parsed again only if it changes."""
        text = self.ledger.text(name)
        pair = self._parsed.get(name)
        if pair is None or pair[0] != text:
            pair = self._parsed[name] = (text, parse(text))
        value: Parsed = pair[1]
        return value

    @property
    def settings(self) -> AgentSettings:
        """The agent's own settings; if it has saved none, the defaults from when it was made."""
        return self.parsed("settings", self._settings)

    def _settings(self, text: str | None) -> AgentSettings:
        return AgentSettings.from_json(self.ledger.text(DEFAULTS) if text is None else text)

    @property
    def personality(self) -> Personality | None:
        """The static memory in use; ``None`` where there is none yet."""
        return self.parsed("personality", lambda text: static_memory.parse(text) if text else None)

    @property
    def display_name(self) -> str:
        """The name in the personality; the agent's name where there is none."""
        personality = self.personality
        return personality.identity.name if personality else self.name

    def find(self, entry_id: str) -> MemoryEntry | None:
        """The memory of this id in any tier, or the fact of its world; ``None`` if there is neither."""
        self.refresh()
        with self.ledger.reading():
            return self.held_or_known(entry_id)

    def held_or_known(self, entry_id: str) -> MemoryEntry | None:
        """As ``find``, while the tables are kept unchanged."""
        found = self.ledger.find(entry_id)
        return self.knows.find(entry_id) if found is None and self.knows is not None else found

    def lived(self, now: datetime) -> Mapping[Tier, Table]:
        """What recall searches at a time of the world: its memories and, with the static ones, what it knows then.

        Called while the tables are kept unchanged.
        """
        own = self.ledger.lived
        if self.knows is None or (static := self.knows.static(own[Tier.STATIC], now)) is own[Tier.STATIC]:
            return own
        return {**own, Tier.STATIC: static}

    def entry(self, entry_id: str) -> MemoryEntry:
        """The memory of this id in any tier.

        Raises:
            EntryNotFound: there is none.
        """
        entry = self.find(entry_id)
        if entry is None:
            raise EntryNotFound(f"There is no memory {shown(entry_id)}.")
        return entry

    def last_version(self, entry_id: str) -> MemoryEntry:
        """A memory as it is, or as it was before it was forgotten.

        Raises:
            EntryNotFound: the agent never had it.
        """
        entry = self.find(entry_id)
        if entry is None and isinstance(entry_id, str) and entry_id.isprintable():
            entry = self.ledger.journal.last_version(entry_id)
        if entry is None:
            raise EntryNotFound(f"{self.name} never had a memory {shown(entry_id)}.")
        return entry

    def cue_vectors(self, cues: Sequence[str]) -> Vectors:
        """The vectors with which cues are compared, shape (n, d).

        Raises:
            EmbedderError: the cues could not be embedded, or their vectors are not like those of the memories.
        """
        made = cue_vectors(self.embedder, cues)
        refuse_other_length(self.embedder.identity, made, max(widths_of(self.ledger.tables)))
        return made

    def entries(self, tier: Tier | str) -> list[MemoryEntry]:
        """All memories of a tier, ordered by id.

        Raises:
            InvalidParameter: there is no such tier.
        """
        self.refresh()
        try:
            member = Tier(tier)
        except ValueError as error:
            raise InvalidParameter(f"There is no tier {shown(tier)}; there are {', '.join(Tier)}.") from error
        with self.ledger.reading():
            return sorted(self.ledger.tables[member].entries, key=lambda entry: entry.id)

    @property
    def model(self) -> LanguageModel:
        """The language model, whose calls are counted."""
        return self.model_of(self.who)

    def model_of(self, who: Callable[[], str]) -> LanguageModel:
        """The same, with another description of whose memories it rates."""
        model = self.bare_model
        if self.account is not None:
            model = Metered(model, self.account, self._terms, self.once, who)
        return model if self.asking is None else Guarded(model, self.asking)

    def who(self) -> str:
        """A description of whose memory it is, for ratings."""
        return static_memory.personal(self.personality) if self.personality else ""

    def _terms(self) -> Terms:
        settings = self.settings
        return Terms(Budget(settings.token_budget, settings.cost_budget), prices.read(self.present().folder.parent))

    # -- past and present --------------------------------------------------------------------------------

    def present(self) -> Present:
        """The agent as it is now, for reading.

        Raises:
            ReadOnlyPast: this is its past.
        """
        if self.held is None:
            why = self.policy.why or ""
            raise ReadOnlyPast(f"{why.removesuffix('.')}, or for anything that only the present can show.")
        return self.held

    def as_of(self, moment: Moment, knew: Then) -> Context:
        """The agent as it was at a moment, and what it knew of its world then."""
        present, now = self.present(), in_zone(moment.now, zone_named(self.clock()))
        then = self.differing(
            bare_model=self.model,
            clock=lambda: now,
            hybrid=Hybrid(self.tokens),
            ledger=PastLedger(moment, self.pasts.get(present, moment), present),
            held=None,
            file=None,
            account=None,
            at_once=1,
            author="",
            applying=None,
            asking=None,
            knows=None if self.knows is None else self.knows.as_of(knew),
            unforgotten=None,
            _parsed={},
        )
        why = (
            f"This is {then.display_name} as of {stamp(now)}, after revision {moment.revision}; "
            "go back to the present to change anything."
        )
        return dataclasses.replace(then, policy=Past(why, moment))

    # -- changes ---------------------------------------------------------------------------------------

    def plan(
        self,
        operation: str,
        title: str,
        changes: Sequence[Change] = (),
        *,
        texts: Sequence[TextChange] = (),
        kept: Sequence[Kept] = (),
        notes: Sequence[str] = (),
        revision: int | None = None,
        **more: Any,
    ) -> ChangeSet:
        """A change set planned without a ``Ground``, which would read all memories: a click has to be quick."""
        return ChangeSet(
            operation,
            title,
            tuple(changes),
            self.clock(),
            self.ledger.revision if revision is None else revision,
            texts=tuple(texts),
            kept=tuple(kept),
            notes=tuple(notes),
            author=self.author,
            agent=self.name,
            **more,
        )

    def writer(self) -> Ledger:
        """The ledger, for writing: the one place that checks the policy.

        Raises:
            NotAllowed, ReadOnlyPast, ReadOnly: nothing may be changed.
        """
        self.policy.refuse()
        assert self.held is not None, "only the past holds no ledger, and its policy refuses"
        return self.held

    def owner(self) -> Ledger:
        """The ledger, for maintaining its files, even if its journal is damaged.

        Raises:
            NotAllowed, ReadOnlyPast: this is only a view of it.
        """
        if self.held is not None and isinstance(self.policy, ReadOnly):
            return self.held
        return self.writer()

    def done(self, plan: ChangeSet, preview: bool) -> ChangeSet:
        """A plan, applied unless it is a preview."""
        return plan if preview else self.apply(plan)

    def planned_and_done(self, planned: Callable[[], ChangeSet], preview: bool) -> ChangeSet:
        """A quickly made plan, applied unless it is a preview; made again as ``replanning.carried_out`` says."""
        plan = planned()
        return plan if preview else carried_out(plan, planned, self.apply, self.writer().writing)

    def apply(self, change_set: ChangeSet) -> ChangeSet:
        """Carry out a change set, once; returns it with its revision.

        Raises:
            NotAllowed, ReadOnlyPast, ReadOnly: nothing may be changed.
            StaleChange: what it touches has changed since (for going back: anything has). Nothing was changed.
            Conflict: this agent stores what its world knows, and something else was to be stored in it.
        """
        ledger = self.writer()
        if self.name == WORLD_AGENT and isinstance(change_set, ChangeSet):
            refuse_others(change_set)
        if isinstance(change_set, ChangeSet) and change_set.operation in (GO_BACK, planning.PLAN):
            refuse_after = _refuse_gone_on if change_set.operation == GO_BACK else planning.refuse_planned_since
            with ledger.writing():
                refuse_after(change_set, _done_since(ledger, change_set))
                self.tell(change_set)
                return ledger.apply(change_set)
        texts: Iterable[str] = ()
        if isinstance(change_set, ChangeSet) and change_set.purges and change_set.problem() is None:
            texts = ledger.journal.bin.texts(change_set.purges)
            self.tokens.forget(texts)  # before it is forgotten what they were made of
        self.tell(change_set)
        done = ledger.apply(change_set)
        if texts:
            self.tokens.forget(texts)  # somebody may have viewed the past meanwhile
        if done.operation == MIGRATE:
            with suppress(StaleChange):  # what came back out of the bin at the same moment is left to the next one
                self._empty_bin(done.planned_at)
        return done

    def _empty_bin(self, now: datetime) -> None:
        def planned() -> ChangeSet:
            return purging.emptying(self.plan, self.writer(), self.settings.bin_days, now)

        if (emptying := planned()).purges:
            carried_out(
                emptying, planned, lambda plan: self.apply(plan) if plan.purges else plan, self.writer().writing
            )

    def tell(self, change_set: ChangeSet) -> None:
        """Pass what will be in the history to ``applying``."""
        if self.applying is not None:
            self.applying(change_set)


class Part:
    """One theme of what an agent can do.

    Args:
        context: the agent.
    """

    def __init_subclass__(cls) -> None:
        refusing_no_truth(cls)

    def __init__(self, context: Context) -> None:
        self.context = context


def _done_since(ledger: Ledger, plan: ChangeSet) -> list[ChangeSet]:
    """What was done after something was planned; nothing once that itself is done."""
    with ledger.reading():
        later = ledger.journal.since(plan.base_revision)
    return [] if any(change_set.id == plan.id for change_set in later) else later


def _refuse_gone_on(_plan: ChangeSet, later: Sequence[ChangeSet]) -> None:
    """Refuse to go back to a moment if anything was changed since that was planned: it would be undone too."""
    if later:
        raise StaleChange(
            f"{excerpt(later[0].title)} by {later[0].author} was done after this was planned, and would not be undone. "
            "Plan it again."
        )
