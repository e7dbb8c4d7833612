"""Time passes: each character does what is due, in order, each step as a change set of the world's with its reason.

What is due is computed from what is stored, before a step is planned and again, with the agent locked, right before it
is applied. So nothing else has to be stored: after a cancel or a kill it goes on where it stopped, and if two processes
do this at once, each step is done once. What was undone stays undone until something new has happened.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ..agent import AgentMemory
from ..conversation import Conversation, people, reflect_on_person
from ..conversation.conversation import SYNOPSIS as OF_TALK
from ..conversation.people import about, text_of
from ..conversation.steps import OPERATION as TALK
from ..conversation.storage import beating, message_id, unremembered
from ..conversation.storage import read as message_slice
from ..conversation.talk import UNPROMPTED, Role
from ..core.authors import BY_ITSELF
from ..core.change_set import CONVERSATION, ChangeSet, Kept, ModelCall
from ..core.entry import Kind, MemoryEntry, Tier, wants_rating
from ..core.files import as_store_errors
from ..core.settings import Replan
from ..core.times import after, moment_given, stamp
from ..errors import (
    AgentNotFound,
    ChangeSetNotFound,
    EntryNotFound,
    InvalidEntry,
    InvalidParameter,
    MemorySystemError,
    ModelError,
    ModelTimeout,
    ModelUnavailable,
    ReadOnly,
    StaleChange,
    shown,
)
from ..llm.guarded import Over
from ..llm.offline.model import OfflineModel
from ..llm.threads import watched
from ..operations import acquaintance, migration, reflection, summarisation
from ..operations.context import Progress, by_age, no_progress, refuse_uncallable, within
from ..operations.importing.events import Events, read
from ..operations.rating import REFUSALS
from ..store.clock import move_standing, read_standing, world_clock
from ..store.journal.as_of import Event
from ..store.journal.history import Applied
from .branches.branches import Stage
from .due import (
    ADD,
    ASKS,
    HEARTBEAT,
    IMPORTANT,
    MIGRATE,
    PERSON,
    PLAN,
    RATE,
    REFLECT,
    SUMMARISE,
    Beat,
    Coming,
    Felt,
    Left,
    Life,
    Step,
    due,
    foreseen,
    morning_of,
    next_time,
)
from .hour import HOUR, Purse, room

LOCK = ".living.lock"
"""A lock in the world's folder: only one process at a time lets time pass."""
_SECONDS = 0.2
"""How often to check for a cancel while waiting for that lock."""
YEARS = (2, 9998)
"""The years in which time can pass: the times before and after must be valid too."""
MOST_DAYS = 366
"""How far time may pass at once."""
_RATINGS = 20
"""How many of the last ratings are checked for memories that got none, or whose rating was undone."""
_TALKS = 100
"""How many of the last synopses, and of the last reflections on people, are checked for ones already made."""
MOST_BEATS = 3
"""How often a character speaks unprompted in a talk, or is silent, before anybody else says something."""
_SINCE = 200
"""How many messages are checked for that."""


@dataclass(frozen=True)
class Advanced:
    """The result of letting time pass, or of foreseeing it.

    Args:
        now: the world's time afterwards.
        steps: what was done by itself, in order.
        waiting: what is due and could not be done; each says why. It is tried again the next time.
        stopped: whether it was cancelled before the end.
    """

    now: datetime
    steps: tuple[Step, ...]
    waiting: tuple[Step, ...] = ()
    stopped: bool = False

    def __str__(self) -> str:
        """The time, and counts of what was done and what waits."""
        counts = (
            ", ".join(f"{count} {what}" for what, count in Counter(step.what for step in steps).items())
            for steps in (self.steps, self.waiting)
        )
        done, waiting = counts
        return f"{stamp(self.now)}: {done or 'nothing'} done{f', waiting: {waiting}' if waiting else ''}"


