"""What a tool of the MCP server is: its arguments and its answer as forms, and its caller.

Nothing here speaks the protocol; ``server`` does.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from ...agent import AgentMemory
from ...core.authors import authored_by
from ...core.entry import MAX_DOCUMENT
from ...errors import InvalidParameter, did_you_mean, problem_words, shown
from ...operations.context import Progress, no_progress
from ...world.world import World

Cue = Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]


class Arguments(BaseModel):
    """What all arguments have in common: what a tool does not know is refused."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """The structured answer of a tool; a client that reads no structure gets ``as_text``."""

    def as_text(self) -> str:
        """The answer as a text."""
        raise NotImplementedError


def always_wanted() -> None:
    """The check for a call that cannot be cancelled."""


@dataclass(frozen=True)
class Caller:
    """Who calls a tool.

    Args:
        world: whose agents are asked.
        client: what the client calls itself; from outside, any text.
        progress: called with the progress of a long operation.
        still_wanted: raises if the call has been cancelled.
    """

    world: World
    client: str = ""
    progress: Progress = no_progress
    still_wanted: Callable[[], None] = always_wanted

    def agent(self, name: object) -> AgentMemory:
        """An agent, whose changes the history shows as the client's.

        Raises:
            InvalidAgentName, AgentNotFound, StoreError: it cannot be opened.
        """
        found = self.world.agent(name)  # type: ignore[arg-type]  # it checks the name as a name
        return found.acting_as(self.author)

    @property
    def author(self) -> str:
        """The author that the history shows for the client's changes."""
        return authored_by("MCP", self.client)


@dataclass(frozen=True)
class Tool:
    """One tool.

    Args:
        name: its name.
        title: for people, in a few words.
        about: for the model that may call it: what it does, and when to use it.
        takes: its arguments, except ``agent``.
        gives: its answer, as a form.
        run: the function, called with the agent, or with ``None`` for a tool that needs none.
        looks: whether it changes nothing.
        turn: calls of tools with the same word here wait for each other, per agent; empty = they do not wait.
        destroys: whether something may be lost that cannot be brought back.
        of_agent: whether it is about one agent, named by its argument ``agent`` if the server has several.
    """

    name: str
    title: str
    about: str
    takes: type[BaseModel]
    gives: Any
    run: Callable[[Caller, Any, Any], Any]
    looks: bool = False
    turn: str = ""
    destroys: bool = False
    of_agent: bool = True

    def answer(self) -> dict[str, Any]:
        """The JSON schema of the answer."""
        return TypeAdapter(self.gives).json_schema(mode="serialization")

    def schema(self, *, agent: bool) -> dict[str, Any]:
        """The JSON schema of the arguments; with ``agent`` the agent's name is one of them."""
        made = self.takes.model_json_schema()
        if not (agent and self.of_agent):
            return made
        name = {"type": "string", "description": "The agent's name; the tool 'agents' lists them."}
        return {
            **made,
            "properties": {"agent": name, **made.get("properties", {})},
            "required": ["agent", *made.get("required", [])],
        }

    def read(self, arguments: Mapping[str, Any]) -> BaseModel:
        """The arguments, checked.

        Raises:
            InvalidParameter: what is wrong with them, in a sentence.
        """
        try:
            return self.takes.model_validate(dict(arguments))
        except ValidationError as error:
            raise InvalidParameter(f"{self.name} cannot take these arguments. {_sentence(self, error)}") from error


@dataclass(frozen=True)
class Tools:
    """The tools that a server offers, and the agent that it serves; any agent of the world if that is empty."""

    tools: tuple[Tool, ...]
    agent: str = ""
    _locks: defaultdict[str, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock), compare=False)

    def offered(self) -> tuple[Tool, ...]:
        """Those that make sense for the agents it serves."""
        return tuple(tool for tool in self.tools if tool.of_agent or not self.agent)

    def queue(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The queue in which a call waits for others of its kind; empty if it waits for none."""
        turn = next((tool.turn for tool in self.offered() if tool.name == name), "")
        return f"{turn} {shown(self.agent or arguments.get('agent'))}" if turn else ""

    def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Any:
        """The answer of a tool.

        Raises:
            MemorySystemError: there is no such tool, or it could not do what was asked; a sentence says what to do.
        """
        tool = next((tool for tool in self.offered() if tool.name == name), None)
        if tool is None:
            raise InvalidParameter(
                f"There is no tool {shown(name)}; there are {', '.join(tool.name for tool in self.offered())}."
            )
        fields = dict(arguments)
        if not tool.of_agent:
            return tool.run(caller, None, tool.read(fields))
        if not self.agent and "agent" not in fields:
            raise InvalidParameter(f"{name} needs the argument 'agent': whose memory it is about.")
        whose = self.agent or fields.pop("agent")
        checked = tool.read(fields)
        agent = caller.agent(whose)
        if not tool.turn:
            return tool.run(caller, agent, checked)
        with self._locks[f"{tool.turn} {agent.name}"]:
            caller.still_wanted()
            return tool.run(caller, agent, checked)


def _sentence(tool: Tool, error: ValidationError) -> str:
    parts, near = [], ""
    for problem in error.errors(include_url=False, include_input=False)[:3]:
        where = ".".join(str(part) for part in problem["loc"])[:80]
        unknown = problem["type"] == "extra_forbidden"
        near = near or (did_you_mean(problem["loc"][-1], tool.takes.model_fields) if unknown else "")
        message = "there is no such argument" if unknown else problem_words(problem)
        parts.append(f"{where}: {message}" if where else message)
    known = ", ".join(tool.takes.model_fields) or "none"
    return f"{'; '.join(parts)}. Its arguments are: {known}.{near}"
