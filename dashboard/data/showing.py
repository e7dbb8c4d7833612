"""What is shown step by step on real pages: a tour for a newcomer, and a presenter's prepared moments.

Imports no streamlit: the steps depend only on what is in the world.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from memory_system import AgentMemory, MemoryEntry, MemorySystemError, Tier
from memory_system.store.journal import Applied

from . import tables

_CUE = 90
_GREATEST = 10
_HIGH = 0.9
_ALREADY = 3


class Kind(StrEnum):
    """The kind of showing; also its name in the address."""

    TOUR = "tour"
    PRESENT = "present"


class Scene(StrEnum):
    """The part of the World page that a presenter shows on its own; also its word in the address."""

    DAY = "day"
    ASKED = "asked"


@dataclass(frozen=True)
class Step:
    """One step.

    Args:
        title: its title.
        told: what can be seen there, in a sentence or two.
        page: the name of its page.
        link: what its address contains in addition to the character.
        changes: whether the one change is offered there.
        undoes: whether the undo of that change is offered there.
    """

    title: str
    told: str
    page: str
    link: dict[str, str] = field(default_factory=dict)
    changes: bool = False
    undoes: bool = False


@dataclass(frozen=True)
class Found:
    """What there is to show about a character.

    Args:
        cue: a question that it answers with a memory of its life; empty if it answers none.
        memory: that memory.
        changeable: whether the memory may be changed, also by the present user.
    """

    cue: str = ""
    memory: MemoryEntry | None = None
    changeable: bool = False

    @property
    def rating(self) -> int:
        """The importance that the one change sets, 1 to 10: the highest, or a low one if it has that already."""
        return _ALREADY if self.memory and (self.memory.importance or 0) >= _HIGH else _GREATEST


def found(agent: AgentMemory, cues: Iterable[str]) -> Found:
    """The first of the questions that the character answers with a memory of its life; asking touches nothing."""
    for cue in cues:
        try:
            hits = agent.retrieval.answer(agent.retrieval.query(cue)).hits
        except MemorySystemError:  # nothing can be recalled from it, the pages say so
            return Found()
        own = [hit for hit in hits if hit.entry.tier is not Tier.STATIC]
        if own:
            entry = next((candidate.entry for candidate in own if not candidate.entry.protected), own[0].entry)
            return Found(cue, entry, agent.read_only is None and not entry.protected)
    return Found()


def tour(about: Found, last: Applied | None) -> list[Step]:
    """Five steps, the last of which undoes; fewer if the character remembers nothing yet."""
    steps = [
        Step(
            "The last day",
            "Each line is a character, each dot a memory, larger with its importance. A line between two dots joins "
            "what both remember of one event.",
            "overview",
        )
    ]
    if about.memory is None:
        return [*steps, _history(last)]
    asked = {"cue": about.cue}
    opened = {**asked, "memory": about.memory.id}
    seen = "A curator can change it here; you can only look."
    changed = (
        f"Set its importance to {about.rating} and watch its bar: the score changes at once."
        if about.changeable
        else seen
    )
    undone = "Your change is the first line here. Undo it, and everything is as it was."
    end = Step("Undo", undone, "history", changes=False, undoes=True) if about.changeable else _history(last)
    return [
        *steps,
        Step(
            "Ask",
            f"“{tables.short(about.cue, _CUE)}” Every memory is scored for it by recency, importance and relevancy. "
            "Those above the line of seats reach the prompt.",
            "memory",
            asked,
        ),
        Step(
            "Why",
            "Beside the list: what each part of the score is, what it weighs, and what it adds.",
            "memory",
            opened,
        ),
        Step("Change it", changed, "memory", opened, changes=about.changeable),
        end,
    ]


def moments(about: Found, last: Applied | None, *, cast: int, ask: str) -> list[Step]:
    """What a presenter walks through, as far as the world has it.

    Args:
        about: what there is to show of the character.
        last: the character's last change, if it has one.
        cast: how many characters there are.
        ask: the question that all of them are asked.
    """
    steps = [
        Step("The last day", "Who lived what, hour by hour, and which events two of them share.", "overview",
             {"scene": Scene.DAY.value})
    ]  # fmt: skip
    if cast > 1:
        steps.append(
            Step(f"One question, {cast} memories", "The same question asked of each: all remember their own part.",
                 "overview", {"scene": Scene.ASKED.value, "ask": ask})
        )  # fmt: skip
    if about.memory is not None:
        opened = {"cue": about.cue, "memory": about.memory.id}
        steps.append(
            Step("Why it was recalled", "A score is a sum that can be read: what each part is, weighs and adds.",
                 "memory", opened)
        )  # fmt: skip
        if about.changeable:
            sentence = f"Set its importance to {about.rating}, see what becomes of the answer, and undo it."
            steps.append(Step("Change and undo", sentence, "memory", opened, changes=True, undoes=True))
            return steps
    if last is not None:
        steps.append(_history(last))
    return steps


def _history(last: Applied | None) -> Step:
    """The last change of all, if the showing itself changes nothing."""
    if last is None:
        return Step("Undo", "Nothing has been changed yet. Every change is listed here, and can be undone.", "history")
    sentence = "Every change says who made it, when and why, and can be undone."
    return Step("Undo", sentence, "history", {"change": str(last.revision)})


def at(steps: Sequence[Step], number: int) -> int:
    """The number of an existing step, 1 being the first, nearest to the one asked for."""
    return max(1, min(number, len(steps)))