def life_of(agent: AgentMemory, at: datetime, folder: Path, coming: Sequence[MemoryEntry] = ()) -> Life:
    """The present state that decides what a character does by itself.

    Args:
        agent: the character.
        at: the world's time.
        folder: the world's folder, which has the prices.
        coming: events that are to happen; those that the character ever had count as happened.
    """
    settings = agent.settings
    stm, ltm = agent.entries(Tier.STM), agent.entries(Tier.LTM)
    last = {what: agent.timeline.last_act(what, BY_ITSELF) for what in (MIGRATE, REFLECT, SUMMARISE, PLAN)}
    newest = max((entry.timestamp for entry in stm if entry.timestamp), default=None)

    def stays_undone(what: str) -> bool:
        done = last[what]
        return done is not None and done.undone_by is not None and not (newest and newest > done.change_set.planned_at)

    lived = sum(1 for entry in stm if not migration.was_said(entry))
    overflows = len(stm) > settings.stm_size and not stays_undone(MIGRATE)
    reflected = last[REFLECT]
    free = [] if not settings.ltm_size or stays_undone(SUMMARISE) else summarisation.to_summarise(ltm, at)
    routine = agent.personality.routine if agent.personality else []
    left = room(agent, at, folder)
    return Life(
        agent.name,
        coming=tuple(_coming(agent, coming)),
        unrated=tuple(_unrated((*stm, *ltm), agent.history(_RATINGS, operation=RATE), at)),
        overflow=len(agent.migrate_stm2ltm(now=at, preview=True).changes) if overflows else 0,
        room=max(0, settings.stm_size - lived),
        felt=reflection.weight(
            [entry for entry in (*stm, *ltm) if entry.timestamp and entry.timestamp <= at],
            reflected.change_set.planned_at if reflected is not None else None,
        ),
        trigger=settings.reflection_trigger,
        people=tuple(_people(agent, at)) if settings.person_trigger else (),
        person_trigger=settings.person_trigger,
        recent=len(stm),
        ltm=len(ltm),
        ltm_size=settings.ltm_size,
        free=len(free),
        planned=max(_planned(ltm, last[PLAN], at), default=None),
        morning=morning_of(min((item.time for item in routine), default=None)),
        talks=tuple(_left(agent)),
        beats=tuple(_beats(agent, at)),
        stirring=tuple(_stirring(agent, (*stm, *ltm), at)) if settings.replan is not Replan.NEVER else (),
        proposes=settings.replan is Replan.PROPOSE,
        spent=left.spent,
        room_at=left.at if left.spent else None,
        calls=left.calls,
        later=agent.model.name != OfflineModel.name,
    )


def _own(agent: AgentMemory, what: str, most: int) -> list[Applied]:
    return agent.history(most, author=BY_ITSELF, operation=what)


def _coming(agent: AgentMemory, events: Sequence[MemoryEntry]) -> Iterator[Coming]:
    for event in events:
        assert event.timestamp is not None, "what has no time happens at once"
        try:
            agent.last_version(event.id)
        except EntryNotFound:
            yield Coming(event.id, event.timestamp, event.rating)


def expected(events: Mapping[str, Events], now: datetime) -> dict[str, list[MemoryEntry]]:
    """The events that are to happen, by the agent's name, the earliest first; one without a time happens at once.

    Raises:
        InvalidEntry: an event cannot be accepted, or has no id, which keeps it from happening twice.
    """
    if not isinstance(events, Mapping):
        raise InvalidEntry('The events must say whose each is: {"ana": [{"id": "e1", "document": "..."}]}.')
    found = {}
    for name, some in events.items():
        each = [some] if isinstance(some, MemoryEntry | Mapping) else some
        if isinstance(each, str | Path) or not isinstance(each, Iterable):
            raise InvalidEntry(f"The events of {shown(name)} must be a list of them, not {shown(some)}.")
        each = list(each)
        if any(isinstance(event, Mapping) and not event.get("id") for event in each):
            raise InvalidEntry(f"Each event of {shown(name)} needs an id, so that it happens once.")
        entries = read(each, now).entries
        found[name] = sorted(entries, key=lambda entry: ((entry.timestamp or now).timestamp(), entry.id))
    return found


