"""Presets: weights, decay and measure of relevancy by name, each with matching thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .scoring import Measure, Passing, Scoring, Seats, Weights


@dataclass(frozen=True)
class Preset:
    """One way of scoring, with thresholds that suit it and where it comes from.

    A threshold depends on what is compared with it: unrelated texts have a similarity of about 1/3, but almost 0 by the
    hybrid measure; a confidence is a probability.
    """

    scoring: Scoring
    threshold: float
    static_threshold: float
    source: str


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "classic": Preset(
            Scoring(),
            0.35,
            0.4,
            "Weights .25, .25 and 1 with relevancy 1 / (1 + distance), as the memory system was first written.",
        ),
        "paper": Preset(
            Scoring(Weights(1.0, 1.0, 1.0), decay=0.995, normalise=True),
            1.5,
            0.4,
            "Park et al. 2023 (arXiv 2304.03442), section 4.1: equal weights, each part scaled by its min and max.",
        ),
        "balanced": Preset(
            Scoring(
                Weights(0.02, 0.05, 1.0),
                decay=0.999,
                measure=Measure.HYBRID,
                seats=Seats.RANKING,
                passing=Passing.CONFIDENCE,
            ),
            0.4,
            0.4,
            "Hybrid relevancy; recency and importance decide between equals. Tuned on LoCoMo, checked on Smallville.",
        ),
    }
)

DEFAULT = PRESETS["balanced"]
"""How an agent recalls until somebody chooses another way (see benchmarks/relevancy.md)."""
