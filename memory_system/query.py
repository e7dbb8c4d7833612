"""Query: what memory is asked, and with which parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime

from .entry import Tier
from .errors import InvalidParameter
from .facets import Facets
from .presets import Preset
from .scoring import Scoring, in_range, whole

MAX_TOP_K = 10_000
MAX_CUE = 32_000
MAX_REQUERY = 20
EMPTY_CUE = "The cue is empty: ask something."


def checked_cue(cue: object) -> str:
    """The cue, if memory can be asked it.

    Raises:
        InvalidParameter: it is no text, blank, or longer than 32,000 characters.
    """
    if not isinstance(cue, str) or not cue.strip():
        raise InvalidParameter(EMPTY_CUE)
    try:
        cue.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidParameter("The cue holds half of a surrogate pair, which is not text.") from error
    if len(cue) > MAX_CUE:
        raise InvalidParameter(f"The cue has {len(cue):,} characters; at most {MAX_CUE:,} are taken.")
    return cue


_SCORING, _FACETS = Scoring(), Facets()  # frozen, so that every query may share them


@dataclass(frozen=True)
class Query:
    """What is asked, and with which parameters.

    Args:
        cue: the prompt that memory is queried with, 1 to 32,000 characters.
        now: the world's time, aware of its zone.
        top_k: most memories to recall, 0 to 10,000.
        threshold: a memory of STM or LTM is recalled if its score is above this, 0 to 30.
        static_threshold: the same for static memory, 0 to 1.
        static_share: the share of ``top_k`` that static memory may take while others wait, 0 to 1.
        scoring: weights, decay and measure of relevancy.
        facets: which memories may be found at all.
        requery: how many of the best hits become cues of a second round for the seats left free, 0 to 20.

    Raises:
        InvalidParameter: one is out of its range.
    """

    cue: str
    now: datetime
    top_k: int = 5
    threshold: float = 0.35
    static_threshold: float = 0.4
    static_share: float = 0.4
    scoring: Scoring = _SCORING
    facets: Facets = _FACETS
    requery: int = 0

    def __post_init__(self) -> None:
        checked_cue(self.cue)
        whole("top_k", self.top_k, 0, MAX_TOP_K)
        whole("requery", self.requery, 0, MAX_REQUERY)
        in_range("The threshold", self.threshold, 0, 30)
        in_range("The static threshold", self.static_threshold, 0, 1)
        in_range("The static share", self.static_share, 0, 1)
        if not isinstance(self.scoring, Scoring):
            raise InvalidParameter("'scoring' must be a Scoring(Weights(...), decay).")
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
        return math.ceil(self.top_k * self.static_share - 1e-9)

    def threshold_of(self, tier: Tier) -> float:
        """The threshold that a memory of this tier has to exceed."""
        return self.static_threshold if tier is Tier.STATIC else self.threshold
