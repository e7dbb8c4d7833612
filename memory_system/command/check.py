"""``python -m memory_system check``: are the saved cues of the agents still answered as they must be?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from ..agent import AgentMemory
from ..errors import EntryNotFound
from ..tester import CueResult
from .answering import the_world
from .arguments import Json
from .terminal import json_of, one_line

Checked = Sequence[tuple[AgentMemory, Sequence[CueResult]]]
"""Each agent that was asked, with what became of its saved cues."""

_SHORT = 60
NONE_SAVED = (
    "There are no saved cues to check. Save one on the Recall page, or with agent.save_cue(name, cue, must=[id])."
)


def check(
    agents: Annotated[list[str] | None, typer.Argument(help="Names of agents; all if none is named.")] = None,
    json: Json = False,
) -> None:
    """Ask the saved cues and tell which pass. Example: python -m memory_system check mira.

    The exit code is 1 if one fails, 0 if none does. No memory counts as recalled by this.
    """
    with the_world(json=json) as world:
        opened = [world.agent(name) for name in dict.fromkeys(agents or world.characters())]
        checked = [(agent, agent.check_cues()) for agent in opened]
        typer.echo(as_json(checked) if json else as_text(checked, named=bool(agents)))
    if not all(result.passed for _, results in checked for result in results):
        raise typer.Exit(1)


def as_text(checked: Checked, *, named: bool) -> str:
    """For the terminal: a block for each agent; one without saved cues is told only if it was named."""
    if not any(results for _, results in checked):
        return NONE_SAVED
    blocks = []
    for agent, results in checked:
        if results:
            passed = sum(result.passed for result in results)
            head = f"{agent.name}: {passed} passed, {len(results) - passed} failed"
            width = max(len(result.saved.name) for result in results)
            lines = (line for result in results for line in _lines(agent, result, width))
            blocks.append("\n".join([head, *lines]))
        elif named:
            blocks.append(f"{agent.name}: no saved cues")
    return "\n\n".join(blocks)


def _lines(agent: AgentMemory, result: CueResult, width: int) -> Iterator[str]:
    state = "pass" if result.passed else "FAIL"
    yield f"  {state}  {result.saved.name.ljust(width)}  {one_line(result.saved.cue, _SHORT)}".rstrip()
    for entry_id in result.missing:
        forgotten = ", which is forgotten" if entry_id in result.gone else ""
        yield f"        must be recalled: {_told(agent, entry_id)}{forgotten}"
    for entry_id in result.unwanted:
        yield f"        must not be recalled: {_told(agent, entry_id)}"
    for entry_id in result.gone:
        if entry_id in result.saved.must_not:
            yield f"        passed over, since it is forgotten: {_told(agent, entry_id)}"


def _told(agent: AgentMemory, entry_id: str) -> str:
    return f"“{one_line(_document(agent, entry_id), _SHORT)}”"


def _document(agent: AgentMemory, entry_id: str) -> str:
    """The text of a memory as it last was; its id if the agent never had it, as a script's own change set may say."""
    try:
        return agent.last_version(entry_id).document
    except EntryNotFound:
        return entry_id


def as_json(checked: Checked) -> str:
    """For programs: every agent that was asked, with its cues, and whether all of them pass."""
    told = [
        {
            "agent": agent.name,
            "passed": all(result.passed for result in results),
            "cues": [_plain(agent, result) for result in results],
        }
        for agent, results in checked
    ]
    return json_of({"passed": all(one["passed"] for one in told), "agents": told})


def _plain(agent: AgentMemory, result: CueResult) -> dict[str, Any]:
    def memories(ids: Sequence[str]) -> list[dict[str, str]]:
        return [{"id": entry_id, "document": _document(agent, entry_id)} for entry_id in ids]

    return {
        "name": result.saved.name,
        "cue": result.saved.cue,
        "passed": result.passed,
        "missing": memories(result.missing),
        "unwanted": memories(result.unwanted),
        "gone": memories(result.gone),
        "recalled": list(result.recalled),
    }
