"""What if: the tables as they would be if one memory had another rating. The tables themselves do not change."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass

from ..core.entry import Tier
from ..core.scoring import in_range
from .table import Columns, Table


@dataclass(frozen=True)
class WhatIf:
    """One memory with another importance.

    Args:
        entry_id: which memory; an unknown one changes nothing.
        importance: 0 to 1, a rating of 1 to 10 divided by 10.

    Raises:
        InvalidParameter: the importance is out of its range.
    """

    entry_id: str
    importance: float

    def __post_init__(self) -> None:
        in_range("The importance", self.importance, 0, 1)

    def over(self, tables: Mapping[Tier, Table]) -> dict[Tier, Table]:
        """The tables with that importance; this costs a copy of one column, and nothing is changed."""
        return {tier: self._over(table) for tier, table in tables.items()}

    def _over(self, table: Table) -> Table:
        row = table.row(self.entry_id)
        if row is None:
            return table
        used = table.columns.used(len(table))
        for name in ("importance", "importance32"):
            used[name] = used[name].copy()
            used[name][row] = self.importance
        other = copy.copy(table)
        other.columns = Columns(used)
        return other
