"""Questions: a character interviewed, answers kept, and compared before and after an edit.

The five categories are those in which the agents of Park et al. 2023 (arXiv 2304.03442, section 6.1) were interviewed.

Interview and whisper: asking an agent without leaving a trace, and planting a thought.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..agent import AgentMemory
from ..core.change_set import Change, ChangeSet, TextChange, excerpt, is_text
from ..core.entry import Kind, MemoryEntry, new_id
from ..core.saved_interviews import MAX_SITTINGS, MAX_TITLE, Answered, Sitting, dump_sittings, parse_sittings
from ..core.times import moment_given
from ..errors import EntryNotFound, InvalidEntry, InvalidParameter, shown
from ..llm.base import Heard, unheard
from ..operations.context import Progress, no_progress, rated, refuse_uncallable
from ..operations.edit import listed
from .context import Context
from .playing import Ask, first_blocks, looked_at, play
from .stepping import Told, untold
from .steps import Step, planned, step_of
from .talk import NOBODY, Message, Mode, Talk, TalkSettings, checked_settings

WHISPER = "whisper"
"""The history's name for planting a thought, and its tag."""
FLEETING = "interview"
"""The id of a talk that is not stored."""


class Interview:
    """A talk that leaves no trace: the same engine as ``Conversation``, on a talk that exists only in this object.

    Nothing is journalled, touched or logged. What the agent writes into core memory changes only this talk, and what
    it would store is not stored; the results of its functions say so.

    Args:
        agent: whom one talks with.
        settings: how it is held.
        human: the name of the person the agent talks with.
        talk: a talk to go on from, such as ``Conversation.talk``; its settings and name are used then.

    Raises:
        InvalidParameter: the settings or the talk are not valid.
    """

    def __init__(
        self,
        agent: AgentMemory,
        settings: TalkSettings | None = None,
        *,
        human: str = NOBODY,
        talk: Talk | None = None,
    ) -> None:
        self.agent = agent
        if talk is not None and not isinstance(talk, Talk):
            raise InvalidParameter("The talk must be a Talk, such as Conversation.open(agent, id).talk.")
        if talk is None:
            talk = Talk(FLEETING, "Interview", human, checked_settings(settings))
            talk = dataclasses.replace(talk, blocks=first_blocks(agent, talk, None, None))
        self.talk = talk
        self.transcript: tuple[Message, ...] = ()

    def context(self, now: datetime | None = None) -> Context:
        """What is in the prompt right now, before a message."""
        return looked_at(self.agent, self.talk, self.agent.now if now is None else moment_given("'now'", now))

    def step(
        self,
        text: str,
        *,
        now: datetime | None = None,
        heard: Heard = unheard,
        told: Told = untold,
        muted: Sequence[str] = (),
        without: Sequence[str] = (),
    ) -> Step:
        """Ask, and get the answer; the arguments are those of ``Conversation.step``.

        Returns:
            The step, without a change set.

        Raises:
            InvalidEntry, InvalidParameter: the message or a parameter cannot be accepted.
        """
        refuse_uncallable(heard=heard)
        moment = self.agent.now if now is None else moment_given("'now'", now)
        exclusions = tuple(listed(muted)), tuple(listed(without))
        ask = Ask(text, moment, Mode.INTERVIEW, heard, told, *exclusions, said=self.transcript)
        played = play(self.agent, self.talk, ask)
        self.talk = played.outcome.talk
        self.transcript += played.outcome.messages
        return step_of(played, None)

    def ask_again(
        self, text: str, *, now: datetime | None = None, muted: Sequence[str] = (), without: Sequence[str] = ()
    ) -> Step:
        """As ``step``, but the talk stays as it is: for asking the same thing twice, with and without a memory."""
        talk, transcript = self.talk, self.transcript
        try:
            return self.step(text, now=now, muted=muted, without=without)
        finally:
            self.talk, self.transcript = talk, transcript


