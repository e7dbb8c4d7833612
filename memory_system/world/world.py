"""A world: the agents that share a database folder and a clock; and which embedder and model they use."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

from ..agent import AgentMemory
from ..agent_parts.knowledge import Knowledge
from ..core import personality as static_memory
from ..core.authors import running_script
from ..core.change_set import ChangeSet, text_given
from ..core.files import HeldOpen, as_store_errors, refuse_links
from ..core.known import EVERYBODY, WORLD_AGENT, Fact, Group
from ..core.names import checked_name
from ..core.settings import Settings
from ..core.times import real_clock
from ..embedding import registry as embedders
from ..embedding.embedder import CachedEmbedder, Embedder, minilm_of
from ..errors import AgentNotFound, AlreadyExists, Conflict, InvalidParameter, MemorySystemError, StoreUnavailable
from ..llm import LanguageModel
from ..llm.metered import Once
from ..llm.prices import FILE as PRICES_FILE
from ..llm.prompt_file import FILE as PROMPTS_FILE
from ..llm.prompt_file import PromptFile
from ..llm.switchable import WorldModel
from ..operations.context import Progress, no_progress, refusing_no_truth, truth
from ..operations.importing.events import Events
from ..recall.hybrid import TokenStates
from ..store import clock as own_file
from ..store.copying import STORE
from ..store.journal.moving import Journals
from ..store.ledger_checks import refuse_broken
from ..store.named import claimed, placed
from ..store.projection import forget
from ..store.server_notice import warn_if_served
from ..store.slot import personalities_of
from ..store.write_lock import WriteLock
from . import bringing, cut_off, knowing, together, tuning
from . import folders as lifecycle
from .advancing import Advance, Advanced, foresee
from .awake import Awake
from .branches import branches
from .cast import beside, bonds, charting
from .cast import whereabouts as where
from .folders import Binned, Place, agent_names
from .happening import Happened, Told, happened
from .hour import Room, room
from .inbox import Inbox, inbox
from .knows import asking, running, story
from .knows.spread import spread
from .living import Living
from .rerating import Rerater
from .swap import Spot, finish
from .trail import trail

TOKENS = "token-states.sqlite3"
"""In the folder of the agents; derived from their texts, at most 1 GB, and made again if it is lost."""


@refusing_no_truth
class World(HeldOpen):
    """All agents of one world. Thread-safe; an agent is opened at its first use and stays open.

    Args:
        settings: where things are and which services to use; from the environment if not given.
        embedder: turns texts into vectors; if not given, the one named by the environment or chosen for the world.
        take_over: whether agents whose vectors another embedder made are re-embedded when they are opened; if not
            given, only if ``embedder`` is. The others recall and change nothing until ``reembed`` is called.
        model: the language model; if not given, as chosen in the dashboard or the settings.
        author: who is behind the changes, as the history shows it; the running script's name if not given.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        embedder: Embedder | None = None,
        model: LanguageModel | None = None,
        author: str = "",
        take_over: bool | None = None,
    ) -> None:
        truth("take_over", take_over)
        self.author = author or running_script()
        self.settings = placed(settings or Settings())
        self._thrown_away = claimed(self.settings)
        self.name = checked_name(self.settings.world, "world name")
        self.folder = Path(self.settings.database) / self.name
        shared = Path(self.settings.personalities)
        finish(Spot(self.folder, shared))
        self.spot = Spot(self.folder, personalities_of(self.folder, shared))
        self.cut_off = cut_off.remove(self.spot, self.settings.backup_folder)
        """Half-made files of killed programs, which are removed now."""
        with as_store_errors(f"The world {self.name!r}"):
            refuse_links(self.folder, TOKENS, own_file.FILE, PRICES_FILE, PROMPTS_FILE)
        warn_if_served(self.folder)
        self.take_over = embedder is not None if take_over is None else take_over
        self._embedder = embedder
        self.embedder = embedders.checked(embedder) if embedder else CachedEmbedder(self._made(self.embedder_name))
        self.rerater = Rerater(self._to_rate, self.settings.rerate_seconds, self._room)
        self.life = Living(self)
        self.models = WorldModel(self.folder, self.settings, self.embedder, model, self.rerater.wake)
        self.model: LanguageModel = self.models
        self.clock = own_file.world_clock(self.folder)
        self.once = Once()
        self.journals = Journals(self.settings.journal_url, self.settings.durability)
        self._read_tokens()
        self._agents = Awake(self._opened, self.settings.awake, self.settings.awake_mb << 20)
        self.lock = threading.RLock()
        """Locked while agents come and go; an open agent is found without it."""
        self.knowledge = Knowledge(
            self.folder / WORLD_AGENT,
            lambda: self._opened(WORLD_AGENT),
            self.character_of,
            partial(where.lying_in, self),
            self._cast,
            partial(story.to_be_recalled, self),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all agents; if one of them cannot be written, the error is raised once all are closed.

        An agent that is asked for afterwards is opened again.
        """
        self.rerater.stop()
        self.life.stop()
        with ExitStack() as last:  # from the last to the first, whatever one of them raises
            if self._thrown_away is not None:
                last.callback(self._thrown_away.cleanup)
            last.enter_context(self.lock)
            for let_go in (self.journals.close, self._leave_tokens, self.knowledge.close, self._agents.close_all):
                last.callback(let_go)

    def _read_tokens(self) -> None:
        self._tokens = TokenStates.of(self.embedder, file=self.folder / TOKENS)
        self._watch = self._tokens.keep
        self._watched = minilm_of(self.embedder)
        if self._watched is not None:  # its states are available whenever it makes a vector
            self._watched.watchers.append(self._watch)

    def _leave_tokens(self) -> None:
        if self._watched is not None and self._watch in self._watched.watchers:
            self._watched.watchers.remove(self._watch)
        self._tokens.close()

    @property
    def embedder_name(self) -> str:
        """The name of the embedder in use: from the environment, chosen here, or shipped; empty for a program's own."""
        if self._embedder is not None:
            return ""
        return (
            self.settings.embedder
            if self.embedder_decided
            else own_file.read_embedder(self.folder) or self.settings.embedder
        )

    @property
    def embedder_decided(self) -> str:
        """Who decides on the embedder, in a sentence, so that it cannot be chosen here; empty if it can."""
        if self._embedder is not None:
            return "The program that opened this world decides on the embedder."
        if "embedder" in self.settings.model_fields_set:
            return "MEMORY_EMBEDDER, or --embedder, decides on the embedder."
        return ""

    def use_embedder(self, name: str | None) -> None:
        """Make this world's vectors with another embedder from now on; kept in ``world.json``.

        This re-embeds nothing: agents whose vectors another embedder made can be viewed, but recall and change
        nothing until ``agent.reembed()`` is called. All agents are closed, and have to be asked for again.

        Args:
            name: one of ``EMBEDDERS.names()``; ``None`` = the one of the installation.

        Raises:
            InvalidParameter: no embedder has this name, or it cannot be made; nothing was changed.
            ExtraMissing: it needs a package that is not installed.
            Conflict: the environment or the program decides.
            StoreBusy: an agent is being written for too long to wait for.
        """
        made = self.refuse_embedder(name)
        with self.lock:
            for agent in self.opened():
                with agent.contents.alone():
                    self._agents.close(agent.name)
            self.knowledge.close()
            own_file.write_embedder(self.folder, name)
            self._leave_tokens()
            if isinstance(self.embedder, CachedEmbedder):
                self.embedder.exchange(made)
            self._read_tokens()

    def refuse_embedder(self, name: str | None) -> Embedder:
        """The embedder that ``use_embedder`` would use, or its errors; nothing is changed."""
        if self.embedder_decided:
            raise Conflict(f"{self.embedder_decided} It cannot be chosen for this world meanwhile.")
        own = name is None or (isinstance(name, str) and not name)
        return self._made(self.settings.embedder if own or name is None else name)

    def _made(self, name: str) -> Embedder:
        return embedders.chosen(self.settings.model_copy(update={"embedder": name}))

    @property
    def standing(self) -> datetime | None:
        """The time at which the world's clock is stopped; ``None`` = it follows the real time."""
        return own_file.read_standing(self.folder)

    def stand_at(self, at: datetime | None) -> None:
        """Stop the world's clock at a time, or let it follow the real time."""
        own_file.write_standing(self.folder, at)

    @property
    def zone(self) -> str | None:
        """The name of the world's time zone; ``None`` = that of the time that its clock was set to, or UTC."""
        return own_file.read_zone(self.folder)

    def use_zone(self, name: str | None) -> None:
        """Let the world live in a time zone of the IANA database, such as "Europe/Berlin"; ``None`` = in no named one.

        Raises:
            InvalidParameter: there is no such zone.
        """
        own_file.write_zone(self.folder, name)

    @property
    def speed(self) -> float:
        """How many seconds of the world pass in a real one: 0 if it is stopped, 1 if it follows the real time."""
        return own_file.read_speed(self.folder)

    def play(self, speed: float = 1.0) -> None:
        """Let the world's clock run on from where it is, this many seconds in a real one (0.001 to 100,000).

        Raises:
            InvalidParameter: the speed is out of its range.
        """
        own_file.run_clock(self.folder, speed)

    def pause(self) -> None:
        """Stop the world's clock where it is."""
        self.stand_at(self.clock())

    @property
    def lives(self) -> bool:
        """Whether a server of this world lets its characters do what is due by themselves as its clock runs."""
        return own_file.read_lives(self.folder)

    def live(self, *, on: bool = True) -> None:
        """Switch that on or off; see ``advance`` for what is done."""
        own_file.write_lives(self.folder, lives=bool(on))
        self.life.wake()

    @property
    def welcomed(self) -> bool:
        """Whether somebody has taken the dashboard's tour of this world, or declined it."""
        return own_file.read_welcomed(self.folder)

    def welcome(self, *, done: bool = True) -> None:
        """Stop offering the tour, or offer it again."""
        own_file.write_welcomed(self.folder, welcomed=bool(done))

    @property
    def seen(self) -> datetime | None:
        """Up to when, in real time, somebody has viewed what happened by itself; ``None`` = nobody has."""
        return own_file.read_seen(self.folder)

    def mark_seen(self, at: datetime) -> None:
        """Record that what happened by itself was viewed up to a real time; the World page shows the rest.

        Raises:
            InvalidParameter: the time has no zone.
        """
        own_file.write_seen(self.folder, at)

    def advance(
        self,
        to: datetime | None = None,
        *,
        events: Mapping[str, Events] | None = None,
        preview: bool = False,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Advanced:
        """Let time pass: each character does what is due by itself, in order, and the clock moves on.

        Events that are due happen, what waits for its rating is rated, what overflows short-term memory migrates, a
        character reflects when enough has happened, a summary is made where long-term memory holds more than
        ``AgentSettings.ltm_size``, each new day is planned in the morning, a character speaks unprompted in talks that
        have a heartbeat (``TalkSettings.heartbeat``), three times at most before somebody answers, and a talk in which
        nothing has been said for an hour is remembered. After an important event the rest of the day is planned again,
        or a new plan is proposed, according to ``AgentSettings.replan``. Each step is a change set by "the world" with
        its reason, and can be undone like any other; it is not done again until something new has happened. If a
        language model fails, its steps wait and time goes on; only a day that is over is no longer planned. When
        cancelled or killed, the clock stops at the time that was reached, and the next call goes on from there.

        Args:
            to: the world's time, with its zone; what is due at present if not given. A running clock cannot be
                advanced beyond its time; only a preview can look further.
            events: what is to happen to each agent, by its name: each event at its own time or, if that has passed,
                at once. Each needs an id, so that it happens only once even if the same events are passed again.
            preview: whether to change nothing, and to return what would happen as far as that can be foreseen
                without a language model.
            progress: called with the share done, 0 to 1, and what is being done; it may raise to stop.
            cancelled: called before each step, and a few times a second during a call of a language model, to ask
                whether to stop. Such a call is then given up: nothing of it is stored and nothing more is asked, but it
                may still cost money.

        Returns:
            What was done, and what waits.

        Raises:
            InvalidParameter: the time has no zone, lies before the world's time, or cannot be reached by its clock.
            InvalidEntry, AgentNotFound: an event cannot be accepted, or has no id or an unknown agent. No changes.
        """
        if preview:
            return foresee(self, to, self.life.state.waiting, events)
        done = Advance(self, progress, cancelled, events).to(to)
        assert done is not None, "it waited for its turn"
        return done

    def due(self, to: datetime | None = None) -> Advanced:
        """What would happen by itself until a time; nothing is changed. See ``advance``.

        What waits is listed with the reason: what could not be done in the background, what waits at present (the
        budget may allow it by then), and what will wait.
        """
        return foresee(self, to, self.life.state.waiting)

    def inbox(self, name: str, *, compare: bool = False, progress: Progress = no_progress) -> Inbox:
        """What needs a person's decision about an agent; nothing is changed.

        It lists what would migrate or is due by itself (see ``advance``), what is unrated or stale, and saved cues that
        fail. ``AgentMemory.put_off`` postpones one of them.

        Args:
            name: the agent's name.
            compare: whether all memories are compared for duplicates and contradictions, by rules alone.
            progress: called with the share of the comparison done, 0 to 1; it may raise to cancel.

        Raises:
            AgentNotFound: no agent has this name.
        """
        return inbox(self.agent(name), self.folder, self.life.state.waiting, compare=compare, progress=progress)

    @property
    def about(self) -> own_file.About:
        """The world's title, what it is about, and the character to begin with; each may be empty."""
        return own_file.read_about(self.folder)

    def describe(self, about: own_file.About) -> None:
        """Say what the world is about."""
        own_file.write_about(self.folder, about)

    @property
    def prompts(self) -> PromptFile:
        """The prompts for language models in this world, and every earlier wording of them."""
        return self.models.prompt_file

    def agents(self) -> list[str]:
        """The names of all agents, sorted, rehearsals included: those with a personality and those with a folder."""
        return self._agents.with_room(lambda: agent_names(self.settings, self.journals), self.lock)

    def stored(self) -> list[str]:
        """The names of everything stored as an agent: the agents and, if there is one, the world's own agent."""
        return [*self.agents(), *([WORLD_AGENT] if (self.folder / WORLD_AGENT).is_dir() else [])]

    def agent(self, name: str) -> AgentMemory:
        """The memory of an agent, opened at its first use.

        Raises:
            InvalidAgentName, AgentNotFound, StoreError: it cannot be opened.
        """
        checked = checked_name(name)
        if checked == WORLD_AGENT and (known := self.knowledge.agent()) is not None:
            return cast("AgentMemory", known)
        if (awake := self._agents.agent(checked)) is not None:
            return awake
        with self.lock:
            if (awake := self._agents.agent(checked)) is not None:  # another opened it meanwhile
                return awake
            place = self._place(checked)
            if not lifecycle.lies_there(place):
                twins = [agent for agent in self.agents() if agent.casefold() == checked.casefold()]
                if twins and checked not in twins:
                    raise AgentNotFound(f"There is no agent {checked!r}. Did you mean {twins[0]!r}?")
            lifecycle.unpack(place)
            try:
                return self._agents.open(checked)
            except AgentNotFound as error:  # it names files of this machine, and the caller may be on another
                raise lifecycle.not_there(checked, self.characters()) from error

    def _opened(self, name: str) -> AgentMemory:
        return AgentMemory(
            name,
            database=self.settings.database,
            world=self.name,
            personalities=self.spot.personalities,
            embedder=self.embedder,
            model=self.model,
            clock=self.clock,
            author=self.author,
            tokens=self._tokens,
            settings=self.settings,
            once=self.once,
            journals=self.journals,
            take_over=self.take_over or name == WORLD_AGENT,
            knowledge=self.knowledge,
        )

    def happened(
        self,
        text: str,
        *,
        at: str = "",
        seen_by: str | Sequence[str] = (),
        heard_by: str | Sequence[str] = (),
        told: Told = (),
        now: datetime | None = None,
        wait: bool | None = None,
        author: str | None = None,
        preview: bool = False,
    ) -> Happened:
        """Let the characters who know of an event remember it, each in its own words and with its own rating.

        The language model writes the words; the offline rules use a template. How each came to know (``source``), who
        is in it or told it (``people``) and where it happened (``place``) are fields of the memory. Each memory is a
        change set of its own agent.

        Args:
            text: what happened, 1 to 32,000 characters.
            at: where; if nobody is named, it was seen by all whose plan or routine has them there or in a place inside.
            seen_by: the names of the characters who saw it.
            heard_by: those who heard it from somewhere near; for one who also saw it, seeing counts.
            told: those who were told of it, each with the teller (``{"ana": "Tobias"}``), or their names alone.
            now: when; the world's time if not given.
            wait: whether to wait for the language model; if not, the offline rules write the words, and the rating
                comes later, as for any event. According to each agent's ``rated_by`` if not given.
            author: who is behind it, as the histories show it; this world's author if not given.
            preview: whether to plan only; each plan is applied by its own agent.

        Raises:
            InvalidParameter, InvalidEntry: it cannot be remembered, or neither characters nor a place are given.
            AgentNotFound: a named character does not exist. Nothing was changed.
        """

        def by(name: str) -> AgentMemory:
            agent = self.agent(name)
            return agent if author is None else agent.acting_as(author)

        moment = self.clock() if now is None else now
        known = {name: partial(by, name) for name in self.characters()}
        who = {"seen_by": seen_by, "heard_by": heard_by}
        return happened(known, text, at=at, **who, told=told, now=moment, wait=wait, preview=preview)

    def know(
        self,
        text: str,
        *,
        to: str = EVERYBODY,
        known_from: datetime | None = None,
        known_until: datetime | None = None,
        rating: float | None = None,
        fact_id: str | None = None,
        author: str | None = None,
        preview: bool = False,
    ) -> ChangeSet:
        """Let everybody in the world, or a group of characters, know a fact; it is kept once for all of them.

        While it is known, ``query_memory`` of each of them finds it like static memory: it is scored by relevancy alone
        and does not decay. It is kept by a change set of the agent ``world.knowledge``, and is undone there.

        Args:
            text: what is known, 1 to 32,000 characters.
            to: ``everybody``, or the name of a group.
            known_from: the time of the world from which it is known; always if not given.
            known_until: the time of the world before which it is known; for ever if not given.
            rating: how important it is, 1 to 10; only for people to read.
            fact_id: the fact to edit, which gets all that is given here; a new fact if not given.
            author: who is behind it, as the history shows it; this world's author if not given.
            preview: whether to plan only.

        Raises:
            InvalidEntry, InvalidParameter: the text or the rating cannot be accepted, there is no such group, or
                ``known_from`` is not before ``known_until``. Nothing was changed.
        """
        times = {"known_from": known_from, "known_until": known_until}
        plan = knowing.know(knowing.kept_by(self, author), text, to=to, rating=rating, fact_id=fact_id, **times)
        return plan if preview else self.carry_out(plan)

    def unknow(self, ids: str | Sequence[str], *, author: str | None = None, preview: bool = False) -> ChangeSet:
        """Forget facts of the world, by their ids, and dissolve groups, by their names.

        Raises:
            EntryNotFound: there is no such fact or group. Nothing was changed.
            Conflict: a group to be dissolved knows facts that are not forgotten with it.
        """
        plan = knowing.unknow(knowing.kept_by(self, author), ids)
        return plan if preview else self.carry_out(plan)

    def group(
        self, name: str, members: str | Sequence[str], *, author: str | None = None, preview: bool = False
    ) -> ChangeSet:
        """Define a group of characters, such as "the guard", that can know facts.

        Args:
            name: 1 to 64 characters, whose case does not matter.
            members: the names of characters, at least one; their rehearsals know what they know.
            author: who is behind it, as the history shows it; this world's author if not given.
            preview: whether to plan only.

        Raises:
            InvalidParameter: the name cannot be accepted, or nobody is named.
            AgentNotFound: a member is not a character of this world. Nothing was changed.
        """
        plan = knowing.group(knowing.kept_by(self, author), self, name, members)
        return plan if preview else self.carry_out(plan)

    def carry_out(self, plan: ChangeSet) -> ChangeSet:
        """Carry out a plan of ``know``, ``unknow`` or ``group``, once; raises as ``AgentMemory.apply`` does."""
        if isinstance(plan, ChangeSet) and not plan:
            return plan
        refuse_broken(plan, WORLD_AGENT)  # before a store is made that would be left empty
        if self.knowledge.agent() is None:
            self.embedder.embed([change.after.document for change in plan.changes if change.after])
        agent: AgentMemory = self.knowledge.agent(make=True)
        return agent.apply(plan)

    def facts(self) -> tuple[Fact, ...]:
        """What everybody or a group knows, by id; also what is not known yet or no longer."""
        return knowing.kept_by(self).facts

    def groups(self) -> tuple[Group, ...]:
        """The groups of characters that can know facts, by name."""
        return knowing.kept_by(self).groups

    branch = branches.branch
    branch_all = branches.branch_all
    rehearsal = branches.rehearsal
    rehearsals = branches.rehearsals
    characters = branches.characters
    character_of = branches.character_of
    changes_of = branches.changes_of
    compare = branches.compare
    fits = branches.fits
    keep = branches.keep
    drop = branches.drop
    dropped = branches.dropped
    knows = asking.knows
    who_knows = asking.who_knows
    with_author = asking.with_author
    correct = asking.correct
    labels = asking.labels
    story_tests = story.story_tests
    keep_tests = story.keep_tests
    run_tests = running.run_tests
    tune = tuning.tune
    carry_out_all = together.carry_out_all
    trail = trail
    spread = spread
    beside = beside.beside
    bonds = bonds.bonds
    places = where.places
    whereabouts = where.whereabouts
    chart = charting.chart

    def _cast(self) -> list[str]:
        names = []
        for name in self.characters():
            with suppress(MemorySystemError):  # the agent itself reports the problem
                if text := static_memory.read(self._place(name).personality):
                    names.append(static_memory.parse(text).identity.name)
        return names

    def _room(self, agent: AgentMemory) -> Room:
        """How much an agent may still ask a language model in this hour of the world's time."""
        return room(agent, self.clock(), self.folder)

    def _to_rate(self, names: Collection[str] | None) -> Iterator[AgentMemory]:
        """These agents; for ``None`` the open ones, and the sleeping ones with something to be rated."""
        yield from self.opened() if names is None else ()
        for name in sorted(self._agents.unrated if names is None else names):
            with suppress(MemorySystemError):  # it has been deleted since, or cannot be opened
                yield self.agent(name)

    def opened(self) -> list[AgentMemory]:
        """The agents that are open now."""
        return [agent for agent in self._agents if not agent.gone]

    def create_agent(self, name: str, personality: str | Mapping[str, Any] | None = None) -> AgentMemory:
        """A new agent, with this personality (JSON, or a dict of it) or with its name alone.

        Raises:
            InvalidAgentName, InvalidParameter, InvalidPersonality: nothing was made.
            AlreadyExists: there is an agent of this name, or one that differs only in upper and lower case.
        """
        with self.lock:
            checked = self.free_name(name)
            text = static_memory.as_text({"identity": {"name": checked}} if personality is None else personality)
            static_memory.parse(text, f"{checked}.json")
            place = self._place(checked)
            with as_store_errors(f"The agent {checked!r}"):
                place.refuse_taken()
                static_memory.write(place.personality, text)
            with self._making(checked, place):
                return self.agent(checked)

    @contextmanager
    def _making(self, name: str, place: Place) -> Iterator[None]:
        """Register an agent that is made within the block; if that fails, nothing of it is left."""
        try:
            self.carry_out(knowing.newcomer(knowing.kept_by(self), name))
            yield
        except BaseException:
            with self.lock:
                self._agents.close(name)
                place.personality.unlink(missing_ok=True)  # neither was there before
                if place.folder.is_dir():  # its path may be none, which rmtree never ignores
                    shutil.rmtree(place.folder, ignore_errors=True)
            raise

    def create_with_events(
        self,
        name: str,
        personality: str | Mapping[str, Any],
        events: Events = (),
        *,
        author: str = "",
        progress: Progress = no_progress,
    ) -> AgentMemory:
        """A new agent with what happened to it before, as one change set: its first.

        Events without a rating are rated first; until then the agent exists, but is empty.

        Args:
            name: the agent's name.
            personality: JSON, or a dict of it.
            events: as ``AgentMemory.add_short_term`` accepts them.
            author: who is behind it, as the history shows it; the world's author if not given.
            progress: called with the progress so far.

        Raises:
            InvalidAgentName, InvalidParameter, InvalidPersonality, InvalidEntry, AlreadyExists: nothing was made.
        """
        text = static_memory.as_text(personality)
        static_memory.parse(text, "the personality")
        with self.newborn(name) as agent:
            agent.acting_as(author or self.author).curation.begin(text, events, progress)
            return agent

    bring_character = bringing.bring_character

    @contextmanager
    def newborn(self, name: str) -> Iterator[AgentMemory]:
        """A new, empty agent, which the caller fills within the block; if that fails, it is removed."""
        with self.lock:
            checked = self.free_name(name)
            place = self._place(checked)
            with as_store_errors(f"The agent {checked!r}"):
                place.refuse_taken()
                place.folder.mkdir(parents=True)
        with self._making(checked, place):
            yield self.agent(checked)

    def duplicate_agent(self, name: str, to: str) -> AgentMemory:
        """A copy of an agent, its whole history included, under another name.

        Raises:
            InvalidAgentName, AgentNotFound, AlreadyExists, StoreError: nothing was made.
        """
        return self.copied(name, to, lambda _copy, _source: {})

    def copied(self, name: str, to: str, beside: branches.Beside) -> AgentMemory:
        """As ``duplicate_agent``, with files next to the copy, whose texts are read while nobody can write."""
        with self.lock:
            knowing.refuse_knowledge(name)
            target, source = self.free_name(to), self.agent(name)
            with source.contents.alone():
                texts = branches.texts_beside(target, source, beside)
                with source.contents.at_rest():
                    self.carry_out(knowing.newcomer(knowing.kept_by(self), target))
                    lifecycle.duplicate(self._place(source.name), self._place(target), self.journals, texts)
            return self.agent(target)

    def rename_agent(self, name: str, to: str) -> AgentMemory:
        """The same agent under another name; the name in its personality stays as it is.

        Raises:
            InvalidAgentName, AgentNotFound, AlreadyExists, StoreError: nothing was changed.
        """
        with self.lock:
            target = self.free_name(to, but=name)
            with self._closed(name) as place:
                self.journals.of(place.folder).leave_name()
                lifecycle.rename(place, self._place(target))
                self._forget_on_server(place)
            branches.follow(self, place.folder.name, target)
            if target != place.folder.name:
                self.carry_out(knowing.newcomer(knowing.kept_by(self), target))
            self.carry_out(knowing.renamed(knowing.kept_by(self), place.folder.name, target))
            return self.agent(target)

    def delete_agent(self, name: str) -> Binned:
        """Move an agent to the world's bin, from where ``restore_agent`` brings it back.

        Raises:
            AgentNotFound, StoreError: nothing was changed.
        """
        with self.lock, self._closed(name) as place:
            self.journals.of(place.folder).leave_name()
            binned = lifecycle.send_to_bin(place, real_clock())
            self._forget_on_server(place)
            return binned

    def deleted_agents(self) -> list[Binned]:
        """The agents in the bin, the last deleted first."""
        return lifecycle.in_bin(self.folder)

    def restore_agent(self, binned: Binned) -> AgentMemory:
        """Bring an agent back from the bin.

        Raises:
            AgentNotFound: it is no longer there.
            AlreadyExists: its name has been taken since.
        """
        if not isinstance(binned, Binned):
            raise InvalidParameter("Only one of ``deleted_agents()`` can be restored.")
        with self.lock:
            lifecycle.bring_back(binned, self._place(self.free_name(binned.name)))
            return self.agent(binned.name)

    def _place(self, name: str) -> Place:
        return self.spot.agent(name)

    def free_name(self, name: str, but: str = "") -> str:
        """The checked name, if no agent but ``but`` has it, or one that differs only in upper and lower case.

        Raises:
            InvalidAgentName, AlreadyExists: it cannot be used.
        """
        checked, but = checked_name(name), text_given("but", but)
        for other in (*self.agents(), WORLD_AGENT):
            if other.casefold() == checked.casefold() and other != but:
                raise AlreadyExists(f"There is an agent {other!r} already.")
        return checked

    @contextmanager
    def _closed(self, name: str) -> Iterator[Place]:
        """An agent's files while nobody writes them; callers that have the agent open must ask for it again."""
        knowing.refuse_knowledge(name)
        agent = self.agent(name)
        with agent.contents.alone():
            self._agents.close(agent.name)
            yield self._place(agent.name)

    def _forget_on_server(self, place: Place, origin: str | None = None) -> None:
        """Make a Chroma server forget an agent that is no longer here, so that another can have its name."""
        with suppress(StoreUnavailable):  # the next agent of this name will report what is still there
            forget(place.folder / STORE, self.settings.chroma, origin)

    @contextmanager
    def let_go(self) -> Iterator[None]:
        """Close every agent, and let nobody write any, while the world's files are moved; then all are opened again.

        Raises:
            StoreBusy: another program has been writing for 30 seconds.
            StoreError: a folder cannot be written.
        """
        with self.lock, ExitStack() as stack:
            self.knowledge.close()
            for name in self.stored():
                self._agents.close(name)
                if (self.folder / name).is_dir():
                    stack.enter_context(WriteLock(self.folder / name).hold())
                    home = self.journals.of(self.folder / name)
                    home.leave_name()
                    self._forget_on_server(self._place(name), home.origin())  # it may never have been opened
            self._tokens.close()
            yield

    def __contains__(self, agent: object) -> bool:
        """Whether there is an agent of this name, or this agent."""
        return isinstance(name := getattr(agent, "name", agent), str) and name in self.agents()

    def __iter__(self) -> Iterator[AgentMemory]:
        """The characters, one after the other, without rehearsals."""
        return (self.agent(name) for name in self.characters())

    def __repr__(self) -> str:
        return f"<World {self.name!r} in {str(self.folder.parent)!r}>"
