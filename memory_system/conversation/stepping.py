"""Stepping: a message in, model and functions until it has said something, an answer out. Nothing is written here.

The control flow is MemGPT's (arXiv 2310.08560, section 2.3), except that a step goes on until something was said,
since the caller waits for an answer. If the model fails, says nothing, or calls functions without end, it ends with a
sentence that says so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ..core.change_set import ModelCall
from ..core.kinds import MAX_DOCUMENT
from ..errors import ModelError, ModelNonsense, ModelOverflow
from ..llm.base import TASK, ChatModel, Heard, Reply, ToolCall, Usage, unheard
from ..llm.tokens import Correction
from .actions import cut
from .context import Context, Scene, build, counted
from .functions import FunctionRun, Functions
from .storage import storable
from .strategies import STRATEGIES, Relief, Summariser
from .talk import Message, Role, Strategy, Talk

Told = Callable[[FunctionRun], None]
"""Called with each function call once it is done."""

_RETRIES = 8
"""How often a prompt that the server found too long is shortened."""
_EASE, _SHRINK = 0.9, 0.7
"""The share to which a prompt that was too long is cut: with a queue, whose oldest half leaves, and without."""
_LEAST = 400
"""Tokens below which a prompt is not shortened."""
_NONSENSES = 1
"""How often the model is asked again after an unusable reply."""
_MAX_ARGUMENTS = 20_000
"""How many characters of one call's arguments are stored."""
_MAX_CALLS = 20
"""How many calls of one reply are stored; further ones are not even answered."""


def untold(_run: FunctionRun) -> None:
    """Listen to nothing."""


@dataclass(frozen=True)
class Outcome:
    """The result of a step.

    Args:
        talk: as it is afterwards.
        answer: what was said; empty if there is a problem.
        messages: those of this step, in order.
        functions: the calls of this step.
        calls: of language models.
        context: the last prompt that was sent.
        problem: why there is no answer, in a sentence; empty if there is one.
        notes: further remarks.
        evicted: how many messages left the queue.
        pending: calls of actions that the caller has to carry out before the step can go on.
    """

    talk: Talk
    answer: str
    messages: tuple[Message, ...]
    functions: tuple[FunctionRun, ...]
    calls: tuple[ModelCall, ...]
    context: Context
    problem: str
    notes: tuple[str, ...]
    evicted: int
    pending: tuple[ToolCall, ...] = ()


