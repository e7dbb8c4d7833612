"""``talk``: say something to an agent and hear its answer, or talk with it line by line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from ...agent import AgentMemory
from ...conversation import Conversation, Interview
from ...conversation.storage import conversations
from ...errors import ModelError
from .arguments import Agent, DryRun, Json, Now, opened, the_world
from .progress import quiet_progress
from .remembering import STDIN, piped
from .terminal import json_of, say

TITLE = "On the command line"
"""The conversation that goes on from one call to the next."""


def talk(
    agent: Agent,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="What you say; - reads from a pipe. Line by line from stdin if not given."),
    ] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with this conversation; the last one here if not given.")
    ] = None,
    human: Annotated[str, typer.Option(help="Who you are, in a conversation that begins.")] = "You",
    new: Annotated[bool, typer.Option("--new", help="Begin a new conversation.")] = False,
    now: Now = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Talk with an agent; the conversation is kept, and goes on with the next call. A dry run leaves no trace.

    Example: python -m memory_system talk mira 'Who has the key of the mill?'
    """
    with the_world(json=json) as world:
        character = opened(world, agent)
        partner: Conversation | Interview | None = None
        for said in _said(text):
            if partner is None:
                partner = _partner(character, conversation, human, new=new, dry_run=dry_run)
            with quiet_progress():
                step = partner.step(said, now=now)
            revision = step.change_set.revision if step.change_set else None
            if step.problem:
                raise ModelError(
                    f"{step.problem} {f'What you said is kept, as revision {revision}.' if revision else ''}"
                )
            if json:
                told = {
                    "agent": agent,
                    "conversation": partner.id if isinstance(partner, Conversation) else None,
                    "said": said,
                    "answer": step.answer,
                    "recalled": [hit.entry.id for hit in step.recalled],
                    "functions": [one.name for one in step.functions],
                    "revision": revision,
                    "notes": list(step.notes),
                }
                typer.echo(json_of(told, indent=None))
                continue
            say(step.answer)
            for note in step.notes:
                say(f"Note: {note}", err=True)


def _said(text: str | None) -> Iterator[str]:
    """What is said, one message after the other."""
    if text is not None:
        yield piped(text) if text == STDIN else text
        return
    if sys.stdin.isatty():
        say("Say something, a line each; Ctrl+D ends it.", err=True)
    for line in typer.get_text_stream("stdin"):
        if line.strip():
            yield line.strip()


def _partner(
    character: AgentMemory, conversation: str | None, human: str, *, new: bool, dry_run: bool
) -> Conversation | Interview:
    """Who answers: a conversation that is kept, or, for a dry run, an interview that leaves no trace."""
    held = conversation
    if held is None and not new:
        held = next((one.id for one in conversations(character) if one.title == TITLE), None)
    going_on = None if held is None else Conversation.open(character, held)
    if dry_run:
        return Interview(character, human=human, talk=None if going_on is None else going_on.talk)
    return going_on or Conversation.begin(character, title=TITLE, human=human)
