"""The operations: for each its address, the form of its body, and how the agent is asked to plan it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AwareDatetime, Field, StrictBool, StringConstraints

from ...agent import AgentMemory
from ...conversation import whisper
from ...core.change_set import ChangeSet
from ...core.entry import MAX_DOCUMENT
from ...operations.importing.turns import MAX_TURNS
from .schemas.bodies import Body, EditBody, Id, Ids, Share

Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]
Number = Annotated[int, Field(strict=True, ge=1, le=2**62)]
Keys = Annotated[list[Annotated[str, StringConstraints(max_length=200)]], Field(max_length=10_000)]


class Nothing(Body):
    """There is nothing to say."""


class Timed(Body):
    """When it happens; by the world's clock if not given."""

    now: AwareDatetime | None = None


class Migrate(Timed):
    """The importance that the overflow has to exceed to be kept; or the memories that are to move."""

    threshold: Share | None = None
    ids: Ids | None = None


class Reflect(Timed):
    """Whether to reflect only if enough has happened since the last time."""

    only_if_due: StrictBool = False


class Summarise(Timed):
    """How many of the least important memories become one."""

    k: Annotated[int, Field(strict=True, ge=2, le=500)] = 10


class Some(Body):
    """Which memories."""

    ids: Ids


class EditMany(EditBody):
    """What is to be so of many memories, and tags that each gets or loses."""

    ids: Ids
    add_tags: list[str] = Field(default_factory=list)
    remove_tags: list[str] = Field(default_factory=list)


class Merge(Body):
    """Memories that become one: which stays, the first if not said, and what it says then."""

    ids: Ids
    text: Text | None = None
    keep: Id | None = None


class OneMemory(Body):
    """Which memory."""

    id: Id


class Rederive(OneMemory, Timed):
    """Which memory, and when."""


class TakeBack(Body):
    """Which revision, and what is to be done with what later changes touched: kept as it is, or overwritten."""

    revision: Number
    keep: Keys = Field(default_factory=list)
    overwrite: Keys = Field(default_factory=list)


class GoBack(Body):
    """The revision that all is to be brought back to."""

    revision: Number


class Turn(Body):
    """What somebody said."""

    speaker: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    text: Text
    timestamp: AwareDatetime | None = None

    def given(self) -> dict[str, Any]:
        """The turn as it is taken."""
        return self.model_dump(exclude_none=True)


class Conversation(Timed):
    """What was said, and whether each turn is rated."""

    turns: Annotated[list[Turn], Field(max_length=MAX_TURNS)]
    rate: StrictBool = True


class Whisper(Timed):
    """The thought."""

    text: Text


class SaveCue(Body):
    """A cue by name, with the memories that it must and must not recall."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    cue: Text
    must: Annotated[list[Id], Field(max_length=100)] = Field(default_factory=list)
    must_not: Annotated[list[Id], Field(max_length=100)] = Field(default_factory=list)


class RemoveCue(Body):
    """The name of a saved cue."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80)]


class Judge(Body):
    """Whether a memory is a right answer to a cue; ``null`` takes the judgment back."""

    cue: Text
    id: Id
    verdict: StrictBool | None


@dataclass(frozen=True)
class Operation:
    """One operation: ``plan`` changes nothing.

    Args:
        name: the last part of its address.
        about: what it does, for people.
        form: its body.
        plan: plans it, by the agent and the body, and, where it is slow, by what is told how far it is.
        slow: whether a language model may be asked.
    """

    name: str
    about: str
    form: type[Body]
    plan: Callable[..., ChangeSet]
    slow: bool = False


def _edit_many(agent: AgentMemory, body: EditMany) -> ChangeSet:
    fields = {key: value for key, value in body.given().items() if key not in ("ids", "add_tags", "remove_tags")}
    return agent.edit_many(body.ids, add_tags=body.add_tags, remove_tags=body.remove_tags, preview=True, **fields)


