"""The tool by which an MCP client lets agents talk with each other: two of them, or a group."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from ...conversation import Conversation, Duet, Group
from ...conversation.duet import MAX_TURNS, MOST_IN_A_GROUP, go_on
from ...core.entry import MAX_DOCUMENT
from ...errors import InvalidParameter
from .tool import Answer, Arguments, Caller, Tool

_Id = Annotated[str, StringConstraints(min_length=1, max_length=100)]
_Opening = Annotated[str, StringConstraints(max_length=MAX_DOCUMENT)]


class TogetherArguments(Arguments):
    """Who talks, and for how long."""

    agents: list[_Id] = Field(
        min_length=2, max_length=MOST_IN_A_GROUP, description="The names of two agents, or of a group of more."
    )
    turns: int = Field(4, ge=1, le=MAX_TURNS, description="How many things are said at most.")
    opening: _Opening = Field("", description="What makes one of them speak; that they meet, if not given.")
    conversations: list[_Id] = Field(
        default_factory=list, description="To go on: the conversation of each agent, as the last call answered them."
    )
    now: AwareDatetime | None = Field(None, description="When, with its zone; the world's time if not given.")


class Line(BaseModel):
    """One thing that was said, and by whom."""

    speaker: str
    text: str


class Together(Answer):
    """What was said, the conversation of each agent, and why it ended early, where it did."""

    said: list[Line]
    conversations: list[str]
    problem: str

    def as_text(self) -> str:
        """What was said, each on a line of its own."""
        lines = [f"{line.speaker}: {line.text}" for line in self.said]
        return "\n".join([*lines, *([f"({self.problem})"] if self.problem else [])])


def _talk(caller: Caller, _agent: None, arguments: TogetherArguments) -> Together:
    agents = [caller.agent(name) for name in arguments.agents]
    talk: Duet | Group
    if arguments.conversations:
        if len(arguments.conversations) != len(agents):
            raise InvalidParameter("Name the conversation of each agent, in the order of the agents, or of none.")
        talk = go_on(
            [
                Conversation.open(agent, conversation_id)
                for agent, conversation_id in zip(agents, arguments.conversations, strict=True)
            ]
        )
    elif len(agents) > 2:
        talk = Group.begin(agents, now=arguments.now)
    else:
        talk = Duet.begin(*agents, now=arguments.now)
    said, problem = list[Line](), ""
    for turn in talk.stream(arguments.turns, opening=arguments.opening, now=arguments.now):
        if turn.text:
            said.append(Line(speaker=turn.speaker, text=turn.text))
        problem = turn.step.problem or ""
        caller.progress(len(said) / arguments.turns, f"{turn.speaker} spoke")
    parts = talk.parts if isinstance(talk, Group) else (talk.first, talk.second)
    return Together(said=said, conversations=[part.id for part in parts], problem=problem)


TOGETHER_TOOLS = (
    Tool(
        "talk_together",
        "Let characters talk with each other",
        "Let two agents, or a group, talk with each other, each from its own memory. What is said is kept and "
        "remembered by all of them.",
        TogetherArguments,
        Together,
        _talk,
        of_agent=False,
    ),
)
