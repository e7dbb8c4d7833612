"""Cast: two characters side by side, trust as a graph, and the places with who is there."""

from dashboard import session
from dashboard.components import bulk, tabs, widgets
from dashboard.views.cast import beside, places, trust
from memory_system import MemorySystemError

agent = session.agent()
widgets.heading("Cast", "The characters side by side. Looking changes nothing.")
bulk.last()
SHOWN = {"beside": ("Side by side", beside.show), "trust": ("Trust", trust.show),
         "places": ("Places", places.show)}  # fmt: skip
view = tabs.segments("Shown as", {name: label for name, (label, _) in SHOWN.items()}, "show")
try:
    SHOWN[view][1](agent)
except MemorySystemError as error:
    widgets.problem(error)