OPERATIONS = (
    Operation(
        "migrate",
        "Move what short-term memory has no room for to long-term memory if it is important, else forget it.",
        Migrate,
        lambda agent, body: agent.migrate_stm2ltm(body.threshold, ids=body.ids, now=body.now, preview=True),
    ),
    Operation(
        "reflect",
        "Draw insights from recent memories, with their evidence.",
        Reflect,
        lambda agent, body, progress: agent.reflect_from_recent_memory(
            only_if_due=body.only_if_due, now=body.now, preview=True, progress=progress
        ),
        slow=True,
    ),
    Operation(
        "summarise",
        "Let the least important memories become one summary; the originals can be restored.",
        Summarise,
        lambda agent, body, progress: agent.summarize_and_forget(body.k, now=body.now, preview=True, progress=progress),
        slow=True,
    ),
    Operation(
        "plan",
        "Plan the rest of the day in timed actions; the old plan of that day is replaced.",
        Timed,
        lambda agent, body, progress: agent.plan_from_memory(body.now, preview=True, progress=progress),
        slow=True,
    ),
    Operation(
        "reset",
        "Empty short-term and long-term memory; what is pinned or protected stays.",
        Nothing,
        lambda agent, _body: agent.reset_memory(preview=True),
    ),
    Operation(
        "remember-conversation",
        "Remember the turns of a conversation, and a synopsis linked to them.",
        Conversation,
        lambda agent, body, progress: agent.remember_conversation(
            [turn.given() for turn in body.turns], rate=body.rate, now=body.now, preview=True, progress=progress
        ),
        slow=True,
    ),
    Operation(
        "whisper",
        "Plant a thought: an event that the agent takes for its own, and no operation forgets.",
        Whisper,
        lambda agent, body, _progress: whisper(agent, body.text, now=body.now, preview=True),
        slow=True,
    ),
    Operation(
        "rate-again",
        "Rate memories again, such as those that were stored unrated.",
        Some,
        lambda agent, body, progress: agent.rate_again(body.ids, preview=True, progress=progress),
        slow=True,
    ),
    Operation("edit-many", "Change many memories in one change set.", EditMany, _edit_many),
    Operation("forget", "Take memories out of recall.", Some, lambda agent, body: agent.forget(body.ids, preview=True)),
    Operation(
        "restore",
        "Bring forgotten memories back as they last were.",
        Some,
        lambda agent, body: agent.restore(body.ids, preview=True),
    ),
    Operation(
        "purge",
        "Take what forgotten memories said out of every file, for good. This cannot be undone.",
        Some,
        lambda agent, body: agent.purge(body.ids, preview=True),
    ),
    Operation(
        "merge",
        "Make one memory of several.",
        Merge,
        lambda agent, body: agent.merge(body.ids, body.text, keep=body.keep, preview=True),
    ),
    Operation(
        "dismiss",
        "Say that memories are neither duplicates nor contradictions.",
        Some,
        lambda agent, body: agent.dismiss(body.ids, preview=True),
    ),
    Operation(
        "suspect-again",
        "Look again at what was dismissed.",
        Nothing,
        lambda agent, _body: agent.suspect_again(preview=True),
    ),
    Operation(
        "rederive",
        "Make the text of a derived memory anew from its evidence as it is now.",
        Rederive,
        lambda agent, body, progress: agent.rederive(body.id, now=body.now, preview=True, progress=progress),
        slow=True,
    ),
    Operation(
        "keep-stale",
        "Say that a stale memory is kept as it is.",
        OneMemory,
        lambda agent, body: agent.keep_stale(body.id, preview=True),
    ),
    Operation(
        "save-cue",
        "Save a cue by name, with what it must and must not recall.",
        SaveCue,
        lambda agent, body: agent.save_cue(body.name, body.cue, body.must, body.must_not, preview=True),
    ),
    Operation(
        "remove-cue",
        "Take a saved cue away.",
        RemoveCue,
        lambda agent, body: agent.remove_cue(body.name, preview=True),
    ),
    Operation(
        "judge",
        "Say that a memory is a right or a wrong answer to a cue.",
        Judge,
        lambda agent, body: agent.judge(body.cue, body.id, body.verdict, preview=True),
    ),
    Operation(
        "undo",
        "Take a change set back; an undo can itself be undone.",
        TakeBack,
        lambda agent, body: agent.undo(body.revision, keep=body.keep, overwrite=body.overwrite, preview=True),
    ),
    Operation(
        "redo",
        "Do again what was undone.",
        TakeBack,
        lambda agent, body: agent.redo(body.revision, keep=body.keep, overwrite=body.overwrite, preview=True),
    ),
    Operation(
        "undo-back-to",
        "Bring everything to what it was right after a revision.",
        GoBack,
        lambda agent, body: agent.undo_back_to(body.revision, preview=True),
    ),
)
