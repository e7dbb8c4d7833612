"""The operations: the name of each, its form, and how the agent plans it.

Every front end is made from this list: the addresses of the HTTP API, the commands, and the tools for curating over
MCP. The explanation of a field (``Says``) is its help there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, Field, StrictBool, StringConstraints

from ...agent import AgentMemory
from ...agent_parts.replanning import carried_out
from ...conversation import describe_person, reflect_on_person, whisper
from ...conversation.storage import MAX_BLOCK
from ...core.change_set import ChangeSet
from ...core.entry import MAX_DOCUMENT
from ...core.kinds import MAX_ID
from ...core.known import EVERYBODY, MAX_GROUP
from ...core.personality import MAX_PORTRAIT
from ...core.presets import PRESETS
from ...core.settings import AgentSettings, Retention
from ...operations.context import Progress
from ...operations.importing.turns import MAX_SPEAKER, MAX_TURNS
from ...operations.tuning import TUNE
from ...store.put_off import Matter
from ...world import knowing
from ...world.knows import Verdict
from ...world.knows.labels import LABEL, MOST_FACT
from ...world.world import World
from ..forms import RETENTION, Body, EditBody, Id, Ids, MaterialBody, Name, Says, SettingsBody, Share

Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_DOCUMENT)]
GroupName = Annotated[str, StringConstraints(min_length=1, max_length=MAX_GROUP)]
CueName = Annotated[str, StringConstraints(min_length=1, max_length=80)]
PersonName = Annotated[str, StringConstraints(min_length=1, max_length=MAX_SPEAKER)]
Whole = Annotated[int, Field(strict=True, ge=1, le=2**62)]
Keys = Annotated[list[Annotated[str, StringConstraints(max_length=200)]], Field(max_length=10_000)]
CueIds = Annotated[list[Id], Field(max_length=100)]


class Nothing(Body):
    """There is nothing to say."""


class Timed(Body):
    """When it happens; by the world's clock if not given."""

    now: Annotated[AwareDatetime | None, Says("The world's time, with its zone; its clock if not given.")] = None


class Migrate(Timed):
    """By what the overflow is judged worth keeping, and what it has to exceed; or the memories that are to move."""

    threshold: Annotated[
        Share | None,
        Says("The importance to exceed, or the chance if retention is learned; the agent's setting if not given."),
    ] = None
    ids: Annotated[Ids | None, Says("Move these memories, whatever their importance.", option="--id")] = None
    retention: Annotated[Retention | None, Says(RETENTION)] = None


class Reflect(Timed):
    """Whether to reflect only if enough has happened since the last time."""

    only_if_due: Annotated[
        StrictBool, Says("Only if the ratings since the last reflection add up to enough.", option="--if-due")
    ] = False


class Summarise(Timed):
    """How many of the least important memories become one."""

    k: Annotated[
        int, Field(strict=True, ge=2, le=500), Says("How many memories become one.", label="Memories to summarise")
    ] = 10


class Plan(Timed):
    """When, and what the plan has to take into account."""

    because: Annotated[
        Ids, Says("Ids of memories that the plan has to take into account, whatever is recalled.", "--because")
    ] = Field(default_factory=list)


class Some(Body):
    """Which memories."""

    ids: Annotated[Ids, Says("The ids of the memories.")]


class Portrait(Body):
    """A picture of the agent, or none."""

    portrait: Annotated[
        Annotated[str, StringConstraints(max_length=MAX_PORTRAIT)] | None,
        Says("A WebP picture as data:image/webp;base64,...; none removes it."),
    ] = None


class EditMany(EditBody):
    """What to set on many memories, and the tags that each gets or loses."""

    ids: Annotated[Ids, Says("The ids of the memories.")]
    add_tags: Annotated[list[str], Says("Tags that each of them gets.", option="--add-tag")] = Field(
        default_factory=list
    )
    remove_tags: Annotated[list[str], Says("Tags that none of them keeps.", option="--remove-tag")] = Field(
        default_factory=list
    )


class Merge(Body):
    """Memories that become one: which stays, the first if not said, and what it says then."""

    ids: Annotated[Ids, Says("The ids of the memories.")]
    text: Annotated[
        Text | None, Says("The text of the merged memory; by default that of the one that stays.", piped=True)
    ] = None
    keep: Annotated[Id | None, Says("Which of them stays; the first if not given.")] = None


class OneMemory(Body):
    """Which memory."""

    id: Annotated[Id, Says("The id of the memory.")]


