"""A world: the agents that share a folder and a clock, who may see them, and the branches they rehearse on."""

from ..store.put_off import Matter
from . import swap
from .advancing import Advanced
from .auth import Door, Role, is_this_machine, refuse_unsafe
from .bringing import create_from_file
from .due import Step
from .folders import Binned
from .inbox import Decision, Inbox, morning_after, sorted_out, suspected
from .places import Located
from .prompt_samples import sample
from .rerating import Rerating
from .together import Together
from .trail import Hop
from .viewer import VIEWING, for_role
from .world import TOKENS

__all__ = [
    "TOKENS",
    "VIEWING",
    "Advanced",
    "Binned",
    "Decision",
    "Door",
    "Hop",
    "Inbox",
    "Located",
    "Matter",
    "Rerating",
    "Role",
    "Step",
    "Together",
    "create_from_file",
    "for_role",
    "is_this_machine",
    "morning_after",
    "refuse_unsafe",
    "sample",
    "sorted_out",
    "suspected",
    "swap",
]
