"""Query: a question to memory, with its parameters.

Facets: which memories a query may find at all, by kind, tag, time, importance and words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ..core.change_set import is_text
from ..core.entry import Tier
from ..core.kinds import Kind, Source
from ..core.presets import PRESETS, Preset
from ..core.scoring import Scoring, in_range, whole
from ..core.settings import AgentSettings
from ..core.times import time_given
from ..errors import InvalidParameter, did_you_mean, shown
from .table import KINDS, Table

_MOST = 100
_MOST_WITHOUT = 10_000
_MAX_CONTAINS = 1000
_PLANNED, _PLAN = "plan", KINDS.index(Kind.PLAN)
"""The tag of plans, and the number of their kind."""


@dataclass(frozen=True)
class Facets:
    """The conditions for a memory to be found; an empty one admits every memory.

    Args:
        kinds: one of these kinds.
        tags: one of these tags.
        since: it happened at this time or later; a timeless memory did not.
        until: it happened before this time.
        min_importance: its importance is this or more, 0 to 1; an unrated memory has none.
        max_importance: its importance is this or less, 0 to 1.
        contains: its text contains this, in upper or lower case.
        without: it is not one of these, by id: at most 10,000.
        sources: the agent came to know of it in one of these ways.
        people: one of these is in it, in upper or lower case.
        places: it happened at one of these, or, if the world knows the places, inside one of them; in upper or
            lower case.

    Raises:
        InvalidParameter: one is not as described.
    """

    kinds: tuple[Kind | str, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    min_importance: float | None = None
    max_importance: float | None = None
    contains: str = ""
    without: tuple[str, ...] = ()
    sources: tuple[Source | str, ...] = ()
    people: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, words in (("kinds", Kind), ("sources", Source)):
            try:
                object.__setattr__(self, name, tuple(words(word) for word in _listed(name, getattr(self, name))))
            except ValueError as error:
                raise InvalidParameter(f"'{name}': {error}; there are {', '.join(words)}.") from error
        for name, most in (("tags", _MOST), ("people", _MOST), ("places", _MOST_WITHOUT)):
            object.__setattr__(self, name, tuple(_listed(name, getattr(self, name), most)))
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
        _refuse_halves("'contains'", (self.contains,))

    def __bool__(self) -> bool:
        return self is not _EVERYTHING and self != _EVERYTHING

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
        if self.sources or self.people or self.places:
            admitted &= self._of_scene(table)
        for entry_id in self.without:
            if (number := table.row(entry_id)) is not None:
                admitted[number] = False
        if self.contains:
            sought = self.contains.casefold()
            for row in np.flatnonzero(admitted).tolist():
                admitted[row] = sought in table.entries.document(row).casefold()
        return admitted

    def _of_scene(self, table: Table) -> NDArray[np.bool_]:
        """Which rows have one of the requested sources, one of the people and one of the places."""
        people, places = ({name.casefold() for name in names} for names in (self.people, self.places))
        found = np.zeros(len(table), np.bool_)
        for entry_id, scene in table.scenes.items():
            found[table.row(entry_id)] = (
                (not self.sources or scene.source in self.sources)
                and (not people or not people.isdisjoint(person.casefold() for person in scene.people))
                and (not places or scene.place.casefold() in places)
            )
        return found

    def _tagged(self, table: Table) -> NDArray[np.bool_]:
        names = set(self.tags)
        rows = [table.row(entry_id) for entry_id, tags in table.tags.items() if not names.isdisjoint(tags)]
        tagged = np.zeros(len(table), np.bool_)
        tagged[np.array(rows, np.intp)] = True
        return tagged


def _listed(name: str, value: object, most: int = _MOST) -> list[str]:
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, Iterable):
        raise InvalidParameter(f"'{name}' must be a list of texts, not {shown(value)}.")
    listed = list(value)
    if len(listed) > most or not all(isinstance(text, str) for text in listed):
        raise InvalidParameter(f"'{name}' must be a list of at most {most:,} texts.")
    _refuse_halves(f"'{name}'", listed)
    return listed


def _refuse_halves(what: str, texts: Iterable[str]) -> None:
    """Refuse texts that cannot be written: a query is logged with all its parameters."""
    if not all(map(is_text, texts)):
        raise InvalidParameter(f"{what} contains half of a surrogate pair, which is not text.")


_EVERYTHING = Facets()  # frozen, so that every query may share it

MAX_TOP_K = 10_000
MAX_CUE = 32_000
MAX_REQUERY = 20
MAX_INSTANCES = 20
EMPTY_CUE = "The cue is empty: ask something."


def checked_cue(cue: object) -> str:
    """The cue, if it is valid.

    Raises:
        InvalidParameter: it is not a text, is blank, or is longer than 32,000 characters.
    """
    if not isinstance(cue, str | None):
        raise InvalidParameter(f"The cue must be a text, not {shown(cue)}.")
    if not (cue and cue.strip()):
        raise InvalidParameter(EMPTY_CUE)
    _refuse_halves("The cue", (cue,))
    if len(cue) > MAX_CUE:
        raise InvalidParameter(f"The cue has {len(cue):,} characters; at most {MAX_CUE:,} are allowed.")
    return cue


def static_seats(top_k: int, share: float) -> int:
    """How many of ``top_k`` seats static memory may take while others wait, given its share."""
    return math.ceil(top_k * share - 1e-9)


_CLASSIC = PRESETS["classic"]
OF_SETTINGS = ("top_k", "threshold", "static_threshold", "static_share", "scoring")
"""The parameters of a query that default to the agent's settings."""


