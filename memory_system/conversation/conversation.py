"""Conversation: a talk with an agent that is stored: every step is a change set, and every message can be found.

Also how a talk is left, and how all of it is taken back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Self

from ..agent import AgentMemory
from ..core.change_set import PENDING, Change, ChangeSet, Kept, Revision, TextChange, excerpt, revision_of
from ..core.entry import LIVED, MemoryEntry, Tier, new_id
from ..core.scoring import whole
from ..core.times import moment_given
from ..errors import Conflict, InvalidParameter, ModelUnavailable, StaleChange, shown
from ..llm.base import NOTICES, Heard, unheard
from ..operations.context import Progress, bare, no_progress, refuse_uncallable
from ..operations.edit import lasting, listed
from ..operations.importing.turns import MAX_SPEAKER
from ..operations.synopsis import listed as together
from ..recall.versus import Versus
from . import noting, people, remembering, storage
from .actions import Action, checked_actions
from .comparing import MAX_MESSAGES, Lines, lines_of
from .context import Context
from .functions import RESERVED
from .playing import Ask, Played, checked_blocks, first_blocks, looked_at, play, run
from .replaying import GoingOn, Recorded, Replay, asked, last_step, messages_of, refuse_again, replayed, taken_back
from .stepping import Told, untold
from .steps import MUTED, WITHOUT, Step, planned, step_of
from .storage import actions_of, conversations, entry_of, read, removal
from .talk import NOBODY, UNPROMPTED, Message, Talk, TalkSettings, checked_settings, title_of

SYNOPSIS = "synopsis"
"""The history's name for the operation that remembers a talk."""


def removed(agent: AgentMemory, talk: Talk, now: datetime, *, events: bool) -> ChangeSet:
    """The changes that take a conversation out of memory; pinned and protected events stay.

    With its events, what the agent learned about its partner goes too, unless they also talked at another time.
    """
    plan = replace(removal(agent, talk.id, author=agent.author), planned_at=now)
    if not events:
        return plan
    left = {
        name
        for conversation in storage.conversations(agent)
        if conversation.id != talk.id
        for name in conversation.people
    }
    for name in (person for person in talk.people if person not in left):
        plan = replace(plan, texts=(*plan.texts, *people.forgotten(agent, name)))
    lived = (entry for tier in LIVED if tier is not Tier.STATIC for entry in agent.entries(tier))
    stored = (entry for entry in lived if entry.extras.get("conversation") == talk.id and lasting(entry) is None)
    gone = tuple(Change(bare(entry), None, "It came from a conversation that was removed.") for entry in stored)
    return replace(plan, changes=(*plan.changes, *gone))


MAX_TITLE = 200
_TRIES = 3
"""How often a step is fitted to what others changed at the same moment."""
MOST_OTHERS = 100
"""How many people an agent may talk with in one conversation."""