def _unrated(entries: Sequence[MemoryEntry], ratings: Sequence[Applied], at: datetime) -> list[str]:
    """The memories to be rated, except undone ratings and, in this hour, those that the model gave no rating for."""
    left = {
        change.entry_id for rating in ratings if rating.undone_by is not None for change in rating.change_set.changes
    }
    recent = (rating.change_set for rating in ratings if at - rating.change_set.planned_at < HOUR)
    left |= {kept.entry_id for done in recent for kept in done.kept}
    waiting = (entry for entry in entries if wants_rating(entry.rating, entry.explanation) and entry.id not in left)
    return [entry.id for entry in sorted(waiting, key=by_age) if not entry.protected]


def _planned(ltm: Iterable[MemoryEntry], last: Applied | None, at: datetime) -> Iterator[date]:
    for entry in ltm:
        if entry.kind is Kind.PLAN and "plan_day" in entry.extras:
            yield date.fromisoformat(str(entry.extras["plan_day"]))
    if last is not None:
        yield last.change_set.planned_at.astimezone(at.tzinfo).date()


def _stirring(agent: AgentMemory, entries: Sequence[MemoryEntry], at: datetime) -> Iterator[str]:
    """The important events since the day was planned, if some of that plan lies ahead; the earliest first.

    An earlier event of the day counts too if it became known, or important, after that plan.
    """
    day, clock = at.date().isoformat(), f"{at:%H:%M}"
    plans = [entry.extras for entry in entries if entry.kind is Kind.PLAN and entry.extras.get("plan_day") == day]
    planned = agent.timeline.last_act(PLAN)
    if planned is None or not any(str(plan.get("end", "")) > clock for plan in plans):
        return
    since = planned.change_set.planned_at
    for event in sorted(entries, key=by_age):
        when = event.timestamp
        lived = event.kind in (Kind.OBSERVATION, Kind.CONVERSATION) and _important(event)
        if lived and when is not None and when <= at and when.astimezone(at.tzinfo).date() == at.date():
            changed = () if since < when else _changes_since(agent, planned.revision, event.id)
            if since < when or any(_important(event.after) and not _important(event.before) for event in changed):
                yield event.id


def _changes_since(agent: AgentMemory, revision: int, entry_id: str) -> Sequence[Event]:
    """What happened to a memory since a revision, as far as the history shows it."""
    try:
        return agent.timeline.events_since(revision, [entry_id])[entry_id]
    except ChangeSetNotFound:
        return ()


def _important(event: MemoryEntry | None) -> bool:
    return event is not None and (event.rating or 0) >= IMPORTANT


def _people(agent: AgentMemory, at: datetime) -> Iterator[Felt]:
    """The people with enough new mentions; after an undone reflection on one, only once there are more."""
    everybody = people(agent)
    undone = {
        text.name: act.change_set.planned_at
        for act in reversed(_own(agent, PERSON, _TALKS))
        if act.undone_by is not None
        for text in act.change_set.texts
    }
    for person in everybody:
        found = about(agent, everybody, person, at)
        taken_back = undone.get(text_of(person.name))
        if taken_back is not None and not any(entry.timestamp and entry.timestamp > taken_back for entry in found):
            continue
        if (weight := acquaintance.weight(found)) >= agent.settings.person_trigger:
            yield Felt(person.name, weight)


def _left(agent: AgentMemory) -> Iterator[Left]:
    talks = [talk for talk in unremembered(agent) if talk.last is not None]
    tried = _own(agent, OF_TALK, _TALKS) if talks else []
    for talk in talks:
        assert talk.last is not None, "those without a word are left out"
        since = (act.change_set for act in tried if act.change_set.planned_at >= talk.last)
        if not any(talk.id in _talks_of(change_set) for change_set in since):
            yield Left(talk.id, talk.title, talk.last)


