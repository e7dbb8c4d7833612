"""A text adventure in which the innkeeper remembers what you do in front of him, and answers from his memory.

Run it with `python examples/adventure.py`, and type: go cellar, take lamp, ask who has the lamp, look, quit.
"""

import sys
import tempfile

from memory_system import Settings, World

ROOMS = {"taproom": "A low room with a fire. Oswin wipes the counter.", "cellar": "Barrels, and a brass lamp."}
INNKEEPER = '{"identity": {"name": "Oswin", "profession": "innkeeper"}, "facts": ["The cellar door sticks."]}'


def play(world: World) -> None:
    """Read commands until the player quits."""
    oswin = world.create_agent("oswin", INNKEEPER)
    room, lying, carried = "taproom", {"lamp": "cellar"}, set[str]()
    print(ROOMS[room])
    for line in sys.stdin:
        verb, _, rest = line.strip().partition(" ")
        seen = ""
        if verb == "quit":
            return
        if verb == "look":
            print(ROOMS[room], f"You carry: {', '.join(sorted(carried)) or 'nothing'}.")
        elif verb == "go" and rest in ROOMS:
            room, seen = rest, f"The traveller went to the {rest}."
            print(ROOMS[room])
        elif verb == "take" and lying.get(rest) == room:
            carried.add(rest)
            print(f"You have the {rest}.")
            del lying[rest]
        elif verb == "show" and rest in carried and room == "taproom":
            seen = f"The traveller has the {rest} from the cellar, and showed it to me."
            print(f"Oswin looks at the {rest} for a long time.")
        elif verb == "ask" and room == "taproom":
            found = oswin.query_memory(rest, top_k=1)
            print(f"Oswin: {found.hits[0].entry.document if found.hits else 'I know nothing of that.'}")
        else:
            print("Nothing happens. You can: look, go, take, show, ask, quit.")
        if seen:  # he remembers what happens in front of him
            oswin.add_short_term({"document": seen})


with tempfile.TemporaryDirectory() as home, World(Settings(home=home)) as world:
    play(world)