def whisper(agent: AgentMemory, text: str, *, now: datetime | None = None, preview: bool = False) -> ChangeSet:
    """Plant a thought: one rated event of STM, which the agent believes to be its own; it lasts like any other event.

    Raises:
        InvalidEntry: the text cannot be a memory.
    """
    if not is_text(text) or not text.strip():
        raise InvalidEntry("The thought is empty: whisper something.")
    moment = agent.now if now is None else moment_given("'now'", now)
    event = MemoryEntry(text.strip(), kind=Kind.OBSERVATION, timestamp=moment, tags=(WHISPER,))
    entry, call = rated(event, agent.model)
    change = Change(None, entry, "A person whispered it.")
    notes = (f"Not rated: {call.error}",) if call.error else ()
    plan = planned(agent, f"Whisper {excerpt(text)}", moment, (change,), operation=WHISPER, calls=(call,), notes=notes)
    return plan if preview else agent.apply(plan)


CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "self-knowledge": (
        "Who are you? Introduce yourself in a few words.",
        "What do you do for a living, and what do you like about it?",
        "What matters most to you?",
    ),
    "memory": (
        "Whom have you met lately, and what did you talk about?",
        "What is the most important thing that happened to you lately?",
        "Did anybody promise you something?",
    ),
    "plans": (
        "What are you going to do today?",
        "What will you be doing at six in the evening?",
        "What do you have to do for somebody else this week?",
    ),
    "reactions": (
        "Your breakfast is burning! What do you do?",
        "A friend says that they cannot keep a promise to you. What do you answer?",
        "You find a purse full of money in the street. What do you do?",
    ),
    "reflections": (
        "Who has influenced you most lately, and why?",
        "What have you learnt about yourself?",
        "If you could spend an hour with one person you know, who would it be, and why?",
    ),
}
"""Ready questions by category."""
TEXT = "interviews"
"""The journal's text that stores interviews."""
_MAX_QUESTIONS = 100


@dataclass(frozen=True)
class Difference:
    """One question in two interviews; ``None`` if it was not asked."""

    category: str
    question: str
    before: Answered | None
    after: Answered | None

    @property
    def same(self) -> bool:
        """Whether the answers say the same in the same words."""
        return self.before is not None and self.after is not None and self.before.answer == self.after.answer

    @property
    def remembered(self) -> tuple[str, ...]:
        """Ids of memories that only the later answer had in mind."""
        return self._only(self.after, self.before)

    @property
    def missed(self) -> tuple[str, ...]:
        """Ids of memories that only the earlier answer had in mind."""
        return self._only(self.before, self.after)

    @staticmethod
    def _only(answer: Answered | None, other: Answered | None) -> tuple[str, ...]:
        ids = set(other.recalled) if other else set()
        return tuple(entry_id for entry_id in (answer.recalled if answer else ()) if entry_id not in ids)


def ready(categories: Sequence[str] | None = None) -> list[tuple[str, str]]:
    """The ready questions of these categories (all if not given), each with its category.

    Raises:
        InvalidParameter: there is no such category.
    """
    names = list(CATEGORIES) if categories is None else list(categories)
    if unknown := [name for name in names if name not in CATEGORIES]:
        raise InvalidParameter(f"There is no category {shown(unknown[0])}; there are {', '.join(CATEGORIES)}.")
    return [(name, question) for name in names for question in CATEGORIES[name]]


