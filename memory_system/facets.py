"""Facets: which memories a query may find at all, by kind, tag, time, importance and words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from .errors import InvalidParameter, shown
from .kinds import Kind
from .scoring import in_range
from .table import KINDS, Table
from .times import time_given

_MOST = 100
_MOST_WITHOUT = 10_000
_MAX_CONTAINS = 1000


@dataclass(frozen=True)
class Facets:
    """What a memory must have to be found; whatever is left empty admits every memory.

    Args:
        kinds: one of these kinds.
        tags: one of these tags.
        since: it happened at this time or later; a timeless memory did not.
        until: it happened before this time.
        min_importance: its importance is this or more, 0 to 1; an unrated memory has none.
        max_importance: its importance is this or less, 0 to 1.
        contains: its text contains this, whatever the case of the letters.
        without: it is none of these, by id: at most 10,000.

    Raises:
        InvalidParameter: one is not as described.
    """

    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    min_importance: float | None = None
    max_importance: float | None = None
    contains: str = ""
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "kinds", tuple(Kind(kind) for kind in _listed("kinds", self.kinds)))
        except ValueError as error:
            raise InvalidParameter(f"'kinds': {error}; there are {', '.join(Kind)}.") from error
        object.__setattr__(self, "tags", tuple(_listed("tags", self.tags)))
        object.__setattr__(self, "without", tuple(_listed("without", self.without, _MOST_WITHOUT)))
        for name in ("since", "until"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, time_given(f"'{name}'", value))
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise InvalidParameter("'since' must be earlier than 'until'.")
        for name in ("min_importance", "max_importance"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, in_range(f"'{name}'", value, 0, 1))
        if not isinstance(self.contains, str) or len(self.contains) > _MAX_CONTAINS:
            raise InvalidParameter(f"'contains' must be a text of at most {_MAX_CONTAINS:,} characters.")

    def __bool__(self) -> bool:
        return self != _EVERYTHING

    def admit(self, table: Table) -> NDArray[np.bool_]:
        """Which rows of a table may be found, shape (n,)."""
        columns = table.columns.used(len(table))
        admitted = np.ones(len(table), np.bool_)
        if self.kinds:
            admitted &= np.isin(columns["kind"], [KINDS.index(kind) for kind in self.kinds])
        if self.tags:
            admitted &= self._tagged(table)
        with np.errstate(invalid="ignore"):  # NaN = timeless or unrated, which no bound admits
            if self.since is not None:
                admitted &= columns["timestamp"] >= self.since.timestamp()
            if self.until is not None:
                admitted &= columns["timestamp"] < self.until.timestamp()
            if self.min_importance is not None:
                admitted &= columns["importance"] >= self.min_importance
            if self.max_importance is not None:
                admitted &= columns["importance"] <= self.max_importance
        for entry_id in self.without:
            if (held := table.row(entry_id)) is not None:
                admitted[held] = False
        if self.contains:
            sought = self.contains.casefold()
            for row in np.flatnonzero(admitted).tolist():
                admitted[row] = sought in table.entries.document(row).casefold()
        return admitted

    def _tagged(self, table: Table) -> NDArray[np.bool_]:
        wanted = set(self.tags)
        rows = [table.row(entry_id) for entry_id, tags in table.tags.items() if not wanted.isdisjoint(tags)]
        tagged = np.zeros(len(table), np.bool_)
        tagged[np.array(rows, np.intp)] = True
        return tagged


def _listed(name: str, value: object, most: int = _MOST) -> list[str]:
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, Iterable):
        raise InvalidParameter(f"'{name}' must be a list of texts, not {shown(value)}.")
    listed = list(value)
    if len(listed) > most or not all(isinstance(one, str) for one in listed):
        raise InvalidParameter(f"'{name}' must be a list of at most {most:,} texts.")
    return listed


_EVERYTHING = Facets()