def _beats(agent: AgentMemory, at: datetime) -> Iterator[Beat]:
    """The talks in which it may speak unprompted; after an undone heartbeat, only once somebody has spoken."""
    talks = beating(agent)
    tried = _own(agent, TALK, _TALKS) if talks else []
    for listed, talk in talks:
        said = message_slice(agent, talk.id, max(0, talk.next_number - _SINCE), _SINCE)
        heard = max((n for n, message in enumerate(said) if message.role is Role.USER and message.said), default=-1)
        beats = [message.at for message in said[heard + 1 :] if message.speaker == UNPROMPTED]
        last = next((act for act in tried if talk.id in _talks_of(act.change_set)), None)
        undone = last is not None and last.undone_by is not None
        if last is not None and undone and not (listed.last and listed.last > last.change_set.planned_at):
            continue
        every = timedelta(minutes=talk.settings.heartbeat)
        due_at = listed.last + every if listed.last else at
        yield Beat(
            talk.id, talk.title, max(due_at, talk.paused_until or due_at), every, max(0, MOST_BEATS - len(beats))
        )


def _beaten(talk: Conversation, now: datetime) -> ChangeSet:
    """The change set of a heartbeat in a talk.

    Raises:
        ModelUnavailable: the model had no answer; it may have one the next time.
    """
    done = talk.heartbeat(now=now, preview=True)
    if done.problem or done.change_set is None:
        raise ModelUnavailable(done.problem)
    return done.change_set


def _talks_of(done: ChangeSet) -> set[str]:
    """The talks for which a synopsis was made or tried."""
    named = {text.name.removeprefix(CONVERSATION) for text in done.texts}
    return named | {kept.entry_id.rpartition("-")[0] for kept in done.kept}


def _planned_step(
    agent: AgentMemory, step: Step, life: Life, progress: Progress, coming: Sequence[MemoryEntry]
) -> ChangeSet:
    """The change set of a step, not applied yet; a language model may be asked."""
    now = step.at
    if step.what == ADD:
        (event,) = (entry for entry in coming if entry.id == step.of)
        return agent.add_short_term(event, now=now, wait=False, preview=True, progress=progress).change_set
    if step.what == MIGRATE:
        return agent.migrate_stm2ltm(now=now, preview=True)
    if step.what == REFLECT:
        return agent.reflect_from_recent_memory(now=now, preview=True, progress=progress)
    if step.what == PERSON:
        return reflect_on_person(agent, step.of, now=now, preview=True, progress=progress)
    if step.what == SUMMARISE:
        return agent.summarize_and_forget(life.to_summarise, now=now, preview=True, progress=progress)
    if step.what == PLAN:
        return agent.plan_from_memory(now, because=life.stirring, preview=True, progress=progress)
    talk = Conversation.open(agent, step.of)
    return _beaten(talk, now) if step.what == HEARTBEAT else _synopsis(talk, now, progress)


def _refuse_failed(plan: ChangeSet) -> None:
    """Raise if a plan is empty because the model failed.

    Raises:
        ModelError: the model failed.
    """
    problem = next((call.error for call in plan.calls if call.error), None)
    if not plan and problem is not None:
        raise ModelError(problem)


def _synopsis(talk: Conversation, now: datetime, progress: Progress) -> ChangeSet:
    plan = talk.synopsis(now=now, preview=True, progress=progress)
    _refuse_failed(plan)
    if plan:
        return plan
    nothing = Kept(message_id(talk.id, talk.head.next_number - 1), "Nothing in the talk needs to be remembered.")
    return dataclasses.replace(plan, kept=(nothing,))


def _unusable(name: str, at: datetime, error: MemorySystemError) -> Step:
    """What is reported for a character whose files cannot be used or written."""
    return Step(name, "", at, "Its memory cannot be used.", waits=error.sentence)


