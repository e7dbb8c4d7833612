"""The cast of a world together: two compared, who trusts whom, who is where, and a map of memories."""

from .beside import Answer, Beside, Recollection
from .bonds import Bond
from .charting import Chart, Cluster, Point, chart
from .meetings import SAME_EVENT, Life, meetings
from .whereabouts import By, Whereabouts

__all__ = [
    "SAME_EVENT",
    "Answer",
    "Beside",
    "Bond",
    "By",
    "Chart",
    "Cluster",
    "Life",
    "Point",
    "Recollection",
    "Whereabouts",
    "chart",
    "meetings",
]
