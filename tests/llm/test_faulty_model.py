"""Every operation on every way in which a language model fails: a clear error or a good answer, and nothing lost."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path

import httpx
import pytest

from memory_system import AgentMemory, ChangeSet, Settings, Tier, World
from memory_system.conversation import Conversation, Duet, Interview, whisper
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.errors import ModelError
from memory_system.llm.openai.model import OpenAIModel
from tests.command_line import CommandLine
from tests.conftest import NOW, PERSONALITY
from tests.fake_server import KEY, FakeServer, error
from tests.faults_of_models import FAULTS, LONG, Fault
from tests.served import served_api

PATIENCE = LONG / 2
"""Seconds: so long nothing may take, however busy the machine; the slow servers take twice that for one answer."""
FAILED, ANSWERED, UNRATED, DONE = "failed", "answered", "stored, unrated", "done without the model"
_numbers = count(1)


@dataclass(frozen=True)
class Stand:
    """What operations are tried on, and whatever they put out meanwhile."""

    world: World
    mira: AgentMemory
    tobias: AgentMemory
    api: httpx.Client
    told: list[str] = field(default_factory=list)

    def ask(self, model: OpenAIModel) -> None:
        """Ask this model from now on."""
        self.world.model = self.mira.model = self.tobias.model = model

    def heard(self, *said: object) -> None:
        """Keep what was put out, to look for the key in it."""
        self.told.extend(said if isinstance(said, str) else repr(said) for said in said)


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Stand]:
    """A world with two agents who remember something, and its HTTP API."""
    folder = tmp_path_factory.mktemp("faulty")
    settings = Settings(database=folder / "database", personalities=folder / "personalities", llm="offline")
    with World(settings, embedder=embedder) as world:
        world.stand_at(NOW)
        agents = [world.create_agent(name, json.dumps(PERSONALITY)) for name in ("mira", "tobias")]
        for number in range(9):
            event = {"id": f"old-{number}", "document": f"Tobias lent the key of shed {number} to Nora.", "rating": 5}
            agents[0].add_short_term({**event, "timestamp": NOW - timedelta(hours=number + 1)})
        agents[0].migrate_stm2ltm(ids=[f"old-{number}" for number in range(5, 9)])
        with served_api(world) as address, httpx.Client(base_url=address, timeout=PATIENCE, trust_env=False) as api:
            yield Stand(world, *agents, api)


# -- the operations: each tells what it ended in ---------------------------------------------------------


def stored(stand: Stand, plan: ChangeSet, *, why: str) -> str:
    """That events are stored without a rating, and that it is told why."""
    stand.heard(plan, why)
    new = [change.after for change in plan.changes if change.after is not None]
    held = [stand.mira.find(entry.id) for entry in new]
    assert held
    assert all(entry is not None and entry.tier is Tier.STM and entry.rating is None for entry in held)
    assert why.endswith((".", "?")), why
    return UNRATED


def rate(stand: Stand) -> str:
    stand.heard(stand.mira.rate("Lent Tobias the key."))
    return ANSWERED


def add(stand: Stand) -> str:
    added = stand.mira.add_short_term({"document": "Lent Tobias the key."})
    assert len(added.unrated) == 1
    return stored(stand, added.change_set, why=added.outcomes[0].why)


def batch(stand: Stand) -> str:
    added = stand.mira.add_short_term([{"document": f"Heard rumour {next(_numbers)}."} for _ in range(3)])
    assert len(added.unrated) == 3
    return stored(stand, added.change_set, why=added.outcomes[2].why)


def remember_conversation(stand: Stand) -> str:
    plan = stand.mira.remember_conversation([("Nora", f"Rumour {next(_numbers)} is true."), ("Mira", "Is it?")])
    assert not [change for change in plan.changes if change.after and "synopsis" in change.after.tags]
    return stored(stand, plan, why=plan.notes[-1])


def whispered(stand: Stand) -> str:
    plan = whisper(stand.mira, f"Rumour {next(_numbers)} is true.")
    return stored(stand, plan, why=plan.notes[0])


def event_over_http(stand: Stand) -> str:
    answer = stand.api.post("/v1/agents/mira/events", json={"events": [{"document": "Lent Tobias the key."}]})
    stand.heard(answer.text, answer.headers)
    (outcome,) = answer.json()["outcomes"]
    held = stand.mira.find(outcome["id"])
    assert held is not None
    assert held.rating is None
    assert outcome["why"].endswith((".", "?"))
    return UNRATED


def reflect(stand: Stand) -> str:
    stand.heard(stand.mira.reflect_from_recent_memory())
    return DONE


def summarise(stand: Stand) -> str:
    stand.heard(stand.mira.summarize_and_forget(2))
    return DONE


def plan(stand: Stand) -> str:
    stand.heard(stand.mira.plan_from_memory())
    return DONE


def migrate(stand: Stand) -> str:
    stand.heard(stand.mira.migrate_stm2ltm(preview=True))
    return DONE


def narrate(stand: Stand) -> str:
    hits = [entry for entry in stand.mira.entries(Tier.LTM) if entry.id.startswith("old")]
    stand.heard(stand.mira.narrate("Where are the keys?", hits))
    return DONE


def suspect(stand: Stand) -> str:
    look = stand.mira.suspicions()
    stand.heard(look)
    (note,) = [note for note in look.notes if "The language model failed" in note]
    assert note.endswith((".", "?"))
    return DONE


def interview(stand: Stand) -> str:
    pieces: list[str] = []
    step = Interview(stand.mira).step("Who has the key?", heard=pieces.append)
    stand.heard(step, "".join(pieces))
    assert step.change_set is None
    return _spoken(step.answer, step.problem)


def talk(stand: Stand) -> str:
    conversation = Conversation.begin(stand.mira)
    step = conversation.step("Who has the key?")
    stand.heard(step)
    assert conversation.messages()[0].text == "Who has the key?"
    return _spoken(step.answer, step.problem)


def duet(stand: Stand) -> str:
    said = Duet.begin(stand.tobias, stand.mira).talk(2)
    stand.heard(said)
    assert len(said) == (2 if said[0].text else 1)
    return _spoken(said[-1].text, said[-1].step.problem)


def _spoken(answer: str, problem: str) -> str:
    if answer:
        return ANSWERED
    assert problem.endswith((".", "?")), problem
    return FAILED


def post_rate(stand: Stand) -> str:
    return _posted(stand, "/rate", {"memory": "Lent Tobias the key."})


def post_plan(stand: Stand) -> str:
    return _posted(stand, "/plan", {"agent": "mira"})


def post_prompt(stand: Stand) -> str:
    return _posted(stand, "/plan", {"memory": "It is noon. Nora wants the key back by three."})


def _posted(stand: Stand, path: str, body: dict[str, str]) -> str:
    answer = stand.api.post(path, json=body)
    stand.heard(answer.text, answer.headers)
    if answer.status_code == 200:
        return ANSWERED
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["detail"].endswith((".", "?"))
    return f"{FAILED} {answer.status_code} {problem['code']}"


ASKING = (rate, reflect, summarise, plan, narrate)
"""These end in an error of the tree."""
STORING = (add, batch, remember_conversation, whispered, event_over_http)
TALKING = (interview, talk, duet)
SERVED = (post_rate, post_plan)
BESIDE = (migrate, suspect)
"""These do what they can without the model."""
OPERATIONS = (*ASKING, *STORING, *TALKING, *SERVED, *BESIDE, post_prompt)


def expected(operation: Callable[[Stand], str], fault: Fault) -> str:
    """What an operation has to end in."""
    if operation in ASKING:
        return f"{FAILED} {fault.raises.__name__}"
    if operation in STORING:
        return UNRATED
    if operation in TALKING:
        return ANSWERED if fault.speaks else FAILED
    if operation in BESIDE:
        return DONE
    if operation is post_prompt and fault.object:
        return ANSWERED
    return f"{FAILED} {fault.raises.status} {fault.raises.code}"


def tried(operation: Callable[[Stand], str], stand: Stand) -> str:
    """What an operation ends in; the error it ends in is kept with all that hangs on it."""
    try:
        return operation(stand)
    except ModelError as error:
        stand.heard("".join(traceback.format_exception(error)), error.__cause__, error.__context__)
        ended = "" if error.sentence.endswith((".", "?")) else f" in no sentence: {error.sentence}"
        return f"{FAILED} {type(error).__name__}{ended}"


def address_of(fault: Fault, server: FakeServer) -> str:
    """Where the faulty server is."""
    if fault.reply is None:
        server.close()
    else:
        server.on("*", fault.reply)
    return server.url


def derived(stand: Stand) -> list[str]:
    """The ids in long-term memory: what no operation may change that fails."""
    return sorted(entry.id for entry in stand.mira.entries(Tier.LTM))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_each_operation_ends_in_a_clear_error_or_a_good_answer_and_loses_nothing(
    stand: Stand, server: FakeServer, fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    address = address_of(fault, server)
    stand.ask(OpenAIModel(model="fake", key=KEY, base_url=address, deadline=fault.deadline))
    before = derived(stand)
    with ThreadPoolExecutor(len(OPERATIONS)) as pool:  # all at once: most of the time they wait
        asked = {operation.__name__: pool.submit(tried, operation, stand) for operation in OPERATIONS}
        ended = {name: future.result(timeout=PATIENCE) for name, future in asked.items()}
    assert ended == {operation.__name__: expected(operation, fault) for operation in OPERATIONS}
    assert derived(stand) == before
    assert KEY not in "\n".join(stand.told)
    assert KEY not in caplog.text


@pytest.mark.parametrize("name", ["refused", "slow", "429 until later", "rating 11", "the key in an error"])
def test_the_command_line_tells_it_in_a_sentence_and_stores_the_event(
    stand: Stand, server: FakeServer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = FAULTS[name]
    cli = CommandLine(stand.world, monkeypatch)
    monkeypatch.setenv("MEMORY_LLM", "openai")
    monkeypatch.setenv("OPENAI_BASE_URL", address_of(fault, server))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MEMORY_LLM_DEADLINE", str(fault.deadline))
    added, planned = cli("add", "mira", "Lent Tobias the key.", "--id", "by-hand"), cli("plan", "mira", "--json")
    held = stand.mira.find("by-hand")
    assert (added.code, held and held.rating) == (0, None)
    assert planned.code == 1
    told = json.loads(planned.err.splitlines()[-1])["error"]
    assert (told["code"], told["status"]) == (fault.raises.code, fault.raises.status)
    assert KEY not in f"{added.out}{added.err}{planned.out}{planned.err}"


def test_the_api_passes_on_when_to_ask_again(stand: Stand, server: FakeServer) -> None:
    server.on("*", error(429, headers={"Retry-After": "89.5"}))
    stand.ask(server.model())
    answer = stand.api.post("/rate", json={"memory": "Lent Tobias the key."})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "90")


def test_no_file_of_the_world_holds_the_key(stand: Stand, server: FakeServer) -> None:
    """Run last: whatever the faulty servers said lies in the journal by now."""
    folder = Path(stand.world.settings.database).parent
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.name == "journal.sqlite3" for path in files)
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
