"""Plans: what the agent intends, beside what it remembers of the day."""

from __future__ import annotations

from datetime import datetime

from ..core.entry import Tier
from ..core.times import moment_given
from ..operations import day
from ..operations.day import PlanNow
from .context import Part


class Plans(Part):
    """What the agent intends to do today."""

    def plan_now(self, at: datetime | None = None) -> PlanNow:
        """What is being done, what is next, and what was missed of today's plan; of the routine where there is none.

        What is over counts as done where a memory of its time names its place or a word of what was planned, and as
        missed where none does. Changes nothing.

        Args:
            at: the world's time, aware of its zone; its clock if not given.

        Raises:
            InvalidParameter: the time has no zone.
        """
        context = self.context
        routine = context.personality.routine if context.personality else []
        moment = context.clock() if at is None else moment_given("'at'", at)
        return day.stand(moment, [*context.entries(Tier.STM), *context.entries(Tier.LTM)], routine)
