"""Plans: what the agent intends to do, compared with what it remembers of the day."""

from __future__ import annotations

from datetime import datetime

from ..core.change_set import ChangeSet
from ..core.entry import MemoryIds, Tier
from ..core.times import moment_given
from ..operations import day, planning
from ..operations.context import Progress, no_progress
from ..operations.day import PlanNow
from ..operations.edit import ids_of
from .context import Part
from .retrieval import ground


class Plans(Part):
    """What the agent intends to do today."""

    def plan_from_memory(
        self,
        now: datetime | None = None,
        *,
        because: MemoryIds = (),
        preview: bool = False,
        progress: Progress = no_progress,
    ) -> ChangeSet:
        """Plan the rest of the day in timed actions, kept in LTM; the old plan of that day is replaced.

        Args:
            now: the world's time, aware of its zone; its clock if not given.
            because: memories, or their ids, that the plan is to take into account, in addition to what is recalled.
            preview: whether to plan only.
            progress: called with the progress so far.

        Raises:
            ModelError: the language model gave no usable answer. Nothing was changed.
            EntryNotFound: one of the memories does not exist.
        """
        context = self.context
        heeded = [context.entry(entry_id) for entry_id in ids_of(because)]
        routine = context.personality.routine if context.personality else []
        return context.done(planning.plan(ground(context, now, progress), routine, heeded), preview)

    def plan_now(self, at: datetime | None = None) -> PlanNow:
        """What is being done, what is next, and what was missed of today's plan, or of the routine if there is no plan.

        What is over counts as done if a memory of its time names its place or a word of the plan, and otherwise as
        missed. Changes nothing.

        Args:
            at: the world's time, aware of its zone; its clock if not given.

        Raises:
            InvalidParameter: the time has no zone.
        """
        context = self.context
        routine = context.personality.routine if context.personality else []
        moment = context.clock() if at is None else moment_given("'at'", at)
        return day.stand(moment, [*context.entries(Tier.STM), *context.entries(Tier.LTM)], routine)
