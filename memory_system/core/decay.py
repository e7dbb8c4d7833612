"""How recency falls with the hours since the last recall: three forms, each from the half-life of the decay k.

With h the hours and H = log 0.5 / log k the half-life; whatever was never recalled has 0.5 left at H in each form:

    exponential   k^h
    power law     (1 + 3 h / H)^-0.5
    spaced        2^(-h / (H + learnt)), learnt = the hours between the event and its last recall, at most 99 H

The exponential is that of Park et al. 2023 (arXiv 2304.03442). The power law forgets fast at first and ever more
slowly, as people do (Wixted and Ebbesen 1991, Psychological Science 2), with the exponent 0.5 of Anderson and Schooler
1991 (Psychological Science 2). Spaced repetition has the curve 2^(-h / half-life) of Settles and Meeder 2016 (ACL
2016); what is recalled is forgotten more slowly afterwards (Ebbinghaus 1885, on savings and spaced practice). This
system's own choices are that each recall adds the time since the previous one to the half-life, and that a hundred
half-lives are the most: spaced recalls strengthen a memory, many within an hour do not, and the sum of these times is
the time from the event to its last recall.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_LEARNT = 99.0
"""How many half-lives recalls can add."""


class DecayForm(StrEnum):
    """The shape of the curve of recency."""

    EXPONENTIAL = "exponential"
    POWER = "power"
    SPACED = "spaced"


@dataclass(frozen=True)
class Curve:
    """A decay k per hour, 0 < k < 1, in one of its forms."""

    decay: float
    form: DecayForm = DecayForm.EXPONENTIAL

    @property
    def half_life(self) -> float:
        """Hours after which 0.5 is left of what was never recalled."""
        return math.log(0.5) / math.log(self.decay)

    def left(self, seconds: Floats, learnt: Floats) -> Floats:
        """What is left of recency, shape (n,), 0 to 1; it never grows with the seconds.

        Args:
            seconds: since the last access, shape (n,), 0 or more; NaN stays NaN.
            learnt: seconds between the event and its last access, shape (n,), 0 or more; used only by ``spaced``.
        """
        if self.form is DecayForm.EXPONENTIAL:
            return np.exp(math.log(self.decay) * seconds / 3600.0)
        half_life = 3600.0 * self.half_life
        if self.form is DecayForm.POWER:
            return 1.0 / np.sqrt(1.0 + seconds * (3.0 / half_life))
        return np.exp2(-seconds / (half_life + np.minimum(learnt, MOST_LEARNT * half_life)))

    def hours_until(self, share: float, learnt: float) -> float:
        """Hours until a share of recency is left, 0 < share <= 1; infinite where the number is too large.

        ``learnt`` is in seconds, as for ``left``.
        """
        if self.form is DecayForm.EXPONENTIAL:
            return math.log(share) / math.log(self.decay)
        if self.form is DecayForm.POWER:
            return self.half_life * (1.0 / share * (1.0 / share) - 1.0) / 3.0
        return -math.log2(share) * (self.half_life + min(learnt / 3600.0, MOST_LEARNT * self.half_life))