@dataclass
class Stepper:
    """One step under way.

    Args:
        talk: as it is before, with its queue.
        scene: what else the prompt is made of.
        model: the language model.
        summariser: folds what is evicted.
        functions: carries out calls.
        now: the time of everything that is said.
        heard: called with the answer's text.
        told: called with each function call.
        silent: whether it may end without a word.
    """

    talk: Talk
    scene: Scene
    model: ChatModel
    summariser: Summariser
    functions: Functions
    now: datetime
    heard: Heard = unheard
    told: Told = untold
    silent: bool = False
    _new: list[Message] = field(default_factory=list)
    _runs: list[FunctionRun] = field(default_factory=list)
    _calls: list[ModelCall] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)
    _said: list[str] = field(default_factory=list)
    _context: Context | None = None
    _evicted: int = 0
    _heard_of: bool = False
    _pending: tuple[ToolCall, ...] = ()

    def run(self, text: str, speaker: str) -> Outcome:
        """Take a message and answer it."""
        self._add(Role.USER, text, speaker)
        problem, ceiling = "", self.talk.ceiling
        try:
            self._until_answered()
        except ModelError as error:
            problem = error.sentence
            self._failed(error)
            if isinstance(error, ModelOverflow):  # nothing was short enough, so the limit is unknown
                self.talk = replace(self.talk, ceiling=ceiling)
        before = self.talk
        self.talk = replace(before, queue=(*before.queue, *self._new))
        if not self._pending:
            self._relieve(STRATEGIES[before.settings.strategy].ended(self.talk, self.summariser))
        context = self._context or build(self.scene, before, self._new)
        return Outcome(
            self.talk,
            "\n\n".join(self._said),
            tuple(self._new),
            tuple(self._runs),
            tuple(self._calls),
            context,
            problem,
            tuple(dict.fromkeys(self._notes)),
            self._evicted,
            self._pending,
        )

    def _until_answered(self) -> None:
        nonsense = 0
        while True:
            try:
                reply = self._reply()
            except ModelNonsense as error:
                nonsense += 1
                if nonsense > _NONSENSES and not self.silent:
                    raise
                self._failed(error)
                if self.silent:  # it has nothing to say
                    return
                self._add(Role.SYSTEM, f"Your last answer could not be used: {error} Say something to the other one.")
                continue
            goes_on = self._took(reply)
            if self._pending or ((self._said or self.silent) and not goes_on):
                return
            if len(self._runs) >= self.talk.settings.most_calls:
                self._end(f"This step was ended after {len(self._runs)} calls of functions, which is its limit.")
                return

    def _end(self, why: str) -> None:
        """End a step that would not end by itself, with a sentence."""
        self._notes.append(why)
        if not self._said:
            self._heard_of = False
            self._say(f"({why})")
            self._add(Role.ASSISTANT, f"({why})", self.scene.who)

    # -- the prompt --------------------------------------------------------------------------------------

    def _reply(self) -> Reply:
        """Ask the model, with the past shortened if it is too long by our count or the server's."""
        for attempt in range(_RETRIES + 1):
            self._relieve_pressure()
            context = self._context = build(self.scene, self.talk, self._new)
            self._heard_of = False
            try:
                heard = unheard if self.heard is unheard else self._hear  # without a listener no stream is needed
                reply = self.model.chat(context.messages, context.tools, heard=heard)
            except ModelOverflow as error:
                if attempt == _RETRIES or context.tokens <= _LEAST:
                    raise
                self._shrink(context, error)
                continue
            if not reply.text.strip() and not reply.calls:
                raise ModelNonsense("The language model said nothing.")
            self._calls.append(reply.call)
            self._learn(context, reply.usage)
            return reply
        raise AssertionError("the loop answers or raises")

    def _relieve_pressure(self) -> None:
        strategy = STRATEGIES[self.talk.settings.strategy]
        for _ in range(40):  # each time half of the queue leaves; it is empty long before
            tokens = build(self.scene, self.talk, self._new).wanted
            relief = strategy.relieved(self.talk, tokens, self.talk.budget, self.summariser)
            if relief is None:
                break
            self._relieve(relief)
        virtual = self.talk.settings.strategy is Strategy.VIRTUAL
        if virtual and self.talk.queue and not self.talk.warned and not self._evicted:
            share = tokens / self.talk.budget
            if share >= self.talk.settings.warn_at:
                self._add(
                    Role.SYSTEM,
                    f"Memory pressure: the prompt is {share:.0%} full, and its oldest messages will leave it. Keep "
                    "what matters in core memory; conversation_search finds the rest.",
                )
                self.talk = replace(self.talk, warned=True)

    def _relieve(self, relief: Relief | None) -> None:
        if relief is None:
            return
        self.talk = relief.talk
        self._calls += relief.calls
        self._notes += relief.notes
        self._evicted += relief.evicted

    def _shrink(self, context: Context, error: ModelOverflow) -> None:
        """The server accepts less than estimated: remember how much, and drop the oldest half."""
        ceiling = max(_LEAST, int(context.tokens * (_EASE if self.talk.queue else _SHRINK)))
        self._failed(error)
        self._notes.append(f"The server did not accept a prompt of {context.tokens:,} tokens, so it was shortened.")
        self.talk = replace(self.talk, ceiling=ceiling)
        if self.talk.queue:
            self._relieve(
                STRATEGIES[self.talk.settings.strategy].relieved(self.talk, ceiling * 9, ceiling, self.summariser)
            )

    def _learn(self, context: Context, usage: Usage | None) -> None:
        if usage is not None:
            estimated = math.ceil(context.tokens / self.talk.scale)
            learned = Correction(self.talk.scale).learned(estimated, usage.prompt)
            self.talk = replace(self.talk, scale=round(learned.factor, 3))

    def _failed(self, error: ModelError) -> None:
        """Store what failed and how, so that a replay fails in the same way."""
        answer = json.dumps({"failed": error.code})
        self._calls.append(ModelCall(TASK, self.model.name, "", answer, 0.0, error=error.sentence))

    def _hear(self, piece: str) -> None:
        if not self._heard_of and self._said:
            self.heard("\n\n")
        self._heard_of = True
        self.heard(piece)

    # -- the reply ---------------------------------------------------------------------------------------

    def _took(self, reply: Reply) -> bool:
        """Process a reply; returns whether the model wants to, or has to, go on."""
        offered = self.talk.settings.strategy is Strategy.VIRTUAL
        used = {run.call_id for run in self._runs} if self.functions.actions else set()  # results are passed in by id
        calls = named_apart(reply.calls[:_MAX_CALLS], self.talk.next_number, used) if offered else ()
        if not calls:
            text = cut(storable(reply.text.strip()) or "…", MAX_DOCUMENT)
            self._add(Role.ASSISTANT, text, self.scene.who)
            self._say(text)
            return False
        room = self.talk.settings.most_calls - len(self._runs)
        self._pending = tuple(call for call in calls[:room] if self.functions.waits(call))
        if self._pending:
            return False
        runs = [self._run(call) for call in calls[:room]]
        said = storable("\n\n".join(run.said for run in runs if run.said))
        kept = tuple(replace(call, arguments=_kept(call.arguments)) for call in calls)
        thought = cut(storable(reply.text.strip()), MAX_DOCUMENT)
        self._add(
            Role.ASSISTANT, cut(said, MAX_DOCUMENT) or thought, self.scene.who, kept, thought=thought if said else ""
        )
        for run in runs:
            self._add(Role.TOOL, run.result, call_id=run.call_id, action=run.action)
        for call in calls[room:]:
            refused = json.dumps({"status": "Failed", "message": "Not called: the step's limit is reached."})
            self._add(Role.TOOL, refused, call_id=call.id)
        if said:
            self._say(said)
        return any(run.failed or run.heartbeat for run in runs)

    def _run(self, call: ToolCall) -> FunctionRun:
        run = self.functions.run(call, self.talk.blocks)
        run = replace(run, result=storable(run.result), action=storable(run.action))
        self.talk = replace(self.talk, blocks=run.blocks)
        if run.paused:
            self.talk = replace(self.talk, paused_until=self.now + timedelta(minutes=run.paused))
        self._runs.append(run)
        self.told(run)
        return run

    def _say(self, text: str) -> None:
        if not self._heard_of:  # it was not passed on while it arrived
            self._hear(text)
        self._said.append(text)

    def _add(
        self,
        role: Role,
        text: str,
        speaker: str = "",
        calls: tuple[ToolCall, ...] = (),
        call_id: str = "",
        thought: str = "",
        action: str = "",
    ) -> None:
        number = self.talk.next_number
        message = Message(
            number, role, storable(text), self.now, speaker, calls, call_id, thought=thought, action=action
        )
        self._new.append(counted(message))
        self.talk = replace(self.talk, next_number=message.number + 1)


def named_apart(calls: Sequence[ToolCall], number: int, used: Collection[str] = ()) -> tuple[ToolCall, ...]:
    """The calls with unique ids, none of them in ``used``; some servers give none, or the same to all."""
    seen = set(used)
    apart = []
    for place, call in enumerate(calls):
        usable = 0 < len(call.id) <= 100 and call.id.isprintable() and call.id not in seen
        apart.append(call if usable else replace(call, id=f"call_{number}_{place}"))
        seen.add(apart[-1].id)
    return tuple(apart)


def _kept(arguments: str) -> str:
    if len(arguments) <= _MAX_ARGUMENTS:
        return arguments
    return json.dumps({"shortened": cut(arguments, _MAX_ARGUMENTS // 2)}, ensure_ascii=False)
