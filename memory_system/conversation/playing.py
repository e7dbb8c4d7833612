"""Playing: one step of a talk on an agent's memory: what is recalled, what is searched, and what would be stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..agent import AgentMemory
from ..core.change_set import ModelCall, is_text
from ..core.entry import MAX_DOCUMENT, Kind, MemoryEntry
from ..core.times import stamp
from ..errors import InvalidEntry, InvalidParameter, shown
from ..llm import LanguageModel
from ..llm.base import Heard, unheard
from ..llm.prompts import prompts_of
from ..operations.context import rated
from ..recall.query import Facets
from ..recall.rank import Recall
from . import people
from .actions import Action
from .context import Context, Scene, build, tokens_of_tools
from .external import AgentExternal
from .functions import Functions
from .remembering import notes_of
from .stepping import Outcome, Stepper, Told, untold
from .strategies import Summariser
from .talk import LEAST_VIRTUAL, UNPROMPTED, Blocks, Message, Mode, Strategy, Talk

ARCHIVAL = "archival"
"""The tag of events that an agent stored while it talked."""
BLOCKS = ("persona", "human")
_PAGE = 5
"""How many results of a search are on a page, if they fit."""
_SHORTEST = 230
"""How many characters a result should have at least, with its frame; if need be a page has fewer results."""


def refuse_message(text: object) -> None:
    """Raise unless a text can be a message.

    Raises:
        InvalidEntry: it cannot.
    """
    if not is_text(text) or not text.strip():
        raise InvalidEntry("The message is empty: say something.")
    if len(text) > MAX_DOCUMENT:
        raise InvalidEntry(
            f"The message has {len(text):,} characters; at most {MAX_DOCUMENT:,} are allowed. Load a longer text as a "
            "document of archival memory."
        )


@dataclass(frozen=True)
class Ask:
    """One message to an agent, and how it is asked.

    Args:
        text: what is said, 1 to 32,000 characters.
        now: the world's time.
        mode: what it leaves behind.
        heard: called with the answer's text as it arrives.
        told: called with each function call.
        muted: ids of memories to leave out, for this step only.
        without: names of core blocks to leave out.
        touch: whether what is recalled in play counts as accessed, and is logged.
        said: messages that are not stored, for a talk that leaves no trace to search.
        speaker: who says it; the talk's human if not given.
        model: the language model; the agent's if not given.
        actions: what the agent can do in the game.
        results: of actions that the caller carried out; see ``Functions``.

    Raises:
        InvalidEntry: the text cannot be a message.
        InvalidParameter: there is no such block.
    """

    text: str
    now: datetime
    mode: Mode = Mode.PLAY
    heard: Heard = unheard
    told: Told = untold
    muted: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    touch: bool = True
    said: tuple[Message, ...] = ()
    speaker: str = ""
    model: LanguageModel | None = None
    actions: tuple[Action, ...] = ()
    results: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        refuse_message(self.text)
        if unknown := [name for name in self.without if name not in BLOCKS]:
            raise InvalidParameter(f"There is no block {shown(unknown[0])}; there are {' and '.join(BLOCKS)}.")


@dataclass(frozen=True)
class Played:
    """The result of an ask: the outcome, what was recalled for it, and the events that the agent would store."""

    outcome: Outcome
    recalled: Recall
    events: tuple[MemoryEntry, ...] = field(default=())


def play(agent: AgentMemory, talk: Talk, ask: Ask) -> Played:
    """Ask, with the talk as it is now; nothing is stored except what recall touches in play mode."""
    played = run(agent, talk, ask)
    events, calls = list[MemoryEntry](), list[ModelCall]()
    for event in played.events:
        entry, call = rated(event, ask.model or agent.model)
        events.append(entry)
        calls.append(call)
    outcome = replace(played.outcome, calls=(*played.outcome.calls, *calls))
    return Played(outcome, played.recalled, tuple(events))


def run(agent: AgentMemory, talk: Talk, ask: Ask) -> Played:
    """As ``play``, for an agent as it is or as it was; the events are not rated.

    Raises:
        InvalidParameter: the actions do not fit in the talk.
    """
    model = ask.model or agent.model
    talk = with_actions(talk, ask.actions)
    recalled = recall(agent, talk, ask)
    room = _result_room(talk)
    unseen = (*ask.muted, *notes_of(agent, talk.id))
    external = AgentExternal(agent, ask.now, ask.mode, unseen, ask.said, min(_PAGE, max(1, room // _SHORTEST)))
    beats = bool(talk.settings.heartbeat)
    functions = Functions(external, talk.settings.block_room, room, ask.without, ask.actions, ask.results, beats)
    scene = scene_of(agent, talk, ask.now, recalled, ask.without)
    summariser = Summariser(agent.display_name, model)
    stepper = Stepper(
        talk, scene, model, summariser, functions, ask.now, ask.heard, ask.told, ask.speaker == UNPROMPTED
    )
    outcome = stepper.run(ask.text, ask.speaker or talk.human)
    events = () if outcome.pending else tuple(event_of(talk, text, ask.now) for text in external.inserted)
    return Played(outcome, recalled, events)


def with_actions(talk: Talk, actions: tuple[Action, ...]) -> Talk:
    """The talk with these actions.

    Raises:
        InvalidParameter: its strategy has no functions, or they do not fit.
    """
    if actions and talk.settings.strategy is not Strategy.VIRTUAL:
        raise InvalidParameter(
            f"Actions need the functions of memory, which the strategy {talk.settings.strategy} does not have; use the "
            f"strategy {Strategy.VIRTUAL}."
        )
    room = max(0, talk.settings.budget - LEAST_VIRTUAL + 400) // 2
    needed = tokens_of_tools(actions, talk.settings.budget) - tokens_of_tools((), talk.settings.budget)
    if needed > room:
        raise InvalidParameter(
            f"The actions take some {needed:,} tokens; a talk with a budget of {talk.settings.budget:,} has room for "
            f"{room:,}. Offer fewer, describe them in fewer words, or raise the budget."
        )
    return replace(talk, actions=actions)


def looked_at(agent: AgentMemory, talk: Talk, now: datetime) -> Context:
    """The prompt as it is before the next message."""
    return build(scene_of(agent, talk, now, None, ()), talk, ())


def recall(agent: AgentMemory, talk: Talk, ask: Ask) -> Recall:
    """What the agent recalls; only a normal talk touches and logs it."""
    here = notes_of(agent, talk.id)  # what is in the talk need not be recalled as well
    said = [message.said for message in talk.queue if message.said] if ask.speaker == UNPROMPTED else [ask.text]
    cue = said[-1] if said else talk.human
    facets, top_k = Facets(without=(*ask.muted, *here)), talk.settings.recalled
    if ask.mode is Mode.PLAY and ask.touch:
        return agent.query_memory(cue, top_k, now=ask.now, facets=facets, addressed=True)
    return agent.answer(agent.query(cue, top_k, now=ask.now, facets=facets, addressed=True))


def scene_of(agent: AgentMemory, talk: Talk, now: datetime, recalled: Recall | None, without: Sequence[str]) -> Scene:
    """What a prompt is made of in addition to the talk."""
    lines = tuple(_line(hit.entry, now) for hit in recalled) if recalled else ()
    whole = "" if talk.settings.strategy is Strategy.VIRTUAL else people.nature(agent, talk.settings.block_limit)
    return Scene(agent.display_name, whole, now, lines, tuple(without), prompts_of(agent.model))


def first_blocks(agent: AgentMemory, talk: Talk, persona: str | None, human: str | None) -> Blocks:
    """Core memory as a talk begins with it.

    Raises:
        InvalidParameter: a block is not a text, or longer than it may be.
    """
    room = talk.settings.block_room
    checked_blocks(Blocks(persona or "", human or ""), room)
    return Blocks(
        people.nature(agent, room) if persona is None else persona,
        people.known_of(agent, talk.people)[:room] if human is None else human,
    )


def checked_blocks(blocks: Blocks, room: int) -> Blocks:
    """The blocks, if they are texts of at most ``room`` characters.

    Raises:
        InvalidParameter: one is not.
    """
    for name in BLOCKS:
        text = getattr(blocks, name)
        if not is_text(text):
            raise InvalidParameter(f"The block {name} must be a text.")
        if len(text) > room:
            raise InvalidParameter(
                f"The block {name} has {len(text):,} characters; with these settings at most {room:,} fit. Shorten it, "
                "or raise 'block_limit' and the budget."
            )
    return blocks


def event_of(talk: Talk, text: str, now: datetime) -> MemoryEntry:
    """An event that an agent stores while it talks."""
    return MemoryEntry(text, {"conversation": talk.id}, kind=Kind.OBSERVATION, timestamp=now, tags=(ARCHIVAL,))


def _line(entry: MemoryEntry, now: datetime) -> str:
    when = stamp(entry.timestamp, now) if entry.timestamp else "always"
    return f"({when}) {' '.join(entry.document.split())}"


def _result_room(talk: Talk) -> int:
    """How many characters one search's results may have: about four tenths of what instructions and functions leave."""
    return min(6000, max(400, talk.budget - 1300))
