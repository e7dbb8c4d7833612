"""Cast: two characters side by side, trust as a graph, and the places with who is there."""

from dashboard import session, words
from dashboard.components import bulk, tabs, widgets
from dashboard.views.cast import beside, places, trust
from memory_system import MemorySystemError

agent = session.agent()
widgets.heading("Cast", "The characters beside each other. Looking touches nothing.")
bulk.last()
SHOWN = {"beside": (words.SIDE_BY_SIDE, beside.show), "trust": (words.TRUST_GRAPH, trust.show),
         "places": (words.PLACES_NOW, places.show)}  # fmt: skip
view = tabs.segments(words.SHOWN_AS, {name: label for name, (label, _) in SHOWN.items()}, "show")
try:
    SHOWN[view][1](agent)
except MemorySystemError as error:
    widgets.problem(error)