@dataclass(frozen=True)
class Query:
    """A question to memory, with its parameters.

    Args:
        cue: the prompt that memory is queried with, 1 to 32,000 characters.
        now: the world's time, timezone-aware.
        top_k: most memories to recall, 0 to 10,000.
        threshold: a memory of STM or LTM is recalled if its confidence, or its score, is above this, 0 to 30.
        static_threshold: the same for static memory, 0 to 1.
        static_share: the share of ``top_k`` that static memory may take while others wait, 0 to 1.
        scoring: weights, decay and measure of relevancy.
        facets: which memories may be found at all.
        requery: how many of the best hits become cues of a second round for free seats, 0 to 20.
        instances: examples of what the cue stands for, such as “kayaking” for “hobbies”, at most 20: they are searched
            too, and their finds compete.
        unexpanded: why a language model that was asked for instances gave none; empty if it was not asked, or did.
        addressed: whether somebody says the cue to the character: “you” is then the character, and “I” is not.

    Raises:
        InvalidParameter: one is out of its range.
    """

    cue: str
    now: datetime
    top_k: int = AgentSettings.top_k
    threshold: float = _CLASSIC.threshold
    static_threshold: float = _CLASSIC.static_threshold
    static_share: float = AgentSettings.static_share
    scoring: Scoring = _CLASSIC.scoring
    facets: Facets = _EVERYTHING
    requery: int = 0
    instances: tuple[str, ...] = ()
    unexpanded: str = ""
    addressed: bool = False

    def __post_init__(self) -> None:
        checked_cue(self.cue)
        if not isinstance(self.instances, tuple) or self.instances:
            object.__setattr__(self, "instances", tuple(_listed("instances", self.instances, MAX_INSTANCES)))
            for instance in self.instances:
                checked_cue(instance)
        plain = {  # numpy's numbers are numbers, but the log cannot write them
            "top_k": whole("top_k", self.top_k, 0, MAX_TOP_K),
            "requery": whole("requery", self.requery, 0, MAX_REQUERY),
            "threshold": in_range("The threshold", self.threshold, 0, 30),
            "static_threshold": in_range("The static threshold", self.static_threshold, 0, 1),
            "static_share": in_range("The static share", self.static_share, 0, 1),
        }
        for name, number in plain.items():
            object.__setattr__(self, name, number)
        if not isinstance(self.scoring, Scoring):
            raise InvalidParameter("'scoring' must be a Scoring(Weights(...), decay).")
        if not isinstance(self.addressed, bool):
            raise InvalidParameter("'addressed' must be true or false.")
        if not isinstance(self.facets, Facets):
            raise InvalidParameter("'facets' must be Facets(kinds=..., tags=..., since=..., contains=...).")
        if not isinstance(self.now, datetime) or self.now.utcoffset() is None:
            raise InvalidParameter("'now' must be a time with a zone, like 2026-03-27T18:00:00+00:00.")

    def by(self, preset: Preset) -> Query:
        """The same question, scored by a preset and with its thresholds."""
        return replace(
            self, scoring=preset.scoring, threshold=preset.threshold, static_threshold=preset.static_threshold
        )

    @property
    def static_seats(self) -> int:
        """How many seats static memory may take while other memories wait for one."""
        return static_seats(self.top_k, self.static_share)

    def admitted(self, table: Table) -> NDArray[np.bool_] | None:
        """Which rows of a table may be found, shape (n,); ``None`` = all of them.

        This depends on the facets. Plans of past days, in the zone of ``now``, are found only if plans are asked
        for: what was intended then is no longer to be done.
        """
        if not len(table):
            return None
        found = self.facets.admit(table) if self.facets else None
        if Kind.PLAN in self.facets.kinds or _PLANNED in self.facets.tags:
            return found
        plans: NDArray[np.bool_] = table.kinds == _PLAN
        if not plans.any():
            return found
        today = self.now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
        stand: NDArray[np.bool_] = ~(plans & (table.happened < today))
        return stand if found is None else found & stand

    def threshold_of(self, tier: Tier) -> float:
        """The threshold that a memory of this tier has to exceed."""
        return self.static_threshold if tier is Tier.STATIC else self.threshold


class QueryOptions(TypedDict, total=False):
    """The parameters of a query by name, as in ``Query``; ``None`` is the same as not given."""

    now: datetime | None
    static_threshold: float | None
    static_share: float | None
    scoring: Scoring | None
    facets: Facets | None
    requery: int
    instances: Sequence[str]
    addressed: bool
    """Whether somebody says the cue to the character: "you" is then the character, and "I" is not."""
    expand: int
    """How many instances of the cue to ask the language model for, 0 to 20."""


def query_of(cue: str, settings: AgentSettings, now: datetime, given: Mapping[str, Any]) -> Query:
    """A query with the given parameters, and an agent's settings for the rest.

    Raises:
        InvalidParameter: a parameter is out of its range.
    """
    if unknown := [name for name in given if name not in (*OF_SETTINGS, *QueryOptions.__annotations__)]:
        there = sorted({*OF_SETTINGS, *QueryOptions.__annotations__})
        raise InvalidParameter(
            f"There is no option {shown(unknown[0])} of a query; there are {', '.join(there)}."
            f"{did_you_mean(unknown[0], there)}"
        )
    own = {name: getattr(settings, name) for name in OF_SETTINGS}
    return Query(cue, now, **(own | {name: value for name, value in given.items() if value is not None}))
