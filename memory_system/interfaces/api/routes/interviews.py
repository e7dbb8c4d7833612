"""Routes: asking an agent without leaving a trace, and ready questions.

Interviews that continue over several requests: kept in memory for a while, and nowhere else.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from fastapi.responses import JSONResponse, Response

from ....agent import AgentMemory
from ....conversation import Conversation, Interview, Step, TalkSettings, sit
from ....conversation.context import Context
from ....conversation.interview import drop, keep
from ....core.change_set import ChangeSet
from ....core.entry import new_id
from ....core.kinds import MAX_ID
from ....core.saved_interviews import Sitting
from ....errors import ConversationNotFound, shown
from ... import serialize
from ...serialize import Shape, model
from ..deps import AgentName, Desk, IfMatch, Preview, documents_key, tag
from ..schemas.bodies import AskBody, InterviewBody, LookBody, SitBody
from ..sse import TOLD, Tell, progress
from .talking import pieces

SECONDS = 3600.0
MOST = 200


@dataclass
class _Slot:
    agent: str
    interview: Interview
    until: float
    turn: threading.Lock = field(default_factory=threading.Lock)


class Interviews:
    """Interviews by id. Thread-safe; the oldest are dropped for new ones.

    Args:
        seconds: how long one is kept after its last question.
        most: how many are kept.
        clock: seconds that only go forward.
    """

    def __init__(self, seconds: float = SECONDS, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._most, self._clock = most, clock
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, agent: str, interview: Interview) -> str:
        """Keep a new one; returns its id."""
        with self._lock:
            name = new_id()
            self._slots[name] = _Slot(agent, interview, self._clock() + self.seconds)
            self._tidy()
            return name

    @contextmanager
    def going_on(self, agent: str, name: str) -> Iterator[Interview]:
        """A waiting interview, for its next question; another at the same time waits until this one is answered.

        Raises:
            ConversationNotFound: there is none with this id, or no longer.
        """
        with self._lock:
            self._tidy()
            slot = self._slots.get(name)
            if slot is None or slot.agent != agent:
                raise ConversationNotFound(
                    f"There is no interview {shown(name)} here; one is kept for {self.seconds / 60:.0f} minutes after "
                    "its last question. Begin another."
                )
        with slot.turn:
            yield slot.interview
        with self._lock:
            slot.until = self._clock() + self.seconds
            if name in self._slots:
                self._slots.move_to_end(name)

    def _tidy(self) -> None:
        now = self._clock()
        for name, slot in list(self._slots.items()):
            if slot.until > now and len(self._slots) <= self._most:
                break
            del self._slots[name]


_SAT = Shape(
    "SatTold",
    "An interview, and the change set that keeps it; ``null`` where it is not kept.",
    {"sitting": Sitting, "change_set": ChangeSet | None},
)
SittingId = Annotated[str, Path(min_length=1, max_length=MAX_ID, description="The interview's id.")]


def routes(desk: Desk) -> APIRouter:
    """Questions that leave no trace, and interviews kept by choice."""
    router = APIRouter(tags=["conversations"])
    interviews = Interviews()

    def begun(agent: AgentMemory, body: InterviewBody) -> Interview:
        if body.conversation is not None:
            return Interview(agent, talk=Conversation.open(agent, body.conversation).talk)
        return Interview(agent, body.settings.over(TalkSettings()), human=body.human)

    def ask(tell: Tell, name: AgentName, body: AskBody) -> Response:
        """Ask an agent, and hear the answer; nothing is journalled, touched or logged.

        The answer names the ``interview`` that the next question goes on with, within an hour; with ``keep`` false the
        talk stays as it was before this question. ``Accept: text/event-stream`` streams it.
        """
        agent = desk.agent(name)
        name_of = body.interview or interviews.begin(agent.name, begun(agent, body))
        with interviews.going_on(agent.name, name_of) as interview:
            before = interview.talk, interview.transcript
            try:
                done = interview.step(**body.arguments(), **pieces(tell))
            finally:
                if not body.keep:
                    interview.talk, interview.transcript = before
        return desk.response(agent, serialize.plain(done) | {"interview": name_of})

    def context(name: AgentName, body: LookBody) -> Response:
        """What is in the prompt of an interview right now, before a message; one that has not begun does not begin."""
        agent = desk.agent(name)
        if body.interview is None:
            found = begun(agent, body).context(body.now)
        else:
            with interviews.going_on(agent.name, body.interview) as interview:
                found = interview.context(body.now)
        return desk.response(agent, serialize.plain(found))

    def seated(tell: Tell, name: AgentName, body: SitBody) -> Response:
        """Put questions to an agent, each on its own and without a trace; the answers are kept, to be compared."""
        agent = desk.agent(name)
        asked = (
            None if body.questions is None else [(question.category, question.question) for question in body.questions]
        )
        sitting = sit(
            agent,
            asked,
            title=body.title,
            settings=body.settings.over(TalkSettings()),
            now=body.now,
            progress=progress(tell),
        )
        done = keep(agent, sitting) if body.keep else None
        answer = {"sitting": serialize.plain(sitting), "change_set": serialize.plain(done)}
        return JSONResponse(answer, headers=tag(agent.stamp[0]))

    def dropped(
        name: AgentName, sitting: SittingId, preview: Preview = False, if_match: IfMatch = None
    ) -> JSONResponse:
        """Delete an interview that is kept."""
        return desk.change(name, lambda agent: drop(agent, sitting, preview=True), preview=preview, if_match=if_match)

    quick, reporting, write = desk.lanes.quick, desk.lanes.reporting, [Depends(documents_key)]
    of = "/agents/{name}"
    router.post(f"{of}/interview", response_model=model(Step), responses=TOLD)(reporting(ask))
    router.post(f"{of}/interview/context", response_model=model(Context))(quick(context))
    router.post(f"{of}/interviews", response_model=_SAT.model, responses=TOLD, dependencies=write)(reporting(seated))
    router.delete(f"{of}/interviews/{{sitting}}", response_model=model(ChangeSet), dependencies=write)(quick(dropped))
    return router