class Rederive(OneMemory, Timed):
    """Which memory, and when."""


class TakeBack(Body):
    """Which revision, and what is to be done with what later changes touched: kept as it is, or overwritten."""

    revision: Annotated[Whole, Says("Which change, by its revision in the history.")]
    keep: Annotated[Keys, Says("Keep later changes to these memories.")] = Field(default_factory=list)
    overwrite: Annotated[Keys, Says("Undo these although later changes touched them.")] = Field(default_factory=list)


class GoBack(Body):
    """The revision that all is to be brought back to."""

    revision: Annotated[Whole, Says("The revision to go back to.")]


class Turn(Body):
    """What somebody said."""

    speaker: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    text: Text
    timestamp: AwareDatetime | None = None

    def turn_fields(self) -> dict[str, Any]:
        """The turn as it is taken."""
        return self.model_dump(exclude_none=True)


class Conversation(Timed):
    """What was said, and whether each turn is rated."""

    turns: Annotated[
        Annotated[list[Turn], Field(max_length=MAX_TURNS)], Says("What was said, in order, each by its speaker.")
    ]
    rate: Annotated[StrictBool, Says("Rate each turn for how poignant it is.")] = True


class ImportMaterial(MaterialBody):
    """A file of another program, how it is read, and whether what is unrated is rated."""

    rate: Annotated[StrictBool, Says("Rate what has no rating for how poignant it is.")] = True
    ask_model: Annotated[StrictBool, Says("Let the language model make memories of prose.")] = False


class Whisper(Timed):
    """The thought."""

    text: Annotated[Text, Says("The thought, in the words in which the agent should think it.", piped=True)]


class DescribePerson(Timed):
    """Whom the agent knows, and what it knows of them."""

    name: Annotated[PersonName, Says("The name by which they talk with the agent.")]
    text: Annotated[
        Annotated[str, StringConstraints(max_length=MAX_BLOCK)],
        Says("What the agent knows of them; empty for nothing.", piped=True),
    ]
    trust: Annotated[
        Share | None, Says("How far the agent trusts them, 0 (not at all) to 1 (wholly); it stays if not given.")
    ] = None


class ReflectOnPerson(Timed):
    """Whom the agent thinks over."""

    name: Annotated[PersonName, Says("The name by which the agent knows them.")]


class SaveCue(Body):
    """A cue by name, with the memories that it must and must not recall."""

    name: Annotated[CueName, Says("What the cue is called; one of the same name is replaced.")]
    cue: Annotated[Text, Says("What memory is asked.")]
    must: Annotated[CueIds, Says("The ids of memories that it has to recall.")] = Field(default_factory=list)
    must_not: Annotated[CueIds, Says("The ids of memories that it must not recall.")] = Field(default_factory=list)


class RemoveCue(Body):
    """The name of a saved cue."""

    name: Annotated[CueName, Says("What the cue is called.")]


class Later(Body):
    """Which decision, as the inbox gives it, and until when."""

    kind: Annotated[Matter, Says("What it is about, as the inbox gives it.")]
    of: Annotated[
        Annotated[str, StringConstraints(max_length=MAX_ID)], Says("Which one of its kind, as the inbox gives it.")
    ] = ""
    until: Annotated[AwareDatetime | None, Says("Until which time of the world, with its zone.")] = None
    mark: Annotated[
        Annotated[str, StringConstraints(max_length=MAX_ID)],
        Says("What it is like, as the inbox gives it: it asks again when that changes. With neither: at once."),
    ] = ""


class Judge(Body):
    """Whether a memory is a right answer to a cue; ``null`` takes the judgment back."""

    cue: Annotated[Text, Says("What memory is asked.")]
    id: Annotated[Id, Says("The id of the memory.")]
    verdict: Annotated[
        StrictBool | None,
        Says(
            "Whether it is a right answer, a wrong one, or neither, which takes a judgment back.",
            words={"right": True, "wrong": False, "neither": None},
        ),
    ]


class EditOne(EditBody):
    """Which memory, and what is to be so of it."""

    id: Annotated[Id, Says("The id of the memory.")]


class Pin(Body):
    """Which memories, and whether they are pinned or not."""

    ids: Annotated[Ids, Says("The ids of the memories.")]
    off: Annotated[StrictBool, Says("Unpin them instead.")] = False


