"""A village in the shape of Smallville (Park et al. 2023): three characters live two days and talk when they meet.

Run it with `python examples/village.py`. Only events are scripted: who says what comes from recall.
"""

import json
import tempfile
from datetime import datetime, timedelta
from itertools import permutations

from memory_system import AgentMemory, Settings, Tier, World

MORNING = datetime.fromisoformat("2023-02-13T07:00:00+00:00")
CAFE, PARK, LIBRARY = "Hobbs Cafe", "Johnson Park", "Oak Hill Library"
PEOPLE = {  # what each asks, and where each is: in the morning, at noon, in the evening
    "Isabella Rodriguez": ("Has anybody seen an animal?", "runs the cafe", (CAFE, CAFE, PARK)),
    "Klaus Mueller": ("What have you decided to do this week?", "writes a thesis", (LIBRARY, CAFE, LIBRARY)),
    "Maria Lopez": ("Is there a party or a feast in the village?", "studies physics", (LIBRARY, PARK, LIBRARY)),
}
HOURS = ("08:00", "13:00", "19:00", "22:00")
HAPPENS = {  # what somebody sees or decides: the day, the part of the day, who
    (0, 0): ("Isabella Rodriguez", "I decided to give a Valentine's Day party at Hobbs Cafe on Tuesday at five."),
    (0, 2): ("Maria Lopez", "A fox sat on the wall of Johnson Park."),
    (1, 0): ("Klaus Mueller", "A heron stood in the pond behind the library."),
}


def personality(name: str) -> str:
    """What never fades: who they are, and what they do every day."""
    _, does, places = PEOPLE[name]
    hours = zip(HOURS, HOURS[1:], places, strict=False)
    routine = [{"time": start, "until": end, "activity": does, "place": place} for start, end, place in hours]
    return json.dumps({"identity": {"name": name, "description": f"{name} {does}."}, "routine": routine})


def talk(asking: AgentMemory, answering: AgentMemory) -> None:
    """One asks, the other says what it recalls, and the one who asked remembers the answer."""
    question = PEOPLE[asking.display_name][0]
    found = answering.query_memory(question, top_k=1)
    said = found.hits[0].entry.document if found.hits else "I cannot tell you anything about that."
    print(f'  {asking.display_name}: "{question}"\n  {answering.display_name}: "{said}"')
    print("    why:", found.hits[0].because if found.hits else "nothing it remembers answers that")
    news = said.rpartition(" told me: ")[2]
    if found.hits and not any(news in one.document for one in asking.entries(Tier.STM)):
        asking.add_short_term({"document": f"{answering.display_name} told me: {said}"})


with tempfile.TemporaryDirectory() as home, World(Settings(home=home)) as world:
    people = {name: world.create_agent(name.split()[0].lower(), personality(name)) for name in PEOPLE}
    for day, part in ((day, part) for day in range(2) for part in range(3)):
        world.stand_at(MORNING + timedelta(days=day, hours=1 + 5 * part))
        print(f"\n{world.clock():%A %H:%M}")
        if (day, part) in HAPPENS:
            name, text = HAPPENS[day, part]
            people[name].add_short_term({"document": text})
        for one, other in permutations(PEOPLE, 2):
            if PEOPLE[one][2][part] == PEOPLE[other][2][part]:
                print(f"  ({one} meets {other} at {PEOPLE[one][2][part]}.)")
                talk(people[one], people[other])
