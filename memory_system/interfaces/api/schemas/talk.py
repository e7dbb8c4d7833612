"""The shapes of what is told of conversations, interviews, documents and searches; mostly the values themselves."""

from __future__ import annotations

from pydantic import BaseModel

from ....conversation.context import Section
from ....conversation.documents import Loaded
from ....conversation.functions import Found, FunctionRun
from ....conversation.passages import Passage
from ....conversation.storage import Listed
from ....conversation.talk import Blocks, Message, TalkSettings
from ....core.saved_interviews import Sitting
from .shapes import ChangeSetTold, NarrativeTold, Recalled


class Conversations(BaseModel):
    """An agent's conversations, the one in which something was said last first."""

    items: list[Listed]


class TalkTold(BaseModel):
    """A conversation as it stands; ``queue`` are the messages that its strategy shows, if they were asked for."""

    id: str
    title: str
    human: str
    settings: TalkSettings
    blocks: Blocks
    summary: str
    summarised: int
    queue: list[Message]
    next_number: int
    warned: bool
    remembered: int
    scale: float
    ceiling: int


class Messages(BaseModel):
    """Messages by number, the oldest first; ``next`` is the cursor of those after them, ``null`` at the end."""

    items: list[Message]
    next: str | None


class ContextTold(BaseModel):
    """A prompt, section by section; ``tokens`` never exceed the ``budget``."""

    sections: list[Section]
    budget: int
    left_out: int
    shortened: int
    wanted: int
    tokens: int


class StepTold(BaseModel):
    """What came of a message; ``problem`` says why there is no ``answer``, and the message is stored all the same.

    ``change_set`` is ``null`` for an interview, which goes on under the id ``interview`` for a while, and where a step
    was replayed.
    """

    answer: str
    change_set: ChangeSetTold | None
    messages: list[Message]
    functions: list[FunctionRun]
    context: ContextTold
    recalled: Recalled
    offered: list[ChangeSetTold]
    problem: str
    notes: list[str]
    interview: str | None = None


class ReplayTold(BaseModel):
    """A step lived through again without the model, and where it came out otherwise than it is stored."""

    step: StepTold
    stored: list[Message]
    differences: list[str]


class SaidTold(BaseModel):
    """One thing that was said in a duet, and the step by which the speaker came to it."""

    speaker: str
    text: str
    step: StepTold


class Turns(BaseModel):
    """What was said, in its order."""

    items: list[SaidTold]


class HalfTold(BaseModel):
    """One side of a duet."""

    agent: str
    conversation: str


class DuetTold(BaseModel):
    """A duet: two conversations, one in each memory."""

    first: HalfTold
    second: HalfTold


class Sittings(BaseModel):
    """The interviews that are kept, the oldest first."""

    items: list[Sitting]


class SatTold(BaseModel):
    """An interview, and the change set that keeps it; ``null`` where it is not kept."""

    sitting: Sitting
    change_set: ChangeSetTold | None


class Documents(BaseModel):
    """The documents in an agent's archive, by name."""

    items: list[Loaded]


class FoundPage(BaseModel):
    """One page of what was found: ``number`` from 0, ``total`` over all pages, ``size`` of a full one."""

    found: list[Found]
    number: int
    total: int
    size: int


class Searched(BaseModel):
    """What a search of memory found; ``text`` is the answer as a model reads it."""

    question: str
    form: str
    text: str
    sources: list[str]
    passages: list[Passage]
    narrative: NarrativeTold | None
    note: str


class ToolTold(BaseModel):
    """``memory_search`` as a tool in the form of OpenAI's chat completions."""

    type: str
    function: dict[str, object]