class Know(Body):
    """What is known, by whom, and when."""

    text: Annotated[Text, Says("What is known.", piped=True)]
    to: Annotated[GroupName, Says("Who knows it: everybody, or a group.")] = EVERYBODY
    known_from: Annotated[
        AwareDatetime | None, Says("From which time of the world on it is known, with its zone.", option="--from")
    ] = None
    known_until: Annotated[
        AwareDatetime | None, Says("Until which time of the world it is known, with its zone.", option="--until")
    ] = None
    rating: Annotated[
        Annotated[float, Field(strict=True, ge=1, le=10, allow_inf_nan=False)] | None,
        Says("How important it is, 1 to 10."),
    ] = None
    id: Annotated[Id | None, Says("The fact of this id is edited; a new one if not given.")] = None


class Unknow(Body):
    """Which facts, and which groups."""

    ids: Annotated[Ids, Says("The ids of facts, or the names of groups.")]


class Grouping(Body):
    """A group, and who is in it."""

    name: Annotated[GroupName, Says("What the group is called, such as: the guard.")]
    members: Annotated[
        Annotated[list[Name], Field(min_length=1, max_length=1000)], Says("The characters who are in it.")
    ]


class Configure(SettingsBody):
    """Settings to change, and a preset that goes before its own."""

    preset: Annotated[
        Literal["classic", "paper", "balanced"] | None, Says("A way of scoring, with the thresholds that fit it.")
    ] = None

    def arguments(self, own: AgentSettings) -> dict[str, Any]:
        """What ``configure`` is to be called with; what is named beside a preset counts."""
        named = super().arguments(own)
        if self.preset is None:
            return named
        chosen = PRESETS[self.preset]
        scoring = self.scoring.over(chosen.scoring) if self.scoring else chosen.scoring
        of_preset = {"threshold": chosen.threshold, "static_threshold": chosen.static_threshold}
        return of_preset | named | {"scoring": scoring}


@dataclass(frozen=True)
class Operation:
    """One operation: ``plan`` changes nothing.

    Args:
        name: its name; over HTTP, the last part of its address.
        title: what it is, in a few words.
        about: what it does, for people.
        form: its parameters.
        plan: plans it, given the agent, the form and, if it is slow, a progress callback; returns a change set, or
            what was planned ``Together`` for several agents.
        example: its parameters on the command line, as an example.
        slow: whether a language model may be asked.
        destroys: whether something is lost that cannot be brought back.
        refuses: fields of its form that it never accepts, so that they need not be offered.
        kind: the name of its change sets in the history (``ChangeSet.operation``), if that is not its name.
        label: the words for it there, if they are not its title.
        command: its name on the command line, if that is not its name.
        call: its name in Python, if that is not its name with underscores; with a dot, a function of that module of
            the client.
    """

    name: str
    title: str
    about: str
    form: type[Body]
    plan: Callable[..., Any]
    example: str
    slow: bool = False
    destroys: bool = False
    refuses: tuple[str, ...] = ()
    kind: str = ""
    label: str = ""
    command: str = ""
    call: str = ""

    @property
    def in_history(self) -> str:
        """What its change sets are called in the history."""
        return self.kind or self.name

    def planned(self, agent: AgentMemory, body: BaseModel, progress: Progress) -> ChangeSet:
        """What it would do; only a slow one reports its progress."""
        plan: ChangeSet = self.plan(agent, body, progress) if self.slow else self.plan(agent, body)
        return plan

    def done(self, agent: AgentMemory, body: BaseModel, progress: Progress, *, preview: bool) -> ChangeSet:
        """What it does, or would do; planned again as ``replanning.carried_out`` says."""
        plan = self.planned(agent, body, progress)
        if preview:
            return plan
        return carried_out(plan, lambda: self.planned(agent, body, progress), agent.apply, agent.contents.alone)

    @property
    def on_command_line(self) -> str:
        """What it is called on the command line."""
        return self.command or self.name

    @property
    def in_python(self) -> str:
        """What it is called in Python."""
        return self.call or self.name.replace("-", "_")

    @property
    def over_mcp(self) -> str:
        """What it is called by an MCP client."""
        return self.name.replace("-", "_")


def _edit_many(agent: AgentMemory, body: EditMany) -> ChangeSet:
    add, remove = body.add_tags, body.remove_tags
    return agent.edit_many(body.ids, add_tags=add, remove_tags=remove, preview=True, **body.arguments())


def _edit(agent: AgentMemory, body: EditOne) -> ChangeSet:
    return agent.edit(body.id, preview=True, **body.arguments())


