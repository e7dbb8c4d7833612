"""What an agent can do, by theme: each part is a small object over the ``Context`` that they share."""

from .cues import OWN_SETTINGS, CueResult, Precision
from .rating import Rerated
from .replay import Difference, Relived, Shift

__all__ = ["OWN_SETTINGS", "CueResult", "Difference", "Precision", "Relived", "Rerated", "Shift"]
