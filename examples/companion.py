"""A companion that remembers you next time: run `python examples/companion.py Jo`, then type; an empty line ends it.

Its memory is kept in a folder of your own, `~/.memory-companion` or the second argument; look at it with
`memory-system run --world ~/.memory-companion`. With a language model (OPENAI_BASE_URL) it talks freely; without one,
plain rules note what you tell it and quote what they find.
"""

import sys
from pathlib import Path

from memory_system import Settings, World
from memory_system.conversation import Conversation, people

ROBIN = '{"identity": {"name": "Robin", "description": "Robin is a patient companion who listens."}}'

you = sys.argv[1] if len(sys.argv) > 1 else "Jo"
home = Path(sys.argv[2]) if len(sys.argv) > 2 else Path.home() / ".memory-companion"
with World(Settings(home=home)) as world:
    robin = world.agent("robin") if "robin" in world else world.create_agent("robin", ROBIN)
    known = next((person for person in people(robin) if person.name == you), None)
    told = "; ".join(known.text.splitlines()) if known else ""
    print(f"Robin: Hello {you}. " + (f"I remember: {told}" if told else "We have not met yet."))
    talk = Conversation.begin(robin, human=you)
    for line in sys.stdin:
        if not line.strip():
            break
        print(f"Robin: {talk.step(line.strip()).answer}")
    if talk.messages():
        talk.synopsis()  # what remains of the talk; what Robin learned about you is kept in any case