OPERATIONS = (
    Operation(
        "migrate",
        "Migrate",
        "Move the overflow of short-term memory to long-term memory where it is worth keeping, and forget the rest.",
        Migrate,
        lambda agent, body: agent.migrate_stm2ltm(
            body.threshold, ids=body.ids, now=body.now, retention=body.retention, preview=True
        ),
        "--dry-run",
        call="migrate_stm2ltm",
    ),
    Operation(
        "reflect",
        "Reflect",
        "Draw insights from recent memories, with their evidence.",
        Reflect,
        lambda agent, body, progress: agent.reflect_from_recent_memory(
            only_if_due=body.only_if_due, now=body.now, preview=True, progress=progress
        ),
        "--if-due",
        slow=True,
        call="reflect_from_recent_memory",
    ),
    Operation(
        "summarise",
        "Summarise",
        "Let the least important memories become one summary; the originals can be restored.",
        Summarise,
        lambda agent, body, progress: agent.summarize_and_forget(body.k, now=body.now, preview=True, progress=progress),
        "--k 12",
        slow=True,
        call="summarize_and_forget",
    ),
    Operation(
        "plan",
        "Plan the day",
        "Plan the rest of the day in timed actions; the old plan of that day is replaced.",
        Plan,
        lambda agent, body, progress: agent.plan_from_memory(
            body.now, because=body.because, preview=True, progress=progress
        ),
        "--now 2026-03-27T08:00:00+00:00",
        slow=True,
        call="plan_from_memory",
    ),
    Operation(
        "tune",
        "Tune",
        "Fit weights, decay, threshold and retention to what was judged right and wrong, if held-out labels show it.",
        Timed,
        lambda agent, body, progress: agent.tune(now=body.now, preview=True, progress=progress),
        "--dry-run",
        slow=True,
    ),
    Operation(
        "reset",
        "Empty memory",
        "Empty short-term and long-term memory; what is pinned or protected stays.",
        Nothing,
        lambda agent, _body: agent.reset_memory(preview=True),
        "--dry-run",
        call="reset_memory",
    ),
    Operation(
        "remember-conversation",
        "Remember a conversation",
        "Remember the turns of a conversation, and a synopsis linked to them.",
        Conversation,
        lambda agent, body, progress: agent.remember_conversation(
            [turn.turn_fields() for turn in body.turns], rate=body.rate, now=body.now, preview=True, progress=progress
        ),
        "talk.txt --no-rate",
        slow=True,
        kind="conversation",
    ),
    Operation(
        "import-material",
        "Import a file",
        "Import a file from another program: who the character is, facts, and memories with their dates.",
        ImportMaterial,
        lambda agent, body, progress: agent.import_material(
            **body.arguments(), rate=body.rate, ask_model=body.ask_model, preview=True, progress=progress
        ),
        "card.png --dry-run",
        slow=True,
        kind="import",
        label="Import",
    ),
    Operation(
        "whisper",
        "Whisper a thought",
        "Plant a thought: an event that the agent believes is its own, and that no operation forgets.",
        Whisper,
        lambda agent, body, _progress: whisper(agent, body.text, now=body.now, preview=True),
        "'The mill is not safe tonight.'",
        slow=True,
        call="conversation.whisper",
    ),
    Operation(
        "describe-person",
        "Describe a person",
        "Write down what an agent knows of a person; the next talk with them begins with that.",
        DescribePerson,
        lambda agent, body: describe_person(agent, body.name, body.text, trust=body.trust, now=body.now, preview=True),
        "'Tobias Finch' 'He mends clocks, and has my key.'",
        call="conversation.describe_person",
        kind="know",
    ),
    Operation(
        "reflect-on-person",
        "Reflect on a person",
        "Update what is known about a person, and how far they are trusted, from what came up about them.",
        ReflectOnPerson,
        lambda agent, body, progress: reflect_on_person(
            agent, body.name, now=body.now, preview=True, progress=progress
        ),
        "'Tobias Finch'",
        slow=True,
        call="conversation.reflect_on_person",
    ),
    Operation(
        "portrait",
        "Set the portrait",
        "Give the agent a picture, or remove it.",
        Portrait,
        lambda agent, body: agent.set_portrait(body.portrait, preview=True),
        "--dry-run",
        call="set_portrait",
    ),
    Operation(
        "rate-again",
        "Rate again",
        "Rate memories again, such as those that were stored unrated.",
        Some,
        lambda agent, body, progress: agent.rate_again(body.ids, preview=True, progress=progress),
        "mira-0327-13",
        slow=True,
        kind="rate",
        label="Rate",
    ),
    Operation(
        "edit-many",
        "Edit many memories",
        "Change many memories in one change set.",
        EditMany,
        _edit_many,
        "mira-0327-13 mira-0327-12 --add-tag key --rating 7",
        refuses=("document", "timestamp", "metadata"),
        kind="edit",
        label="Edit",
    ),
    Operation(
        "forget",
        "Forget",
        "Take memories out of recall.",
        Some,
        lambda agent, body: agent.forget(body.ids, preview=True),
        "mira-0327-13 --dry-run",
    ),
    Operation(
        "restore",
        "Restore",
        "Bring forgotten memories back as they last were.",
        Some,
        lambda agent, body: agent.restore(body.ids, preview=True),
        "mira-0327-13",
        command="restore-memories",  # ``restore`` brings a backup back
    ),
    Operation(
        "purge",
        "Purge for good",
        "Remove what forgotten memories said from every file, for good. This cannot be undone.",
        Some,
        lambda agent, body: agent.purge(body.ids, preview=True),
        "mira-0327-13 --dry-run",
        destroys=True,
        label="Purge",
    ),
    Operation(
        "empty-bin",
        "Empty the bin",
        "Purge what was forgotten longer ago than the setting bin_days says. This cannot be undone.",
        Timed,
        lambda agent, body: agent.empty_bin(now=body.now, preview=True),
        "--dry-run",
        destroys=True,
        kind="purge",
    ),
    Operation(
        "merge",
        "Merge",
        "Make one memory of several.",
        Merge,
        lambda agent, body: agent.merge(body.ids, body.text, keep=body.keep, preview=True),
        "mira-0327-13 mira-0327-12 --text 'Tobias has the key.'",
    ),
    Operation(
        "dismiss",
        "Dismiss a suspicion",
        "Mark memories as neither duplicates nor contradictions.",
        Some,
        lambda agent, body: agent.dismiss(body.ids, preview=True),
        "mira-0327-13 mira-0327-12",
        label="Dismiss",
    ),
    Operation(
        "suspect-again",
        "Suspect again",
        "Consider dismissed suspicions again.",
        Nothing,
        lambda agent, _body: agent.suspect_again(preview=True),
        "--dry-run",
        kind="dismiss",
    ),
    Operation(
        "rederive",
        "Derive again",
        "Rewrite a derived memory from its evidence as it is now.",
        Rederive,
        lambda agent, body, progress: agent.rederive(body.id, now=body.now, preview=True, progress=progress),
        "mira-0326-02 --dry-run",
        slow=True,
    ),
    Operation(
        "keep-stale",
        "Keep a stale memory",
        "Keep a stale memory as it is.",
        OneMemory,
        lambda agent, body: agent.keep_stale(body.id, preview=True),
        "mira-0326-02",
        kind="keep",
        label="Keep as it is",
    ),
    Operation(
        "save-cue",
        "Save a cue",
        "Save a cue by name, with what it must and must not recall.",
        SaveCue,
        lambda agent, body: agent.save_cue(body.name, body.cue, body.must, body.must_not, preview=True),
        "'The key' 'Where is the key?' --must mira-0327-13",
        kind="cues",
        label="Saved cues",
    ),
    Operation(
        "remove-cue",
        "Remove a cue",
        "Remove a saved cue.",
        RemoveCue,
        lambda agent, body: agent.remove_cue(body.name, preview=True),
        "'The key'",
        kind="cues",
    ),
    Operation(
        "judge",
        "Judge an answer",
        "Mark a memory as a right or a wrong answer to a cue.",
        Judge,
        lambda agent, body: agent.judge(body.cue, body.id, body.verdict, preview=True),
        "'Where is the key?' mira-0327-13 right",
        kind="judgments",
        label="Judgments",
    ),
    Operation(
        "put-off",
        "Put a decision off",
        "Let a decision of the inbox wait until a time of the world, or until something about it changes.",
        Later,
        lambda agent, body: agent.put_off(body.kind, body.of, until=body.until, mark=body.mark, preview=True),
        "migrate --until 2026-03-28T06:00:00+00:00",
        label="Put off",
    ),
    Operation(
        "undo",
        "Undo",
        "Undo a change set; an undo can itself be undone.",
        TakeBack,
        lambda agent, body: agent.undo(body.revision, keep=body.keep, overwrite=body.overwrite, preview=True),
        "12 --dry-run",
    ),
    Operation(
        "redo",
        "Redo",
        "Apply again what was undone.",
        TakeBack,
        lambda agent, body: agent.redo(body.revision, keep=body.keep, overwrite=body.overwrite, preview=True),
        "12",
    ),
    Operation(
        "undo-back-to",
        "Go back to a revision",
        "Bring everything back to what it was right after a revision.",
        GoBack,
        lambda agent, body: agent.undo_back_to(body.revision, preview=True),
        "7 --dry-run",
        kind="go back",
        label="Go back",
    ),
)
BESIDE = (
    Operation(
        "edit", "Edit a memory", "Change fields of a memory.", EditOne, _edit, "mira-0327-13 --text 'Saw no smoke.'"
    ),
    Operation(
        "pin",
        "Pin",
        "Pin memories, so that they are never forgotten or moved.",
        Pin,
        lambda agent, body: agent.edit_many(body.ids, pinned=not body.off, preview=True),
        "mira-0327-13",
        call="edit_many",
        kind="edit",
    ),
    Operation(
        "configure",
        "Change settings",
        "Change the agent's own settings; those that are not named stay.",
        Configure,
        lambda agent, body: agent.configure(preview=True, **body.arguments(agent.settings)),
        "--stm-size 50 --preset paper",
        kind="settings",
        label="Settings",
    ),
)
"""What is planned and carried out in the same way, and has an address of its own over HTTP."""


