"""Asking: the part of a world that tells who knows what, now and as of then."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import cast

from ...agent import AgentMemory
from ...agent_parts.knowledge import Knowledge, Then
from ...core.change_set import ChangeSet
from ...core.entry import MemoryEntry
from ...core.known import Label
from ...core.memory import Vectors
from ...core.times import Clock, moment_given
from ...embedding.embedder import Embedder
from ...errors import AgentNotFound, EntryNotFound, InvalidParameter, shown
from ...llm.offline.model import OfflineModel
from ...operations.context import Progress, no_progress
from ...operations.edit import listed
from ..knowing import Kept
from ..trail import Hop
from . import labels, running, story
from .cell import PERSON, Cell, Verdict
from .judging import View, by_model, by_rules, known_names, near, resting_on, weighed
from .running import TestResult
from .sentence import Claim, claim
from .story import StoryTest

_HISTORY = 20
"""Change sets of a memory that are looked through for the one that brought it."""


class Asking:
    """Looks at what characters remember; nothing of it counts as recalled."""

    folder: Path
    clock: Clock
    embedder: Embedder
    knowledge: Knowledge
    _lock: threading.RLock

    # -- what World does -------------------------------------------------------------------------------

    def characters(self) -> list[str]:
        """The names of the agents that are no rehearsals."""
        raise NotImplementedError

    def character_of(self, name: str) -> str:
        """The character that an agent plays."""
        raise NotImplementedError

    def agent(self, name: str) -> AgentMemory:
        """An agent by its name."""
        raise NotImplementedError

    def carry_out(self, plan: ChangeSet) -> ChangeSet:
        """Carry out a plan of the world's agent."""
        raise NotImplementedError

    def _kept(self, author: str | None = None) -> Kept:
        """What the world keeps of what is known."""
        raise NotImplementedError

    # -- who knows what --------------------------------------------------------------------------------

    def knows(self, name: str, fact: str, *, at: datetime | None = None, ask_model: bool = True) -> Cell:
        """Whether a character knows a fact, by which memory, since when and how; touches nothing.

        The answer counts as true where the verdict is "knows", so that ``assert not world.knows("tobias", "...")``
        reads as it is meant. See ``who_knows``; beside that, the cell says which change set brought the memory, and
        who was behind it.

        Raises:
            AgentNotFound, InvalidParameter: there is no such agent, or the fact or the time cannot be asked about.
            OtherEmbedder: the agent's vectors were made by another embedder than the chosen one.
        """
        return self.with_author(self.who_knows(fact, [name], at=at, ask_model=ask_model)[0])

    def who_knows(
        self,
        fact: str,
        names: str | Sequence[str] = (),
        *,
        at: datetime | None = None,
        ask_model: bool = True,
        progress: Progress = no_progress,
    ) -> tuple[Cell, ...]:
        """How each of some characters stands to a fact; touches nothing.

        A score is no knowledge: the memories that come nearest are read for who, what, how many and when, and for
        what they say otherwise. What a person said by ``correct`` is heard first.

        Args:
            fact: one sentence, 1 to 1,000 characters.
            names: of whom; of all characters if nobody is named.
            at: at which time of the world, with its zone; what was lived through later is not looked at. Now if not
                given.
            ask_model: whether the language model judges, where one is set; the rules judge where none is, and where
                it does not help.
            progress: told how far it is, 0 to 1; it may raise to cancel.

        Returns:
            a cell for each, in the order of the names.

        Raises:
            AgentNotFound, InvalidParameter: there is no such agent, or the fact or the time cannot be asked about.
            OtherEmbedder: an agent's vectors were made by another embedder than the chosen one.
        """
        sentence = labels.checked_fact(fact)
        moment = None if at is None else moment_given("'at'", at)
        cast_ = self.characters()
        wanted = listed(names, "'names'") or cast_
        agents = [self.agent(name) for name in wanted]
        held = self._kept().labels
        known = known_names(
            [*(self.agent(one).personality_text for one in cast_), *(one.personality_text for one in agents)]
        )
        asked = claim(sentence, moment or self.clock(), known)
        cue: Vectors = self.embedder.embed([sentence])[0]
        cells = []
        for number, agent in enumerate(agents):
            progress(number / len(agents), f"Looking at {agent.name}, {number + 1} of {len(agents)}")
            if (said := labels.label_of(held, self.character_of(agent.name), sentence)) is not None:
                cells.append(self._as_labelled(agent, said))
            else:
                cells.append(self._judged(agent, asked, cue, known, moment, ask_model=ask_model))
        return tuple(cells)

    def correct(
        self,
        name: str,
        fact: str,
        verdict: Verdict | str | None,
        memory: str = "",
        *,
        author: str | None = None,
        preview: bool = False,
    ) -> ChangeSet:
        """Say how a character stands to a fact, or take that back (``None``); from then on that is the answer.

        It is a change set of the agent ``world.knowledge``, which keeps it, and is undone there.

        Args:
            name: the character.
            fact: the sentence; capitals and spaces tell no two of them apart.
            verdict: "knows", "half knows", "has it wrong" or "does not know".
            memory: the id of the memory that shows it, if one does.
            author: who says so, as the history tells it; this world's author if not given.
            preview: whether to plan only.

        Raises:
            AgentNotFound, EntryNotFound, InvalidParameter: there is no such character, memory or verdict, or the fact
                cannot be asked about. Nothing was changed.
        """
        sentence, who = labels.checked_fact(fact), self.character_of(name)
        said = None if verdict is None else labels.checked_verdict(verdict)
        if who not in self.characters():
            raise AgentNotFound(f"There is no character {shown(name)}; there are {', '.join(self.characters())}.")
        if memory and self.agent(name).find(memory) is None:
            raise EntryNotFound(f"{name} has no memory {shown(memory)}, so it cannot show what {name} knows.")
        plan = labels.correct(self._kept(author), who, sentence, said, memory)
        return plan if preview else self.carry_out(plan)

    def labels(self) -> tuple[Label, ...]:
        """What was said by hand of who knows what, by ``correct``."""
        return self._kept().labels

    # -- one cell --------------------------------------------------------------------------------------

    def _judged(
        self,
        agent: AgentMemory,
        asked: Claim,
        cue: Vectors,
        known: frozenset[str],
        at: datetime | None,
        *,
        ask_model: bool,
    ) -> Cell:
        if agent.contents.of_another_embedder:
            agent.query_memory(asked.text, touch=False)  # which says so
        past = at is not None and at < self.clock()
        views = [View(agent, None if at is None else at)]
        if past and at is not None:
            views.insert(0, View(agent.as_of(world_time=at), at, then=True))
        more = self._known_of_world(agent.name, at)
        entries = near(views, asked, cue, more)
        found = weighed(agent, asked, entries, known, at or self.clock())
        cell = by_rules(agent, asked, found)
        if not ask_model or agent.model.name == OfflineModel.name:
            return cell
        read = [one.entry for one in found]
        said = by_model(agent, asked, read)
        return replace(cell, why=f"{cell.why} The language model did not help.") if said is None else said

    def _known_of_world(self, name: str, at: datetime | None) -> list[MemoryEntry]:
        then = None if at is None or at >= self.clock() else Then(world_time=at)
        known = self.knowledge.known(then)
        if known is None:
            return []
        rows = known.rows(lambda: self.knowledge.whose(name), at or self.clock())
        return [known.entries[row] for row in rows]

    def _as_labelled(self, agent: AgentMemory, said: Label) -> Cell:
        cell = Cell(agent.name, said.fact, Verdict(said.verdict), sure=1.0, why="A person said so.", judge=PERSON)
        entry = agent.find(said.memory) if said.memory else None
        return cell if entry is None else resting_on(cell, entry)

    def with_author(self, cell: Cell) -> Cell:
        """The same cell, with the change set that brought its memory, and who was behind that."""
        if not cell.memory:
            return cell
        try:
            agent = self.agent(cell.agent)
        except AgentNotFound:  # deleted meanwhile
            return cell
        brought = [
            one
            for one in reversed(agent.history(_HISTORY, entry_id=cell.memory))
            for change in one.change_set.changes
            if change.entry_id == cell.memory and change.after is not None and change.after.document == cell.text
        ]
        if not brought:
            return cell
        first = brought[0].change_set
        return replace(cell, revision=cast("int", first.revision), author=first.author)

    # -- tests of the story ----------------------------------------------------------------------------

    def trail(self, name: str, entry_id: str, about: str = "") -> tuple[Hop, ...]:
        """How a memory came to a character."""
        raise NotImplementedError

    def story_tests(self) -> tuple[StoryTest, ...]:
        """The tests of the story, which are kept as YAML beside the world's agents, in ``world-tests.yaml``.

        Raises:
            InvalidDocument: something in the file is wrong; each problem says its line and what to do.
        """
        return story.read(self.folder / story.FILE)

    def keep_tests(self, tests: Sequence[StoryTest]) -> None:
        """Keep these tests in the place of the former ones.

        Raises:
            InvalidParameter: two have the same name, or there are more than 2,000. Nothing was changed.
            StoreError: the file cannot be written.
        """
        names = [test.name for test in tests]
        if (twice := next((name for name in names if names.count(name) > 1), None)) is not None:
            raise InvalidParameter(f"Two tests are called {shown(twice)}; give one of them another name.")
        story.write(self.folder / story.FILE, tests)

    def run_tests(
        self, tests: Sequence[StoryTest] | None = None, *, progress: Progress = no_progress
    ) -> tuple[TestResult, ...]:
        """Run tests of the story by the rules alone, so that the same story has the same result; touches nothing.

        Args:
            tests: those that are kept with the world if not given.
            progress: told how far it is, 0 to 1; it may raise to cancel.

        Returns:
            what became of each, in their order. A red one says by which memory, which change set brought it, who was
            behind that, and how it came to the character.

        Raises:
            InvalidDocument: the file of tests is wrong.
        """
        wanted = self.story_tests() if tests is None else tuple(tests)
        self.embedder.embed(list(dict.fromkeys(test.fact for test in wanted)))  # at once, and remembered
        return running.run(self, wanted, progress)
