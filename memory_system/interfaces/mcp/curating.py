"""The tools of curating and of looking for MCP clients, made from the declarations; offered when asked for.

One per operation and one per read, except those that every server offers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, Field, RootModel, create_model

from ...agent import AgentMemory
from ...core.change_set import ChangeSet
from ...errors import InvalidParameter
from ...world.advancing import Advanced
from ...world.together import Together
from ..forms import Says, says
from ..operations import BESIDE, OF_CAST, OF_WORLD, OPERATIONS, Operation
from ..reads import READS, Read
from ..reads.world import Until
from ..serialize import model, plain
from .remembering import MEMORY_TOOLS
from .talking import TALK_TOOLS
from .tool import Answer, Caller, Tool

_MOST = 200
"""The most changes listed in one answer."""
_LONGEST = 2_000_000
"""The most bytes of one answer: a client that gets more is busy for minutes, and its model cannot read it."""
_NARROW = ("limit", "contains", "memory", "author", "operation", "since", "until")
"""The arguments that make an answer shorter."""
_PREVIEW = (bool, Field(False, description="Change nothing: answer what would be done."))


class OneChange(BaseModel):
    """What becomes of one memory: its id, what it says, before if it is forgotten, and why."""

    verb: Literal["add", "update", "move", "forget"]
    id: str
    text: str
    reason: str


class Changed(Answer):
    """A change set: what was done or, without a revision, would be done; ``left_out`` changes are not told."""

    operation: str
    title: str
    revision: int | None
    notes: list[str]
    changes: list[OneChange]
    left_out: int

    @classmethod
    def of(cls, done: ChangeSet) -> Changed:
        """The form of a change set."""
        pairs = [(change, change.after or change.before) for change in done.changes[:_MOST]]
        return cls(
            operation=done.operation,
            title=done.title,
            revision=done.revision,
            notes=list(done.notes),
            changes=[
                OneChange(verb=change.verb, id=change.entry_id, text=entry.document, reason=change.reason)
                for change, entry in pairs
                if entry is not None
            ],
            left_out=max(0, len(done.changes) - _MOST),
        )

    def as_text(self) -> str:
        """The title, the changes by their ids, the notes, and the revision."""
        lines = [f"- {change.verb} {change.id}: {change.reason}" for change in self.changes]
        more = [f"{self.left_out} more changes are not listed here."] if self.left_out else []
        return "\n".join([f"{self.title}.", *lines, *more, *self.notes, _done(self)])


class OneShare(BaseModel):
    """What becomes of one agent: what was found of it, and its change set, if it has one."""

    agent: str
    note: str
    change: Changed | None


class ChangedTogether(Answer):
    """What was done to several agents or, where their change sets have no revision, would be done."""

    title: str
    notes: list[str]
    shares: list[OneShare]

    @classmethod
    def of(cls, done: Together) -> ChangedTogether:
        """The form of what was planned together for several agents."""
        shares = [
            OneShare(
                agent=share.agent, note=share.note, change=Changed.of(share.change_set) if share.change_set else None
            )
            for share in done.shares
        ]
        return cls(title=done.title, notes=list(done.notes), shares=shares)

    def as_text(self) -> str:
        """The title, the notes, and what becomes of each agent."""
        lines = [f"- {share.agent}: {share.note} {_done(share.change)}" for share in self.shares]
        return "\n".join([f"{self.title}.", *self.notes, *lines])


def _done(change: Changed | None) -> str:
    return f"Done, as revision {change.revision}." if change is not None and change.revision else "Nothing was changed."


class Looked(RootModel[Any]):
    """The answer of a read, as the HTTP API gives it."""

    def as_text(self) -> str:
        """The answer as JSON on one line."""
        return json.dumps(self.root, ensure_ascii=False)


@dataclass(frozen=True)
class Declared(Tool):
    """A tool made from a declaration: descriptions of the fields are in the schema of its arguments."""

    refuses: tuple[str, ...] = ()

    def schema(self, *, agent: bool) -> dict[str, Any]:
        """The JSON schema of the arguments, with the description of each, and without those that are always refused."""
        made = super().schema(agent=agent)
        said = says(self.takes)
        fields = {
            name: _field_schema(known, said[name]) if name in said else known
            for name, known in made["properties"].items()
            if name not in self.refuses
        }
        return {**made, "properties": fields}


def _field_schema(known: Mapping[str, Any], said: Says) -> dict[str, Any]:
    """The schema of a field with its description; without a ``null`` that a client might send for "as it is"."""
    left = {key: value for key, value in known.items() if (key, value) != ("default", None)}
    words = ", ".join(f"{word}: {json.dumps(value)}" for word, value in said.words.items())
    text = f"{said.help.removesuffix('.')} ({words})." if words else said.help
    return {**left, "description": f"{text} null empties it." if said.empties else text}


def _run(operation: Operation, caller: Caller, agent: AgentMemory, arguments: Any) -> Changed:
    body = operation.form.model_validate(arguments.model_dump(exclude={"preview"}, exclude_unset=True))
    return Changed.of(operation.done(agent, body, caller.progress, preview=arguments.preview))


def _run_in_world(operation: Operation, caller: Caller, _agent: None, arguments: Any) -> Changed:
    body = operation.form.model_validate(arguments.model_dump(exclude={"preview"}, exclude_unset=True))
    plan = operation.plan(caller.world, body, caller.author)
    return Changed.of(plan if arguments.preview else caller.world.carry_out(plan))


def _run_for_cast(operation: Operation, caller: Caller, _agent: None, arguments: Any) -> ChangedTogether:
    body = operation.form.model_validate(arguments.model_dump(exclude={"preview"}, exclude_unset=True))
    plan = operation.plan(caller.world, body, caller.author, caller.progress)
    return ChangedTogether.of(plan if arguments.preview else caller.world.carry_out_all(plan))


def _tool(
    operation: Operation, run: Callable[..., Answer] = _run, gives: type[Answer] = Changed, *, of_agent: bool = True
) -> Declared:
    takes = create_model(operation.form.__name__, __base__=operation.form, preview=cast("Any", _PREVIEW))
    return Declared(
        operation.over_mcp,
        operation.title,
        operation.about,
        takes,
        gives,
        partial(run, operation),
        turn="curating" if operation.slow else "",
        destroys=operation.destroys,
        refuses=operation.refuses,
        of_agent=of_agent,
    )


def _look(read: Read, caller: Caller, agent: AgentMemory | None, arguments: Any) -> Looked:
    written, _ = read.asked(caller.world, agent, arguments, caller.progress)
    if len(written) > _LONGEST:
        fewer = ", ".join(name for name in _NARROW if name in read.form.model_fields)
        instead = f"Ask for less; there are the arguments {fewer}." if fewer else "Ask for it over HTTP instead."
        raise InvalidParameter(
            f"The answer takes {len(written) / 1e6:,.1f} MB, and a tool answers with {_LONGEST / 1e6:.0f} MB at most. "
            f"{instead}"
        )
    return Looked(json.loads(written))


def _refusing_others(name: str, form: type[BaseModel], **more: Any) -> type[BaseModel]:
    """A form with further fields, which refuses all others."""
    takes = create_model(name, __base__=form, __config__=None, **more)
    takes.model_config["extra"] = "forbid"
    takes.model_rebuild(force=True)
    return takes


def _looking(read: Read) -> Declared:
    return Declared(
        read.over_mcp,
        read.title,
        read.about,
        _refusing_others(read.form.__name__, read.form),
        read.model,
        partial(_look, read),
        looks=True,
        of_agent=read.of_agent,
    )


_Happens = Annotated[dict[str, list[dict[str, Any]]], Field(description="What happens to whom, each event with an id.")]


def _advance(caller: Caller, _agent: None, arguments: Any) -> Looked:
    return Looked(
        plain(
            caller.world.advance(
                arguments.to, events=arguments.events, preview=arguments.preview, progress=caller.progress
            )
        )
    )


_ADVANCE = Declared(
    "advance",
    "Let time pass",
    "Let time pass until a time of the world: each character does what is due by itself, and the clock moves on.",
    _refusing_others("Advance", Until, preview=_PREVIEW, events=(_Happens, {})),
    model(Advanced),
    _advance,
    of_agent=False,
)
_KNOWN = {tool.name for tool in (*MEMORY_TOOLS, *TALK_TOOLS)}
CURATING_TOOLS = (
    *(_tool(operation) for operation in (*OPERATIONS, *BESIDE) if operation.over_mcp not in _KNOWN),
    *(_tool(operation, _run_in_world, of_agent=False) for operation in OF_WORLD),
    *(_tool(operation, _run_for_cast, ChangedTogether, of_agent=False) for operation in OF_CAST),
    _ADVANCE,
)
"""Every operation except ``reflect``, which every server offers; and letting time pass."""
LOOKING_TOOLS = tuple(_looking(read) for read in READS if read.over_mcp not in _KNOWN)
"""Every read except the searches and the list of agents, which every server offers."""
