"""What an agent can do, by theme: each part is one class that ``AgentMemory`` is put together from."""

from .rater import Rerated
from .relived import Relived
from .shifts import Difference, Shift
from .tester import OWN_SETTINGS, CueResult, Precision

__all__ = ["OWN_SETTINGS", "CueResult", "Difference", "Precision", "Relived", "Rerated", "Shift"]