class Correct(Body):
    """Which character, how it stands to which fact, and the memory that shows it."""

    name: Annotated[Name, Says("The character's name.")]
    fact: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=MOST_FACT)],
        Says("The sentence that is known or not."),
    ]
    verdict: Annotated[Verdict | None, Says("Whether the character knows it; none takes the correction back.")] = None
    memory: Annotated[str, Says("The id of the memory that shows it, if one does.")] = ""


def _know(world: World, body: Know, author: str) -> ChangeSet:
    times = {"known_from": body.known_from, "known_until": body.known_until}
    return world.know(body.text, to=body.to, rating=body.rating, fact_id=body.id, author=author, preview=True, **times)


OF_WORLD = (
    Operation(
        "know",
        "Let everybody know",
        "Keep a fact once for the world, which everybody recalls, or a group, as their static memory; or edit one.",
        Know,
        _know,
        "'The bridge is closed for carts.' --to 'the guard' --until 2026-04-01T00:00:00+00:00",
        kind=knowing.KNOW,
        label="World: a fact",
    ),
    Operation(
        "unknow",
        "Forget what is known",
        "Forget facts of the world, by their ids, and dissolve groups, by their names.",
        Unknow,
        lambda world, body, author: world.unknow(body.ids, author=author, preview=True),
        "known:9b1c 'the guard' --dry-run",
        label="World: forget",
    ),
    Operation(
        "group",
        "Say who is in a group",
        "Say which characters are in a group, to whom facts can be known.",
        Grouping,
        lambda world, body, author: world.group(body.name, body.members, author=author, preview=True),
        "'the guard' tobias edda",
        label="World: a group",
    ),
    Operation(
        "correct",
        "Correct who knows what",
        "Say whether a character knows a fact; from then on this takes precedence over any judge.",
        Correct,
        lambda world, body, author: world.correct(
            body.name, body.fact, body.verdict, body.memory, author=author, preview=True
        ),
        "tobias 'Juno stole the mill key.' --verdict 'half knows'",
        kind=LABEL,
        label="World: who knows what",
    ),
)
"""What changes what the world knows, and no agent: planned by the world, the form, and who is behind it."""
OF_CAST = (
    Operation(
        "tune-cast",
        "Tune the whole cast",
        "Fit one set of weights, decay, threshold and retention to the labels of all characters, if held-out ones show "
        "it.",
        Timed,
        lambda world, body, author, progress: world.tune(now=body.now, author=author, preview=True, progress=progress),
        "--dry-run",
        slow=True,
        kind=TUNE,
        call="tune",
    ),
)
"""What changes several agents in one go, each by a change set of its own: planned from the world, the form, the author
and a progress callback; ``World.carry_out_all`` applies it."""


def history_labels() -> dict[str, str]:
    """What the operations are called in the history, for people, by ``ChangeSet.operation``."""
    return {
        operation.in_history: operation.label or operation.title
        for operation in reversed((*OPERATIONS, *BESIDE, *OF_WORLD))
    }