class _Stopped(Exception):
    """It was cancelled."""


def until(world: Stage, to: datetime | None, *, foreseen: bool = False) -> tuple[datetime, datetime]:
    """The world's time, and the time to advance to, both in the world's zone; a running clock only lets one foresee.

    Raises:
        InvalidParameter: it has no zone, lies before the world's time or more than a year after it, or after it at all
            if the clock runs; or the world is at the first or last possible time.
    """
    now = world_clock(world.folder)()
    end = now if to is None else moment_given("'to'", to).astimezone(now.tzinfo)
    if after(now, end):
        raise InvalidParameter(
            f"The world's time is {stamp(now)}, and time does not run back: 'to' must be that or later."
        )
    if end - now > timedelta(days=MOST_DAYS):
        raise InvalidParameter(f"The world's time is {stamp(now)}; it can be advanced by {MOST_DAYS} days at a time.")
    if not YEARS[0] <= now.year <= end.year <= YEARS[1]:
        raise InvalidParameter(
            f"The world's time is {stamp(now)}; time passes from the year {YEARS[0]} to {YEARS[1]}. Let the clock "
            "stand between them."
        )
    if after(end, now) and read_standing(world.folder) is None and not foreseen:
        raise InvalidParameter(
            "The world's clock runs by itself, so it cannot be advanced beyond its time. Let it stand first, with "
            "pause(), by 'memory-system clock --pause' or on the World page."
        )
    return now, end


def _refuse_unknown(world: Stage, events: Mapping[str, Any]) -> None:
    """Raise unless everybody named in the events is a character.

    Raises:
        AgentNotFound: one is not a character.
    """
    there = world.characters()
    if unknown := [name for name in events if name not in there]:
        raise AgentNotFound(
            f"There is no character {shown(unknown[0])} to whom anything could happen; "
            f"there are {', '.join(there[:20]) or 'none'}."
        )


def foresee(
    world: Stage, to: datetime | None, failed: Sequence[Step] = (), events: Mapping[str, Events] | None = None
) -> Advanced:
    """What would happen by itself until a time, as far as that can be known without asking a language model.

    What waits is what waits at present (the budget may allow it by then) and what will wait.

    Args:
        world: whose characters.
        to: the world's time; its present if not given.
        failed: what failed the last time; it waits, with the reason, until time has passed.
        events: what is to happen; see ``expected``.

    Raises:
        InvalidParameter: see ``until``.
    """
    at, end = begin, _ = until(world, to, foreseen=True)
    whys = {(step.agent, step.what, step.of): step.waits for step in failed}
    coming = expected({} if events is None else events, at)
    _refuse_unknown(world, coming)
    lives: dict[str, Life] = {}
    steps: list[Step] = []
    waiting: list[Step] = []
    for name in world.characters():
        try:
            lives[name] = life_of(world.agent(name), at, world.folder, coming.get(name, ()))
        except MemorySystemError as error:
            waiting.append(_unusable(name, at, error))
    present: list[Step] = []
    while True:
        for name, life in lives.items():
            then = life
            while (step := next((step for step in due(then, at) if not step.waits), None)) is not None:
                steps.append(step)
                then = foreseen(then, step)
            lives[name] = then
        left = [step for life in lives.values() for step in due(life, at)]
        present = left if at == begin else present
        if at == end:
            known = {(step.agent, step.what, step.of) for step in present}  # what waits at present has a reason
            waiting += [*present, *(step for step in left if (step.agent, step.what, step.of) not in known)]
            for step_ahead in steps.copy():
                if step_ahead.at == begin and (why := whys.get((step_ahead.agent, step_ahead.what, step_ahead.of))):
                    steps.remove(step_ahead)
                    waiting.append(dataclasses.replace(step_ahead, waits=why))
            return Advanced(end, tuple(steps), tuple(waiting))
        at = min([end, *(next_time(life, at) for life in lives.values())])