def sit(
    agent: AgentMemory,
    questions: Sequence[tuple[str, str]] | None = None,
    *,
    title: str = "",
    settings: TalkSettings | None = None,
    now: datetime | None = None,
    progress: Progress = no_progress,
    cancelled: Callable[[], bool] = lambda: False,
) -> Sitting:
    """Interview a character: each question is asked on its own, and leaves no trace.

    Args:
        agent: whom to ask.
        questions: pairs of category and question, at most 100; all ready ones if not given.
        title: the sitting's title; made of the date if not given.
        settings: how the interviews are held.
        now: the world's time.
        progress: called with the progress so far.
        cancelled: called before each question, to ask whether to stop; the answers so far are returned.

    Raises:
        InvalidParameter: the questions or the title cannot be accepted.
        InvalidEntry: a question is empty or too long.
    """
    refuse_uncallable(progress=progress, cancelled=cancelled)
    if not is_text(title) or len(title) > MAX_TITLE:
        raise InvalidParameter(f"The title of an interview must be a text of at most {MAX_TITLE} characters.")
    pairs: object = questions
    if pairs is not None and (isinstance(pairs, str) or not isinstance(pairs, Sequence)):
        raise InvalidParameter('The questions must be a list of pairs, such as [("memory", "Why?")].')
    asked = ready() if questions is None else list(questions)
    if not 0 < len(asked) <= _MAX_QUESTIONS:
        raise InvalidParameter(f"An interview has 1 to {_MAX_QUESTIONS} questions, not {len(asked)}.")
    if not all(isinstance(pair, Sequence) and len(pair) == 2 and all(map(is_text, pair)) for pair in asked):
        raise InvalidParameter('Questions are pairs of a category and a question, such as ("memory", "Why?").')
    moment = agent.now if now is None else moment_given("'now'", now)
    revision, _ = agent.stamp
    answers: list[Answered] = []
    for number, (category, question) in enumerate(asked):
        if cancelled():
            break
        progress(number / len(asked), f"Asking {agent.display_name}: question {number + 1} of {len(asked)}")
        step = Interview(agent, settings).step(question, now=moment)
        recalled = tuple(hit.entry.id for hit in step.recalled)
        answers.append(Answered(category, question, step.answer, recalled, step.problem))
    called = title or f"Interview, {moment.day} {moment:%b %Y, %H:%M}"
    return Sitting(new_id(), called, moment.isoformat(), revision, agent.model.label, tuple(answers))


def sittings(agent: AgentMemory) -> tuple[Sitting, ...]:
    """The stored interviews, the oldest first.

    Raises:
        InvalidDocument: the text that stores them is not valid.
    """
    return parse_sittings(agent.text(TEXT))


def keep(agent: AgentMemory, sitting: Sitting, *, preview: bool = False) -> ChangeSet:
    """Store an interview in the journal; if there are more than 30, the oldest are dropped.

    Raises:
        InvalidParameter: it is too long to be stored.
    """
    others = [other for other in sittings(agent) if other.id != sitting.id]
    return _set(agent, f"Keep the interview {excerpt(sitting.title)}", [*others, sitting][-MAX_SITTINGS:], preview)


def drop(agent: AgentMemory, sitting_id: str, *, preview: bool = False) -> ChangeSet:
    """Delete a stored interview.

    Raises:
        EntryNotFound: there is no interview of this id.
    """
    interviews = sittings(agent)
    gone = next((sitting for sitting in interviews if sitting.id == sitting_id), None)
    if gone is None:
        raise EntryNotFound(f"There is no interview {shown(sitting_id)}.")
    return _set(
        agent,
        f"Drop the interview {excerpt(gone.title)}",
        [sitting for sitting in interviews if sitting is not gone],
        preview,
    )


def compared(before: Sitting, after: Sitting) -> tuple[Difference, ...]:
    """Two interviews question by question: the earlier one's questions first, in their order."""
    first = {(answer.category, answer.question): answer for answer in before.answers}
    second = {(answer.category, answer.question): answer for answer in after.answers}
    return tuple(Difference(*key, first.get(key), second.get(key)) for key in dict.fromkeys((*first, *second)))


def _set(agent: AgentMemory, title: str, left: Sequence[Sitting], preview: bool) -> ChangeSet:
    before = agent.text(TEXT)
    text = dump_sittings(left) if left else None
    texts = (TextChange(TEXT, before, text),) if text != before else ()
    plan = planned(agent, title, agent.now, operation="interview", texts=texts)
    return plan if preview else agent.apply(plan)
