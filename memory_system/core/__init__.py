"""The values and small rules that everything else is built on. Nothing here reads a store or asks a model."""

from . import shipped
from .authors import BY_ITSELF
from .change_set import (
    CONVERSATION,
    CORE,
    HELD,
    OF_A_CONVERSATION,
    PERSON,
    TextChange,
    counted,
    entry_from_json,
    entry_to_json,
    text_words,
    together,
)
from .entry import DECAYING, LIVED
from .findings import Finding, State
from .known import EVERYBODY, WORLD_AGENT, Fact, Group, badge, known_to
from .languages import NAMES as LANGUAGES
from .memory import Page
from .names import checked_name
from .saved_interviews import Answered, Sitting
from .settings import DEFAULT_WORLD
from .times import ago, city, in_zone, parse_time, real_clock, stamp, zone_named, zone_shown

__all__ = [
    "BY_ITSELF",
    "CONVERSATION",
    "CORE",
    "DECAYING",
    "DEFAULT_WORLD",
    "EVERYBODY",
    "HELD",
    "LANGUAGES",
    "LIVED",
    "OF_A_CONVERSATION",
    "PERSON",
    "WORLD_AGENT",
    "Answered",
    "Fact",
    "Finding",
    "Group",
    "Page",
    "Sitting",
    "State",
    "TextChange",
    "ago",
    "badge",
    "checked_name",
    "city",
    "counted",
    "entry_from_json",
    "entry_to_json",
    "in_zone",
    "known_to",
    "parse_time",
    "real_clock",
    "shipped",
    "stamp",
    "text_words",
    "together",
    "zone_named",
    "zone_shown",
]
