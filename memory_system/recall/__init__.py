"""Recall: from a cue to the memories that answer it, and for all others the reason why they do not."""

from .cues import judgment_of
from .forecast import Forecast
from .rank import Explanation, Recall
from .versus import MOST_JUDGED, Versus, deciding, versus
from .why import Lever, Way

__all__ = [
    "MOST_JUDGED",
    "Explanation",
    "Forecast",
    "Lever",
    "Recall",
    "Versus",
    "Way",
    "deciding",
    "judgment_of",
    "versus",
]