class Conversation:
    """A talk with an agent; ``begin`` one or ``open`` one, then ``step``.

    It holds no state of its own: each call reads what is stored, so that it is never out of date after an undo, or
    a change by another process or another ``Conversation`` of the same id.
    """

    def __init__(self, agent: AgentMemory, conversation: str) -> None:
        self.agent = agent
        self.id = conversation

    @classmethod
    def begin(
        cls,
        agent: AgentMemory,
        *,
        title: str = "",
        human: str = NOBODY,
        settings: TalkSettings | None = None,
        persona: str | None = None,
        human_block: str | None = None,
        now: datetime | None = None,
        others: Sequence[str] = (),
    ) -> Self:
        """A new conversation.

        Args:
            agent: whom one talks with.
            title: at most 200 characters; made of the name and the date if not given.
            human: the name of the person the agent talks with, at most 100 characters; a part of it, such as the first
                name, means the person it knows by that, or the character of its world.
            settings: how it is held.
            persona: the first text of that block of core memory; if not given, as much of the static memory as fits.
            human_block: the first text of the other block; what the agent knows of them if not given, see ``people``.
            now: the world's time.
            others: the full names of everybody the agent talks with, instead of ``human``.

        Raises:
            InvalidParameter: one is not as described, or the name of the human is part of several people's names.
        """
        moment = agent.now if now is None else moment_given("'now'", now)
        with_whom = tuple(storage.line("The name", name) for name in listed(others, "'others'"))
        if len(with_whom) > MOST_OTHERS:
            raise InvalidParameter(f"A conversation is with {MOST_OTHERS} others at most, not {len(with_whom):,}.")
        name = _together(with_whom) or people.talks_with(agent, storage.line("The name", human))
        called = storage.line("The title", title or title_of(name, moment), MAX_TITLE)
        talk = Talk(new_id(), called, name, checked_settings(settings), others=with_whom)
        talk = dataclasses.replace(talk, blocks=first_blocks(agent, talk, persona, human_block))
        plan = planned(
            agent, f"Begin the conversation {excerpt(called)}", moment, texts=storage.text_changes(agent, talk)
        )
        agent.apply(plan)
        return cls(agent, talk.id)

    @classmethod
    def open(cls, agent: AgentMemory, conversation: str) -> Self:
        """A conversation that was begun before.

        Raises:
            ConversationNotFound: the agent has no conversation of this id.
        """
        storage.loaded(agent, conversation, queue=False)
        return cls(agent, conversation)

    @classmethod
    def all(cls, agent: AgentMemory) -> tuple[Self, ...]:
        """All conversations of an agent, the most recently used first."""
        return tuple(cls(agent, listed.id) for listed in conversations(agent))

    # -- looking -----------------------------------------------------------------------------------------

    @property
    def talk(self) -> Talk:
        """The talk as it is now, with the part of its past that the strategy shows.

        Raises:
            ConversationNotFound: it has been undone.
        """
        return storage.loaded(self.agent, self.id)

    @property
    def head(self) -> Talk:
        """The talk without its messages: title, settings, core memory; quick."""
        return storage.loaded(self.agent, self.id, queue=False)

    def context(self, now: datetime | None = None) -> Context:
        """What is in the prompt right now, before a message; this changes nothing."""
        return looked_at(self.agent, self.talk, self._time(now))

    def messages(self, start: int = 0, count: int = 100) -> tuple[Message, ...]:
        """Messages by number, the oldest first.

        Args:
            start: the first number; below 0 it counts from the end.
            count: how many at most, 1 to 10,000.

        Raises:
            InvalidParameter: one is not a whole number in its range.
        """
        most = self.head.next_number
        first = whole("start", start, -(2**31), 2**31)
        first = max(0, most + first) if first < 0 else first
        return read(self.agent, self.id, first, min(whole("count", count, 1, 10_000), max(0, most - first)))

    def lines(self) -> Lines:
        """The last 200 lines that were said to the agent, and how they query memory; this changes nothing."""
        return lines_of(self.agent, self.head, self.messages(-MAX_MESSAGES, MAX_MESSAGES))

    def versus(self, first: str, second: str, *, now: datetime | None = None) -> Versus:
        """On how many lines of this talk one preset is judged better than another; touches nothing.

        Each line that was said to the agent is a cue, asked as the talk asks memory, and counts once everything that
        only one of the two recalls has been judged with ``AgentMemory.judge``. Memories of the talk itself are left
        out.

        Args:
            first: a name of ``PRESETS``, or ``settings`` for the agent's own.
            second: the same, for the other.
            now: the world's time at which the lines are asked.

        Raises:
            InvalidParameter: there is no such preset.
        """
        lines = self.lines()
        return self.agent.versus(
            first, second, now=self._time(now), top_k=lines.top_k, cues=lines.cues, without=lines.without
        )

    # -- talking -----------------------------------------------------------------------------------------

    def step(
        self,
        text: str,
        *,
        now: datetime | None = None,
        heard: Heard = unheard,
        told: Told = untold,
        preview: bool = False,
        hold: bool = False,
        muted: Sequence[str] = (),
        without: Sequence[str] = (),
        speaker: str = "",
        actions: Sequence[Action] = (),
    ) -> Step:
        """Say something to the agent, and get its answer. Everything is stored as one change set.

        Args:
            text: what is said, 1 to 32,000 characters.
            now: the world's time.
            heard: called with the answer as it arrives; it may raise to cancel, and nothing is stored then.
            told: called with each function call once it is done; it may raise too.
            preview: whether to store nothing; the change set can be applied later, without asking the model again.
            hold: whether the events that the agent would store are offered, instead of stored with the step.
            muted: ids of memories to leave out, for this step only.
            without: blocks of core memory to leave out, for this step only.
            speaker: who says it, if it is not the human of the conversation.
            actions: what the agent can do in the game at this step, in addition to the functions of memory.

        Returns:
            The answer, and how it came about. If the language model fails, the message is still stored; ``problem``
            says why there is no answer. If it calls actions that have no callable, they are ``pending``: nothing is
            stored until their results are passed to ``go_on``.

        Raises:
            InvalidEntry, InvalidParameter: the message or a parameter cannot be accepted. Nothing was changed.
            ConversationNotFound: the conversation has been undone.
            StaleChange: somebody else talked at the same moment. Nothing was changed.
        """
        self._refuse_busy(heard)
        by = storage.line("The speaker", speaker) if speaker else ""
        ask = Ask(
            text,
            self._time(now),
            heard=heard,
            told=told,
            muted=tuple(listed(muted)),
            without=tuple(listed(without)),
            touch=not preview,
            speaker=by,
            actions=checked_actions(actions, RESERVED),
        )
        return self._stepped(self.talk, ask, preview=preview, hold=hold)

    def heartbeat(
        self,
        *,
        now: datetime | None = None,
        heard: Heard = unheard,
        told: Told = untold,
        preview: bool = False,
        hold: bool = False,
        actions: Sequence[Action] = (),
    ) -> Step:
        """Let the agent speak unprompted: to open the talk, or because time has passed.

        It may say something, do something, or stay silent, with an empty answer and no problem. With
        ``TalkSettings.heartbeat`` this happens by itself as time passes.

        Args:
            now: the world's time.
            heard: called with what it says as it arrives.
            told: called with each function call once it is done.
            preview: whether to store nothing.
            hold: whether the events that the agent would store are offered, instead of stored with the step.
            actions: as of ``step``.

        Raises:
            InvalidParameter, ConversationNotFound, StaleChange: as ``step``.
        """
        self._refuse_busy(heard)
        talk, moment = self.talk, self._time(now)
        last = next((message for message in reversed(talk.queue) if message.said), None)
        if last is None:
            notice = f"{NOTICES[0]} {talk.human}, if you want to."
        else:
            minutes = max(0, int((moment - last.at) / timedelta(minutes=1)))
            notice = f"{NOTICES[1]} {minutes} minutes. You may say or do something, or stay silent."
        ask = Ask(
            notice,
            moment,
            heard=heard,
            told=told,
            touch=not preview,
            speaker=UNPROMPTED,
            actions=checked_actions(actions, RESERVED),
        )
        return self._stepped(talk, ask, preview=preview, hold=hold)

    def answer_again(
        self, *, now: datetime | None = None, heard: Heard = unheard, told: Told = untold, hold: bool = False
    ) -> Step:
        """Take the last step back and answer the same once more, with memory, settings and model as they are by now.

        Both answers stay in the history. Without a new one, the former is brought back.

        Args:
            now: the world's time.
            heard: called with the answer as it arrives; it may raise to cancel.
            told: called with each function call once it is done.
            hold: whether the events that the agent would store are offered, instead of stored with the step.

        Raises:
            InvalidParameter: nothing was said that could be answered again.
            ModelUnavailable: the language model gives no answer.
            StaleChange: what the step stored has been changed since, or it is being answered again already; nothing
                was changed. Or others talked meanwhile: what they said stands.
        """
        refuse_uncallable(heard=heard)
        moment, last = self._time(now), last_step(self.agent, self.head)
        if last is None:
            raise InvalidParameter("Nothing was said here that could be answered again: say something first.")
        former = asked(messages_of(last.change_set, self.id), last.change_set, (), self.agent.model)
        ask = replace(former, now=moment, heard=heard, told=told, touch=True, model=None, results={})
        with taken_back(self.agent, self.id, last) as steps:
            step = self._stepped(self.talk, ask, preview=False, hold=hold)
            steps.append(step)
        if step.problem:
            raise ModelUnavailable(f"{step.problem} The former answer stands.")
        return step

    def go_on(
        self,
        step: Step | ChangeSet,
        results: Mapping[str, object],
        *,
        actions: Sequence[Action] = (),
        heard: Heard = unheard,
        told: Told = untold,
        preview: bool = False,
        hold: bool = False,
    ) -> Step:
        """Continue a step whose actions were carried out elsewhere; the model is not asked again for what it said.

        Args:
            step: one with calls that are ``pending``, or its change set.
            results: the result of each call by the call's id, as a value for JSON; an exception means a failure.
            actions: those of the step that have a callable; the others are known from it.
            heard: called with the answer as it arrives.
            told: called with each function call once it is done.
            preview: whether to store nothing.
            hold: whether the events that the agent would store are offered, instead of stored with the step.

        Returns:
            As ``step``: with the answer, or with more that is pending.

        Raises:
            InvalidParameter: this is not a pending step of this talk, or a result belongs to none of its calls.
            Conflict: somebody else has talked since; say it again.
        """
        self._refuse_busy(heard)
        plan = step.change_set if isinstance(step, Step) else step
        said = messages_of(plan, self.id) if plan is not None and plan.revision is None else ()
        if plan is None or not said:
            raise InvalidParameter("Pass the step as it came, with its pending calls; this one has none.")
        talk = self.talk
        if talk.next_number != said[0].number:
            raise Conflict("Somebody has talked since; say it again.")
        carried = {action.name: action.do for action in checked_actions(actions, RESERVED)}
        known = asked(said, plan, actions_of(plan, talk), Recorded(plan.calls))
        waiting = {call.id: call.name for call in run(self.agent, talk, known).outcome.pending}
        if missing := [f"{call_id} ({name})" for call_id, name in waiting.items() if call_id not in results]:
            raise InvalidParameter(f"Pass the result of every call; these have none: {', '.join(missing)}.")
        if unknown := [result for result in results if result not in waiting]:
            raise InvalidParameter(
                f"The step is not waiting for a call {shown(unknown[0])}; it is waiting for "
                f"{', '.join(waiting) if waiting else 'none'}."
            )
        model = GoingOn(plan.calls, self.agent.model, heard, told)
        ask = dataclasses.replace(
            known,
            model=model,
            heard=unheard if heard is unheard else model.heard,
            told=model.told,
            actions=tuple(dataclasses.replace(action, do=carried.get(action.name)) for action in known.actions),
            results={**known.results, **results},
        )
        return self._stepped(talk, ask, preview=preview, hold=hold)

    def _refuse_busy(self, heard: Heard) -> None:
        refuse_uncallable(heard=heard)
        refuse_again(self.agent, self.id)

    def _stepped(self, talk: Talk, ask: Ask, *, preview: bool, hold: bool) -> Step:
        played = play(self.agent, talk, ask)
        for left in reversed(range(_TRIES)):
            plan = self._planned(talk, played, ask, hold=hold)
            if played.outcome.pending:
                plan = dataclasses.replace(plan, operation=PENDING)
            try:
                done = plan if preview or played.outcome.pending else self.agent.apply(plan)
                break
            except StaleChange:  # a synopsis, perhaps, took the place of a note at this moment
                if not left:
                    raise
        offered = [self._offered(event, ask.now) for event in played.events] if hold else []
        return step_of(played, done, tuple(offered))

    def note(
        self,
        *,
        heard: str = "",
        said: str = "",
        now: datetime | None = None,
        preview: bool = False,
        speaker: str = "",
    ) -> ChangeSet:
        """As the function ``note``: store what was said elsewhere, or between others."""
        refuse_again(self.agent, self.id)
        return noting.note(self, heard=heard, said=said, now=now, preview=preview, speaker=speaker)

    def edit_core(self, block: str, text: str, *, preview: bool = False, now: datetime | None = None) -> ChangeSet:
        """Rewrite a block of core memory, ``persona`` or ``human``.

        Raises:
            InvalidParameter: there is no such block, or the text does not fit in it.
        """
        talk = self.talk
        if block not in ("persona", "human"):
            raise InvalidParameter("Core memory has two blocks, persona and human.")
        blocks = checked_blocks(dataclasses.replace(talk.blocks, **{block: text}), talk.settings.block_room)
        return self._set(f"Edit core memory: {block}", talk, dataclasses.replace(talk, blocks=blocks), preview, now)

    def change(self, settings: TalkSettings, *, preview: bool = False, now: datetime | None = None) -> ChangeSet:
        """Change how the conversation is held from now on; what was said stays, and so does core memory.

        If a smaller budget leaves too little room for a block, the prompt shows its beginning, and says so.

        Raises:
            InvalidParameter: these are not settings.
        """
        if settings is None:
            raise InvalidParameter("Say which settings: TalkSettings(strategy=..., budget=..., ...).")
        talk = self.talk
        after = dataclasses.replace(talk, settings=checked_settings(settings), ceiling=0)
        return self._set(f"Change how {excerpt(talk.title)} is held", talk, after, preview, now)

    def replay(self, revision: Revision | None = None) -> Replay:
        """A step replayed without the model: the same messages come out, or it says where they differ.

        Nothing is changed. It uses the memory as it was then, so that searches also give the same results.

        Args:
            revision: the step's, or its change set; the last step if not given.

        Raises:
            ChangeSetNotFound, InvalidParameter: it is not a step of this conversation.
        """
        if revision is None:
            newest = last_step(self.agent, self.head)
            if newest is None:
                raise InvalidParameter("Nothing has been said in this conversation, so there is nothing to replay.")
            revision = newest.revision
        return replayed(self.agent, self.id, whole("The revision", revision_of(revision), 1, 2**62))

    def synopsis(
        self, *, now: datetime | None = None, preview: bool = False, progress: Progress = no_progress
    ) -> ChangeSet:
        """Leave the talk: what it shows becomes one memory of STM that rests on its messages.

        It covers what was said since the last synopsis, at most the last 2,000 messages, and replaces the notes that
        were taken of them; see ``AgentMemory.remember_conversation`` for what it says. One can go on talking.

        Raises:
            Conflict: nothing has been said since.
            StaleChange: somebody talked meanwhile. Nothing was changed.
        """
        talk, moment = self.talk, self._time(now)
        synopsis = remembering.synopsis_of(self.agent, talk, self.messages, moment, progress)
        if not synopsis.said:
            raise Conflict("Everything said in this talk is remembered already.")
        present = self.head
        if present.next_number != talk.next_number:
            raise StaleChange("Somebody talked while the talk was remembered, so nothing was changed. Try it again.")
        after = storage.brought_together(talk, synopsis.talk, present)
        plan = planned(
            self.agent,
            f"Remember the talk {excerpt(talk.title)}",
            moment,
            synopsis.changes,
            operation=SYNOPSIS,
            texts=storage.text_changes(self.agent, after, present),
            calls=synopsis.calls,
            notes=synopsis.notes,
        )
        return plan if preview else self.agent.apply(plan)

    def remove(self, *, events: bool = False, now: datetime | None = None, preview: bool = False) -> ChangeSet:
        """Take the whole conversation out of memory: its messages, its core memory, its summary. It can be undone.

        Args:
            events: whether the events that the agent stored while it talked are forgotten too.
            now: the world's time.
            preview: whether to plan only.
        """
        plan = removed(self.agent, self.head, self._time(now), events=events)
        return plan if preview else self.agent.apply(plan)

    # -- how ---------------------------------------------------------------------------------------------

    def _set(self, title: str, before: Talk, after: Talk, preview: bool, now: datetime | None) -> ChangeSet:
        plan = planned(self.agent, title, self._time(now), texts=self._texts(before, before, after))
        return plan if preview else self.agent.apply(plan)

    def _texts(self, before: Talk, present: Talk, after: Talk) -> tuple[TextChange, ...]:
        known = people.text_changes(self.agent, after.people, before.blocks, after.blocks)
        return (*storage.text_changes(self.agent, after, present), *known)

    def _planned(self, before: Talk, played: Played, ask: Ask, *, hold: bool) -> ChangeSet:
        outcome = played.outcome
        present = self.head
        after = storage.brought_together(before, outcome.talk, present)
        talk, notes = remembering.noted(self.agent, after, outcome.messages, ask.now)
        said = [Change(None, entry_of(self.id, message), "It was said.") for message in outcome.messages]
        events = [] if hold else [Change(None, event, _STORED) for event in played.events]
        summary = storage.summary_change(self.agent, talk, ask.now)
        problem = (f"No answer: {outcome.problem}",) if outcome.problem else ()
        return planned(
            self.agent,
            f"Heartbeat in {excerpt(talk.title)}" if ask.speaker == UNPROMPTED else f"Talk: {excerpt(ask.text)}",
            ask.now,
            (*said, *summary, *notes, *events),
            texts=self._texts(before, present, talk),
            kept=tuple(Kept(entry_id, MUTED) for entry_id in ask.muted),
            calls=outcome.calls,
            notes=(*problem, *(WITHOUT.format(name) for name in ask.without), *outcome.notes),
        )

    def _offered(self, event: MemoryEntry, now: datetime) -> ChangeSet:
        return planned(self.agent, f"Remember {excerpt(event.document)}", now, (Change(None, event, _STORED),))

    def _time(self, now: datetime | None) -> datetime:
        return self.agent.now if now is None else moment_given("'now'", now)


def _together(names: Sequence[str]) -> str:
    """Several names as one text; if they do not fit, how many they are."""
    text = together(names) if names else ""
    return text if len(text) <= MAX_SPEAKER else f"{len(names)} others"


_STORED = "The agent stored it while it talked."
