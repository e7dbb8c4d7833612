"""``talk``: say something to an agent and hear its answer, or talk with it line by line."""

from __future__ import annotations

import json as json_module
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ...agent import AgentMemory
from ...conversation import MAX_TURNS, Action, Conversation, Duet, Group, Interview, Step
from ...conversation.actions import checked_actions
from ...conversation.functions import RESERVED
from ...conversation.people import talks_with
from ...conversation.playing import refuse_message
from ...conversation.storage import conversations
from ...conversation.talk import NOBODY
from ...core.change_set import CONVERSATION
from ...errors import InvalidParameter, MemorySystemError, ModelError
from .arguments import Agent, DryRun, Json, Now, between, opened, the_world
from .progress import quiet_progress
from .remembering import STDIN, piped
from .terminal import json_of, say

TITLE = "On the command line"
"""The conversation that continues from one call to the next."""


def talk(
    agent: Agent,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="What you say; - reads from a pipe. Line by line from stdin if not given."),
    ] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with this conversation; the last one here if not given.")
    ] = None,
    human: Annotated[
        str | None, typer.Option(help="Who you are; as in the conversation that goes on, or nobody in particular.")
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Begin a new conversation.")] = False,
    unprompted: Annotated[
        bool, typer.Option("--unprompted", help="Say nothing: it may open the talk or go on by itself, or be silent.")
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Say nothing new: the last message is answered again, in place of its answer."),
    ] = False,
    actions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What the agent can do, as JSON: for each action its name, description, parameters and command.",
        ),
    ] = None,
    others: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="AGENT",
            help="Let it talk with this agent, or in a group with several; TEXT is then what brings them together.",
        ),
    ] = None,
    turns: Annotated[
        int, typer.Option(help="With --with: the number of turns.", **between(1, MAX_TURNS, whole=True))
    ] = 6,
    now: Now = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Talk with an agent; the conversation is kept, and goes on with the next call. A dry run leaves no trace.

    Example: python -m memory_system talk mira 'Who has the key of the mill?'
    """
    with the_world(json=json) as world:
        character = opened(world, agent)
        if others:
            if conversation or unprompted or again or actions or dry_run:
                raise InvalidParameter(
                    "With --with agents talk among themselves: only TEXT, --turns and --now can be given as well."
                )
            if text is not None:
                refuse_message(text)
            cast = [character, *(opened(world, name) for name in others)]
            group = Group.begin(cast, now=now) if len(cast) > 2 else Duet.begin(*cast, now=now)
            with quiet_progress():
                for turn in group.stream(turns, opening="" if text is None else text, now=now):
                    whose = turn.step.change_set.agent if turn.step.change_set else ""
                    _tell(whose, None, "", turn.step, json=json, speaker=turn.speaker)
            return
        offered = [] if actions is None else read_actions(actions)
        if offered and dry_run:
            raise InvalidParameter("A dry run leaves no trace, so the agent can do nothing in it. Leave out --actions.")
        partner: Conversation | Interview | None = None
        silent = unprompted or again
        if silent and (text is not None or dry_run or (again and (unprompted or new or offered))):
            raise InvalidParameter(
                "With --unprompted or --again you say nothing, and it cannot be a dry run; --again allows neither "
                "--new nor --actions. Leave one of them out."
            )
        for said in [""] if silent else _said(text):
            if partner is None:
                if not silent:
                    refuse_message(said)  # before there is a conversation that would be left empty
                partner, whom = _partner(character, conversation, human, new=new, dry_run=dry_run, again=again)
                if not json:
                    unnamed = "; --human says who you are" if whom == NOBODY else ""
                    say(f"You talk with {character.display_name} as {whom}{unnamed}.", err=True)
            with quiet_progress():
                if isinstance(partner, Conversation) and again:
                    step = partner.answer_again(now=now)
                elif isinstance(partner, Conversation) and unprompted:
                    step = partner.heartbeat(now=now, actions=offered)
                elif isinstance(partner, Conversation):
                    step = partner.step(said, now=now, actions=offered)
                else:
                    step = partner.step(said, now=now)
            _tell(agent, partner.id if isinstance(partner, Conversation) else None, said, step, json=json)


def _tell(agent: str, conversation: str | None, said: str, step: Step, *, json: bool, speaker: str = "") -> None:
    """Print the result of a message.

    Raises:
        ModelError: there is no answer.
    """
    revision = step.change_set.revision if step.change_set else None
    if step.problem:
        raise ModelError(f"{step.problem} {f'What you said is kept, as revision {revision}.' if revision else ''}")
    if json:
        body = {
            "agent": agent,
            "conversation": conversation,
            "said": said,
            "answer": step.answer,
            "recalled": [hit.entry.id for hit in step.recalled],
            "functions": [function.name for function in step.functions],
            "revision": revision,
            "notes": list(step.notes),
        }
        typer.echo(json_of(body, indent=None))
        return
    say(f"{speaker}: {step.answer}" if speaker else step.answer)
    for note in step.notes:
        say(f"Note: {note}", err=True)


def read_actions(file: Path) -> list[Action]:
    """The actions of a file: each is done by a command, which reads its arguments as JSON and prints the result.

    Raises:
        InvalidParameter: the file cannot be read, or one is not an action.
    """
    form = '[{"name": "...", "description": "...", "parameters": {...}, "command": ["./program"]}]'
    try:
        items = json_module.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidParameter(f"{file} cannot be read as actions: {error!s:.200}. It must be JSON: {form}") from error
    found = []
    for item in items if isinstance(items, list) else [None]:
        told_of = {} if not isinstance(item, dict) else item
        command = told_of.pop("command", None)
        known = {"name", "description"} <= told_of.keys() <= _OF_AN_ACTION
        if not known or not isinstance(command, list) or not command or not all(isinstance(w, str) for w in command):
            raise InvalidParameter(f"{file} does not contain actions. Write {form}")
        found.append(Action(**told_of, do=partial(_done, tuple(command))))
    return [*checked_actions(found, RESERVED)]


_OF_AN_ACTION = {"name", "description", "parameters"}
_SECONDS = 60.0
"""How long the command of an action may take."""


def _done(command: tuple[str, ...], /, **arguments: object) -> str:
    """What a command prints that gets the arguments as JSON.

    Raises:
        MemorySystemError: it fails, or takes more than a minute.
    """
    said = json_module.dumps(arguments, ensure_ascii=False)
    try:
        done = subprocess.run(  # noqa: S603 - the command comes from the author of the file
            command, input=said, capture_output=True, encoding="utf-8", errors="replace", timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MemorySystemError(f"{command[0]} could not do it: {error!s:.200}") from error
    if done.returncode:
        raise MemorySystemError(done.stderr.strip() or f"{command[0]} failed ({done.returncode}).")
    return done.stdout.strip()


def _said(text: str | None) -> Iterator[str]:
    """The messages to say, one after the other."""
    if text is not None:
        yield piped(text) if text == STDIN else text
        return
    if sys.stdin.isatty():
        say("Say something, a line each; Ctrl+D ends it.", err=True)
    for line in typer.get_text_stream("stdin"):
        if line.strip():
            yield line.strip()


def _last_changed(character: AgentMemory, conversation: str) -> int:
    done = character.timeline.of_text(f"{CONVERSATION}{conversation}", 1)
    return done[0].revision if done else 0


def _partner(
    character: AgentMemory, conversation: str | None, human: str | None, *, new: bool, dry_run: bool, again: bool
) -> tuple[Conversation | Interview, str]:
    """Who answers, and to whom: a stored conversation or, for a dry run, an interview that leaves no trace.

    Raises:
        InvalidParameter: there is no conversation whose last message could be answered ``again``.
    """
    whom, conversation_id = talks_with(character, human or NOBODY), conversation
    if conversation_id is None and not new:
        ours = [
            conversation
            for conversation in conversations(character)
            if conversation.title == TITLE and (human is None or conversation.human == whom)
        ]
        # the world's time may be stopped
        same = [listed_talk.id for listed_talk in ours if listed_talk.last == ours[0].last]
        conversation_id = max(same, key=partial(_last_changed, character)) if ours else None
    going_on = None if conversation_id is None else Conversation.open(character, conversation_id)
    if going_on is not None:
        whom = going_on.head.human
    elif again:
        raise InvalidParameter("Nobody has talked here yet, so there is no answer to replace: say something first.")
    if dry_run:
        return Interview(character, human=whom, talk=None if going_on is None else going_on.talk), whom
    return going_on or Conversation.begin(character, title=TITLE, human=whom), whom
