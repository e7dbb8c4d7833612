"""Tuning a cast: one set of values for all characters with the same settings, fitted to all their labelled cues.

Five characters with six judged cues each are enough together, but not alone. Each cue is asked of its own character.
All who use the most common settings are tuned, including those without labels: the gain is shown for those settings,
and the cast stays alike. Characters with settings of their own are left alone and named, and their cues do not count:
they were answered with other settings, and the result would not be applied to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ..agent import AgentMemory
from ..agent_parts.cues import Tunable
from ..core.change_set import ChangeSet, text_given
from ..core.settings import AgentSettings
from ..core.times import moment_given
from ..errors import MemorySystemError, ReadOnly
from ..operations import tuning
from ..operations.context import Progress, no_progress, refuse_uncallable, within
from .branches.branches import Stage
from .knows import story
from .together import ShareOf, Together, carry_out_all

WHAT = "Tune the cast"
_LOOKED, _GATHERED = 0.05, 0.1


def tune(
    world: Stage,
    *,
    now: datetime | None = None,
    author: str | None = None,
    preview: bool = False,
    progress: Progress = no_progress,
) -> Together:
    """Fit one set of weights, decay, threshold and retention to the labelled cues of all characters together.

    As ``AgentMemory.tune``, for when the labels of one character are too few. Each character with the most common
    settings gets a change set of its own; those with settings of their own are left alone and named. The result gives
    the gain on held-out labels with its interval, and for each character the answers that get worse. If there are too
    few labels or the gain is not shown, it has no change set and says why.

    Args:
        world: the characters' world.
        now: the world's time at which the cues are asked; its clock if not given.
        author: who is behind it, as the histories show it; this world's author if not given.
        preview: whether to plan only; ``carry_out_all`` applies what was planned.
        progress: called with the progress so far; it may raise to cancel.

    Raises:
        InvalidParameter: ``now`` is not a time with a zone.
        InvalidDocument: something in the file of the story's tests is wrong.
        StaleChange: a character was changed meanwhile. Nothing was changed.
    """
    refuse_uncallable(progress=progress)
    if now is not None:
        moment_given("'now'", now)
    story.story_tests(world)  # a wrong file is not the problem of one character
    cast = _Cast(world, now, None if author is None else text_given("author", author))
    cast.look(within(progress, 0.0, _LOOKED))
    found = keeping = None
    if tuning.enough(cast.labels):
        cast.gather(within(progress, _LOOKED, _GATHERED))
    if tuning.enough(cast.labels):
        members = [(cast.agent(name), tunable) for name, tunable in cast.members.items()]
        asked = [agent.cues.asked(tunable) for agent, tunable in members if tunable.labels]
        found = tuning.fit(asked, within(progress, _GATHERED, 1.0))
        keeping = tuning.fit_retention([agent.cues.judged(tunable) for agent, tunable in members])
    proposal = tuning.proposed(cast.labels, cast.common, found, keeping, WHAT)
    together = Together(proposal.title, proposal.notes, tuple(cast.shares(proposal)))
    return together if preview else carry_out_all(world, together)


class _Cast:
    """The characters of a world, grouped by what they can be tuned on."""

    def __init__(self, world: Stage, now: datetime | None, author: str | None) -> None:
        self._world, self._now, self._author = world, now, author
        self._looked: dict[str, Tunable] = {}
        self._closed: dict[str, str] = {}
        self.members: dict[str, Tunable] = {}
        """Those with the most common settings."""

    @property
    def labels(self) -> list[tuning.Labelled]:
        """The labelled cues of all who are tuned."""
        return [label for member in self.members.values() for label in member.labels]

    @property
    def common(self) -> AgentSettings:
        """The settings of one of the tuned characters: all have the same values for what is tuned."""
        return next((member.settings for member in self.members.values()), AgentSettings())

    def agent(self, name: str) -> AgentMemory:
        """A character, whose changes have the caller as their author."""
        agent = self._world.agent(name)
        return agent if self._author is None else agent.acting_as(self._author)

    def look(self, progress: Progress) -> None:
        """Find out who has which settings, and how many labels; one that cannot be opened does not stop the others."""
        names = self._world.characters()
        for number, name in enumerate(names):
            progress(number / len(names), f"Looking at {name}")
            try:
                agent = self.agent(name)
                if agent.read_only is not None:
                    raise ReadOnly(agent.read_only)
                self._looked[name] = agent.cues.tunable(self._now, lambda _labels: False)
            except MemorySystemError as error:
                self._closed[name] = error.sentence
        groups: dict[tuple[Any, ...], list[str]] = {}
        for name, tunable in self._looked.items():
            groups.setdefault(tuple(tuning.ways(tunable.settings).values()), []).append(name)
        most = max(groups.values(), key=self._weight, default=[])
        self.members = {name: self._looked[name] for name in most}

    def _weight(self, group: Sequence[str]) -> tuple[int, int]:
        """How many they are and, for groups of the same size, how many labels they have."""
        return len(group), sum(len(self._looked[name].labels) for name in group)

    def gather(self, progress: Progress) -> None:
        """Read what is needed to ask them, with at most ``MAX_CUES`` labels, shared out evenly."""
        shares = shared({name: len(tunable.labels) for name, tunable in self.members.items()}, tuning.MAX_CUES)
        common = tuning.ways(self.common)
        for number, (name, most) in enumerate(shares.items()):
            progress(number / len(shares), f"Reading {name}")
            found = self._looked[name] = self.agent(name).cues.tunable(self._now, lambda _labels: True, most)
            self.members[name] = found
            if tuning.ways(found.settings) != common:  # somebody has changed them meanwhile
                del self.members[name]

    def shares(self, proposal: tuning.Proposal) -> Iterator[ShareOf]:
        """What becomes of each character."""
        common = tuning.ways(self.common)
        each = proposal.found.each if proposal.found is not None else {}
        for name in self._world.characters():
            if name in self._closed:
                yield ShareOf(name, f"Left alone: {self._closed[name]}")
            elif (tunable := self.members.get(name)) is not None:
                change_set = self._planned(name, tunable, proposal) if proposal else None
                yield ShareOf(name, _sentence(tunable, each.get(name)), change_set)
            elif (other := self._looked.get(name)) is not None:
                own = tuning.ways(other.settings)
                differs = ", ".join(
                    f"{what} {own[what]}, not {common[what]}" for what in own if own[what] != common[what]
                )
                counted = f"; {tuning.in_words(other.labels)} do not count" if other.labels else ""
                yield ShareOf(name, f"Left alone with settings of its own ({differs}){counted}.")

    def _planned(self, name: str, tunable: Tunable, proposal: tuning.Proposal) -> ChangeSet:
        labelled = sum(bool(other.labels) for other in self.members.values())
        planned = self.agent(name).cues.tuned(tunable, proposal)
        whose = f"Tuned together with the cast, by the labels of {labelled} of {len(self.members)} characters."
        return replace(planned, notes=(whose, *planned.notes))


def _sentence(tunable: Tunable, matches: tuple[float, float] | None) -> str:
    if not tunable.labels:
        return "No labelled cues of its own."
    if matches is None:
        return f"{tuning.in_words(tunable.labels)}."
    now, then = matches
    return f"{tuning.in_words(tunable.labels)}, which match by {now:.0%} now and {then:.0%} when tuned without them."


def shared(wanted: Mapping[str, int], most: int) -> dict[str, int]:
    """How many each gets of this many: what it wants, or as many as any other that does not get what it wants."""
    got: dict[str, int] = {}
    for number, name in enumerate(sorted(wanted, key=lambda name: wanted[name])):
        got[name] = min(wanted[name], (most - sum(got.values())) // (len(wanted) - number))
    return got
