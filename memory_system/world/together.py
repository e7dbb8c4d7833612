"""Change sets planned together for several agents: what each is for; all of them are applied, or none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from ..agent import AgentMemory
from ..core.change_set import ChangeSet, entry_to_json
from ..core.entry import MemoryEntry
from ..errors import InvalidParameter, ReadOnly, StaleChange, StoreError, shown
from ..store.ledger_checks import refuse_broken
from .branches.branches import Stage


@dataclass(frozen=True)
class ShareOf:
    """What becomes of one of the agents.

    Args:
        agent: the agent's name.
        note: what was found about it, or why it is left alone, in a sentence.
        change_set: its own change set, applied or only planned; ``None`` if nothing is changed.
    """

    agent: str
    note: str
    change_set: ChangeSet | None = None


@dataclass(frozen=True)
class Together:
    """What is done to several agents in one go, or would be.

    Args:
        title: what it is.
        notes: what was found, in sentences.
        shares: what becomes of each agent, by name.
    """

    title: str
    notes: tuple[str, ...]
    shares: tuple[ShareOf, ...]

    @property
    def plans(self) -> tuple[ChangeSet, ...]:
        """The change sets, one per changed agent."""
        return tuple(share.change_set for share in self.shares if share.change_set is not None)

    def __bool__(self) -> bool:
        """Whether anything would change."""
        return bool(self.plans)


def carry_out_all(world: Stage, planned: Together) -> Together:
    """Carry out what was planned together for several agents; see ``carried_out``, also for the errors."""
    if not isinstance(planned, Together):
        raise InvalidParameter(f"What is carried out is what was planned together, not {shown(planned)}.")
    done = {change_set.agent: change_set for change_set in carried_out(world, planned.plans)}
    return replace(planned, shares=tuple(replace(share, change_set=done.get(share.agent)) for share in planned.shares))


def carried_out(world: Stage, plans: Iterable[ChangeSet]) -> list[ChangeSet]:
    """Carry out plans of several agents, one per agent: all of them, or none if one has become stale.

    Nobody else changes any of the agents meanwhile. Plans that were carried out before are returned as they are, so it
    can be called again after it was cut off. Each is a change set of its own agent, and is undone there.

    Raises:
        InvalidParameter: they are not one change set per agent. Nothing was changed.
        StaleChange: one agent, which is named, has changed since. Nothing was changed.
        ReadOnly: the journal of one is damaged. Nothing was changed.
        StoreError: it stopped in between, for example on a full disk; the message names what is done already.
    """
    by_name = {change_set.agent: change_set for change_set in _checked(plans)}
    with ExitStack() as stack:
        agents = {name: world.agent(name) for name in sorted(by_name)}  # in one order, so that two wait for each other
        for agent in agents.values():
            stack.enter_context(agent.contents.alone())
            if agent.read_only is not None:
                raise ReadOnly(agent.read_only)
        first = [name for name, agent in agents.items() if not _as_planned(agent, by_name[name])]
        done: dict[str, ChangeSet] = {}
        for name in (*first, *(name for name in agents if name not in first)):
            try:
                done[name] = agents[name].apply(by_name[name])
            except (StaleChange, StoreError) as error:
                names = ", ".join(other for other in done if other not in first)
                stands = f"Done before that, and to be undone there: {names}." if names else "Nobody was changed."
                raise type(error)(f"{name}: {error.sentence} {stands}") from error
        return [done[name] for name in by_name]


def _checked(plans: Iterable[ChangeSet]) -> Sequence[ChangeSet]:
    change_sets = list(plans)
    if wrong := [
        change_set for change_set in change_sets if not isinstance(change_set, ChangeSet) or not change_set.agent
    ]:
        raise InvalidParameter(f"What is carried out together are change sets of agents, not {shown(wrong[0])}.")
    if len({change_set.agent for change_set in change_sets}) < len(change_sets):
        raise InvalidParameter("One change set of each agent is carried out together; two are of the same.")
    for change_set in change_sets:
        refuse_broken(change_set, change_set.agent)
    return change_sets


def _as_planned(agent: AgentMemory, plan: ChangeSet) -> bool:
    """Whether everything that a plan touches is unchanged; if not, it was done before, or has become stale."""
    texts = agent.texts()
    memories = all(_stored(agent.find(change.entry_id)) == _stored(change.before) for change in plan.changes)
    return memories and all(texts.get(text.name) == text.before for text in plan.texts)


def _stored(entry: MemoryEntry | None) -> object:
    """The part of a memory that is compared: everything but its last recall."""
    return None if entry is None else entry_to_json(entry)
