"""Tables kept beside the store: which of them can be used, and when they are written anew.

A small agent is opened from its journal at once. A large one is opened from its kept tables, which show some revision
of its journal; what came later is taken in from there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

from .entry import Tier
from .table import Table
from .table_file import Place, load, save

FROM_ROWS = 2000
"""A tier with fewer rows is read from the journal: that is as fast."""
_MOST_BEHIND = 500
"""Revisions that are taken in one by one; a table further behind is made anew."""
_REWRITE = 0.02
"""The share of rows by which a table may have changed before it is written again."""


class KeptTables:
    """The table files in one agent's folder. All that they hold is derived; losing them costs time only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._versions: dict[Tier, tuple[Table, int]] = {}
        self._places: dict[Tier, Place] = {}

    def open(self, place: Place, change_set_at: Callable[[int], str]) -> dict[Tier, Table]:
        """The tables that show this history, up to the revision of each (see ``shown``).

        Args:
            place: where the journal is.
            change_set_at: the id of a revision's change set.
        """
        found: dict[Tier, Table] = {}
        for tier in Tier:
            loaded = load(self._path(tier))
            if loaded is None:
                continue
            table, shown = loaded
            behind = place.revision - shown.revision
            ours = (shown.embedder, shown.tier) == (place.embedder, tier.value) and shown.access <= place.access
            if ours and 0 <= behind <= _MOST_BEHIND and change_set_at(shown.revision) == shown.change_set:
                found[tier] = table
                self._versions[tier], self._places[tier] = (table, table.version), shown
        return found

    def shown(self) -> tuple[int, int]:
        """The earliest revision and the earliest access that the opened tables show."""
        places = self._places.values()
        return min(place.revision for place in places), min(place.access for place in places)

    def keep(self, tables: Mapping[Tier, Table], place: Place) -> None:
        """Write what has changed much since it was written.

        Raises:
            OSError: a file cannot be written; the next opening takes longer.
        """
        for tier, table in tables.items():
            if len(table) < FROM_ROWS:
                self._path(tier).unlink(missing_ok=True)
            elif self._changed_much(tier, table):
                save(self._path(tier), table, dataclasses.replace(place, tier=tier.value))

    def drop(self) -> None:
        """Delete the files; they are written anew when the agent is closed.

        Raises:
            OSError: one cannot be deleted.
        """
        self._versions.clear()
        self._places.clear()
        for path in self._folder.glob("*.table*"):
            path.unlink(missing_ok=True)

    def _changed_much(self, tier: Tier, table: Table) -> bool:
        opened, version = self._versions.get(tier, (None, 0))
        return opened is not table or table.version - version > _REWRITE * len(table)

    def _path(self, tier: Tier) -> Path:
        return self._folder / f"{tier.value}.table"
