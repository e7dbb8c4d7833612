"""What a read is, and the forms that many of them have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from ...agent import AgentMemory
from ...core.entry import MemoryEntry
from ...operations.context import Progress
from ...world.world import World
from .. import cursors
from ..forms import (
    Asked,
    Id,
    Says,
    View,
)
from ..serialize import Json, Shape, described, dumped

Text = Annotated[str, StringConstraints(max_length=1000)]


Number = Annotated[int, Field(ge=0, le=2**62)]


class Form(BaseModel):
    """There is nothing to say."""

    def view(self, agent: AgentMemory) -> View:
        """Who is asked."""
        return agent


class Moment(Form):
    """A moment of the past; the present if nothing is given."""

    revision: Annotated[Number | None, Says("As it was right after this revision.")] = None
    access: Annotated[Number | None, Says("The last access since the revision.")] = None
    at: Annotated[AwareDatetime | None, Says("As it was at this real time.")] = None
    world_time: Annotated[AwareDatetime | None, Says("As it was at this time of its world.")] = None

    def view(self, agent: AgentMemory) -> View:
        """The agent now, or as it was."""
        moment = {name: getattr(self, name) for name in ("revision", "access", "at", "world_time")}
        return agent if set(moment.values()) == {None} else agent.as_of(**moment)


class Some(Form):
    """How many, and where the list goes on."""

    limit: Annotated[Annotated[int, Field(ge=1, le=1000)], Says("How many at most.")] = 100
    cursor: Annotated[
        Annotated[str, StringConstraints(max_length=cursors.MAX_CURSOR)] | None, Says("The 'next' of the page before.")
    ] = None


class OfMemory(Form):
    """A memory."""

    memory: Annotated[Id, Says("The memory's id.")]


class Containing(Some):
    """Words that it contains."""

    contains: Annotated[Text, Says("Only what has these words.")] = ""


class OfTime(Form):
    """When."""

    now: Annotated[AwareDatetime | None, Says("The world's time, with its zone; its clock if not given.")] = None


def page(of: str, found: Iterable[MemoryEntry], form: Some) -> Json:
    """A page of memories by id."""
    after = cursors.text_after(of, form.cursor)
    left = [entry for entry in found if entry.id > after]
    following = cursors.cursor(of, left[form.limit - 1].id) if len(left) > form.limit else None
    return {"items": left[: form.limit], "next": following}


def before(of: str, form: Any) -> int | None:
    """The number before which a list with the newest first continues."""
    return form.before if form.cursor is None else cursors.number_before(of, form.cursor)


def newest(of: str, found: list[Any], numbers: list[int], form: Some) -> Json:
    """A page of a list with the newest first."""
    return {"items": found, "next": cursors.cursor(of, numbers[-1]) if len(found) == form.limit else None}


@dataclass(frozen=True)
class Read:
    """One read.

    Args:
        name: its name.
        title: what it is, in a few words.
        about: what it shows, for people.
        form: its parameters.
        ask: asks an agent, or the world if it is not about one, with the form; if it is slow, also with a progress
            callback; if it is ``of_world``, with the world and the agent before the form.
        gives: the value or shape of its answer.
        address: over HTTP, relative to that of the agent, or of the API.
        example: its parameters on the command line, as an example.
        tag: the part of the API that it belongs to.
        asks: whether its form is sent as a body.
        slow: whether a language model may be asked.
        told: whether it reports its progress.
        of_agent: whether it is about an agent.
        of_world: whether the agent's world is asked.
        command: the command that shows it, if that is not one of its own.
        tool: the tool of MCP that returns it, if that is not one of its own.
        call: its name in the client, if that is not its name with underscores.
        nothing: what the command says if it finds nothing; that there is nothing if not given.
    """

    name: str
    title: str
    about: str
    form: type[BaseModel]
    ask: Callable[..., Any]
    gives: type | Shape
    address: str
    example: str = ""
    tag: str = "inspection"
    asks: bool = False
    slow: bool = False
    told: bool = False
    of_agent: bool = True
    of_world: bool = False
    command: str = ""
    tool: str = ""
    call: str = ""
    nothing: str = ""

    @property
    def model(self) -> Any:
        """The form of its answer."""
        return self.gives.model if isinstance(self.gives, Shape) else described(self.gives)

    def asked(
        self, world: World, agent: AgentMemory | None, form: Any, progress: Progress
    ) -> tuple[bytes, View | None]:
        """The answer as JSON, and the agent it is about."""
        view = form.view(agent) if agent is not None and isinstance(form, Form | Asked) else agent
        whom = (world, agent, form) if self.of_world else (view or world, form)
        answer = self.ask(*whom, *((progress,) if self.told else ()))
        return (self.gives.dumped(**answer) if isinstance(self.gives, Shape) else dumped(answer)), view

    @property
    def on_command_line(self) -> str:
        """The command that shows it."""
        return self.command or self.name

    @property
    def over_mcp(self) -> str:
        """The tool that returns it."""
        return self.tool or self.name.replace("-", "_")

    @property
    def in_python(self) -> str:
        """Its name in the client."""
        return self.call or self.name.replace("-", "_")
