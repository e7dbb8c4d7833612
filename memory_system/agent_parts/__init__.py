"""What an agent can do, by theme: each part is a small object over the ``Context`` that they share."""

from .cues import OWN_SETTINGS, CueResult, Precision
from .importing import as_address, preview_of
from .rating import Rerated
from .replay import Difference, Relived, Shift

__all__ = [
    "OWN_SETTINGS",
    "CueResult",
    "Difference",
    "Precision",
    "Relived",
    "Rerated",
    "Shift",
    "as_address",
    "preview_of",
]