class Advance:
    """Lets time pass in a world, once.

    Args:
        world: whose characters live.
        progress: called with the share done, 0 to 1, and what is being done; it may raise to stop.
        cancelled: called before each step, and during a call of a language model, to ask whether to stop.
        events: what is to happen; see ``expected``.
    """

    def __init__(
        self,
        world: Stage,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = lambda: False,
        events: Mapping[str, Events] | None = None,
    ) -> None:
        refuse_uncallable(progress=progress, cancelled=cancelled)
        self._world = world
        self._events = expected({} if events is None else events, world_clock(world.folder)())
        _refuse_unknown(world, self._events)
        self._progress = progress
        self._cancelled = cancelled
        self._done: list[Step] = []
        self._lives: dict[str, Life] = {}
        self._waits: dict[tuple[str, str, str], str] = {}
        self._down = ""
        self._closed: dict[str, Step] = {}
        self.next: datetime | None = None
        """When the next thing becomes due merely because time passes, set after passing; ``None`` = not known."""

    def to(self, to: datetime | None, *, wait: bool = True) -> Advanced | None:
        """Let it pass up to a time of the world; see ``World.advance``.

        Args:
            to: the world's time; its present if not given.
            wait: whether to wait if somebody else is letting time pass just now; if not, nothing is done.
        """
        until(self._world, to)  # an impossible request need not wait
        lock = FileLock(self._world.folder / LOCK, thread_local=False)
        while not self._acquires(lock):
            if self._cancelled() or not wait:
                return Advanced(world_clock(self._world.folder)(), (), stopped=True) if wait else None
            self._progress(0.0, "Waiting for somebody else who lets time pass")
        try:
            return self._to(to)
        finally:
            lock.release()

    def _acquires(self, lock: FileLock) -> bool:
        """Whether this one has the lock: a second one would only ask language models in vain."""
        with as_store_errors("The world's folder"), suppress(Timeout):
            self._world.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=_SECONDS)
            return True
        return False

    def _to(self, to: datetime | None) -> Advanced:
        begin, end = until(self._world, to)
        at, stopped = begin, False
        try:
            while True:
                share = (at - begin) / (end - begin) if end > begin else 0.0
                move_standing(self._world.folder, at)  # first: after a kill it goes on from this time
                for name in self._world.characters():
                    self._live(name, at, share)
                self.next = min((next_time(life, at) for life in self._lives.values()), default=None)
                if not after(end, at):
                    break
                at = self.next if self.next is not None and after(end, self.next) else end
        except _Stopped:
            stopped = True
        left = [step for life in self._lives.values() for step in due(life, at)]
        waiting = [dataclasses.replace(step, waits=why) for step in left if (why := self._why(step))]
        return Advanced(
            world_clock(self._world.folder)(), tuple(self._done), (*self._closed.values(), *waiting), stopped
        )

    def _live(self, name: str, at: datetime, share: float) -> None:
        """Do everything that is due for one character."""
        if name in self._closed:
            return
        try:
            agent = self._world.agent(name).acting_as(BY_ITSELF)
            if agent.read_only is not None:
                raise ReadOnly(agent.read_only)
            while True:
                if self._cancelled():
                    raise _Stopped
                life = self._lives[name] = self._life(agent, at)
                step = next((step for step in due(life, at) if not self._why(step)), None)
                if step is None:
                    return
                self._progress(share, f"{agent.display_name}: {step.why}")
                self._try(agent, step, life, share)
        except MemorySystemError as error:  # a character that cannot be opened must not stop the others
            self._closed[name] = _unusable(name, at, error)
            self._lives.pop(name, None)

    def _try(self, agent: AgentMemory, step: Step, life: Life, share: float) -> None:
        """Do a step, or record why it waits."""
        try:
            done = self._do(agent, step, life, share)
        except StaleChange:
            return  # somebody changed the same memories meanwhile; what is due is computed again
        except MemorySystemError as error:
            self._waits_for(step, error)
        else:
            if done is not None:
                self._done.append(dataclasses.replace(step, title=done.title, revision=done.revision))

    def _waits_for(self, step: Step, error: MemorySystemError) -> None:
        """Record why a step waits."""
        if isinstance(error, ModelUnavailable | ModelTimeout):
            self._down = error.sentence
        else:
            self._waits[step.agent, step.what, step.of] = error.sentence

    def _do(self, agent: AgentMemory, step: Step, life: Life, share: float) -> ChangeSet | None:
        """Plan a step and apply it, unless somebody else has done it meanwhile."""
        plan = dataclasses.replace(self._planned(agent, step, life, share), reason=step.why)
        with agent.contents.alone():
            if all(
                (other.what, other.of) != (step.what, step.of) for other in due(self._life(agent, step.at), step.at)
            ):
                return None
            return agent.apply(plan) if plan else agent.timeline.note(plan)

    def _planned(self, agent: AgentMemory, step: Step, life: Life, share: float) -> ChangeSet:
        """The change set of a step; if it is cancelled, a running call of a language model is given up."""
        if step.what not in ASKS or not life.later:
            return self._plan(agent, step, life, within(self._progress, share, share), lambda *_asked: None)
        given_up, doing = threading.Event(), [f"{agent.display_name}: {step.why}"]

        def refuse(*_asked: object) -> None:
            if given_up.is_set():
                raise _Stopped

        def progress(_done: float, what: str) -> None:
            refuse()
            doing[0] = what

        def look() -> None:
            if self._cancelled():
                raise _Stopped
            self._progress(share, doing[0])

        try:
            return watched(lambda: self._plan(agent, step, life, progress, refuse), "advance", look, _SECONDS)
        finally:
            given_up.set()

    def _plan(
        self, agent: AgentMemory, step: Step, life: Life, progress: Progress, refuse: Callable[..., None]
    ) -> ChangeSet:
        """The change set of a step; ``refuse`` is called before each call of a language model, and may raise."""
        if step.what == RATE:
            return self._rated(agent, step, life, progress, refuse)

        def begin(*_asked: object) -> Over:
            refuse()
            return lambda _came: None

        return _planned_step(agent.asking(begin), step, life, progress, self._coming(agent))

    def _rated(
        self, agent: AgentMemory, step: Step, life: Life, progress: Progress, refuse: Callable[..., None]
    ) -> ChangeSet:
        """Ratings, as far as the hourly budget allows the calls; what was not asked about stays due."""
        purse, failed = Purse(room(agent, step.at, self._world.folder)), list[ModelError]()

        def begin(model: str, prompt: int) -> Over:
            refuse()
            counted = purse.begin(model, prompt)

            def over(came: ModelCall | ModelError) -> None:
                counted(came)
                failed.extend([came] if isinstance(came, ModelError) else [])

            return over

        plan = agent.asking(begin).rate_again(list(life.to_rate), preview=True, progress=progress)
        tired = [model_error.sentence for model_error in failed if isinstance(model_error, REFUSALS)]
        away = [model_error for model_error in failed if model_error.sentence not in tired]
        if not plan and plan.kept:
            raise away[0] if away else ModelError(plan.kept[0].reason)
        for error in away:
            self._waits_for(step, error)
        kept = tuple(memory for memory in plan.kept if memory.reason in tired)
        return dataclasses.replace(plan, planned_at=step.at, kept=kept)

    def _coming(self, agent: AgentMemory) -> Sequence[MemoryEntry]:
        return self._events.get(agent.name, ())

    def _life(self, agent: AgentMemory, at: datetime) -> Life:
        return life_of(agent, at, self._world.folder, self._coming(agent))

    def _why(self, step: Step) -> str:
        """Why a step waits; empty if it need not."""
        said = step.waits or self._waits.get((step.agent, step.what, step.of), "")
        return said or (self._down if step.what in ASKS else "")
