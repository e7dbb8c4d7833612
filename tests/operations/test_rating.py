"""Batches are rated concurrently, each text once; they can be stopped and gone on with, and the worker does so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from memory_system import AgentMemory, Tier, World
from memory_system.core.authors import RATING
from memory_system.core.entry import UNRATED
from memory_system.embedding.embedder import Embedder
from memory_system.errors import Conflict
from memory_system.llm.openai.model import OpenAIModel
from memory_system.operations.rating import STOPPED
from memory_system.recall.table import Rows
from memory_system.world.hour import room
from memory_system.world.rerating import Rerater
from tests.fake_server import FakeServer, Reply, error, says
from tests.waiting import LAST_RESORT as LONG
from tests.waiting import until

GOOD = {"explanation": "A promise.", "rating": 7}


def events(count: int) -> list[dict[str, str]]:
    return [{"document": f"Event number {n}.", "id": f"e{n:02}"} for n in range(count)]


def nowhere() -> OpenAIModel:
    return OpenAIModel(model="fake", key=None, base_url="http://127.0.0.1:9/v1", deadline=5)


def asked(server: FakeServer) -> list[str]:
    """The texts whose rating was asked for."""
    return [request["messages"][1]["content"].split('"')[3] for request in server.requests]


class Meeting:
    """Answers when so many requests are there at once, the first aside."""

    def __init__(self, count: int) -> None:
        self.first = True
        self.barrier = threading.Barrier(count, timeout=LONG)

    def __call__(self, handler: Any) -> None:
        if self.first:
            self.first = False
        else:
            self.barrier.wait()
        says(GOOD)(handler)


@pytest.fixture
def talker(agent: AgentMemory, server: FakeServer) -> AgentMemory:
    """``agent`` with a language model that rates everything 7."""
    server.on("rate", says(GOOD))
    agent.model = server.model(deadline=LONG)
    return agent


def test_a_batch_is_rated_four_at_a_time_after_the_first(talker: AgentMemory, server: FakeServer) -> None:
    server.on("rate", Meeting(4))
    added = talker.add_short_term(events(9))
    assert added.unrated == ()
    assert [one.entry.rating for one in added.outcomes] == [7] * 9
    assert sorted(asked(server)) == [one["document"] for one in events(9)]
    assert [call.error for call in added.change_set.calls] == [None] * 9


def test_the_calls_of_a_batch_stand_in_its_order(talker: AgentMemory) -> None:
    calls = talker.add_short_term(events(12)).change_set.calls
    assert [f"Event number {n}." in call.prompt for n, call in enumerate(calls)] == [True] * 12


def test_the_same_text_is_asked_about_once_within_a_batch_and_across(talker: AgentMemory, server: FakeServer) -> None:
    twice = [{"document": "He lied."}, {"document": "He lied."}, {"document": "She knew."}]
    assert talker.add_short_term(twice).unrated == ()
    again = talker.add_short_term({"document": "He lied."})
    assert again.outcomes[0].entry.rating == 7
    assert talker.rate("She knew.").rating == 7
    assert sorted(asked(server)) == ["He lied.", "She knew."]
    assert [call.tokens for call in again.change_set.calls] == [0]


def test_a_memory_is_rated_for_whom_it_means_something(world: World, talker: AgentMemory, server: FakeServer) -> None:
    dog = '{"identity": {"name": "Bo Reed"}, "facts": ["Bo has a dog, Rex, whom he loves."]}'
    bo, stranger, twin = (world.create_agent(name, dog if name != "cy" else None) for name in ("bo", "cy", "twin"))
    for one in (bo, stranger, twin):
        one.model = server.model()
        assert one.add_short_term({"document": "Rex died."}).unrated == ()
    of_bo, of_stranger = (request["messages"][1]["content"] for request in server.requests)
    assert "whom he loves" in of_bo
    assert "whom he loves" not in of_stranger
    assert "cy" in of_stranger
    bo.save_personality(dog.replace("loves", "fears"))
    bo.rate("Rex died.")
    assert "whom he fears" in server.requests[-1]["messages"][1]["content"]


def test_agents_who_are_alike_share_what_was_rated(world: World, talker: AgentMemory, server: FakeServer) -> None:
    other = world.create_agent("ana", talker.personality_text)
    other.model = server.model()
    talker.rate("He lied.")
    assert other.rate("He lied.").rating == 7
    assert len(server.requests) == 1


def test_one_text_asked_about_by_many_at_the_same_time_is_asked_once(talker: AgentMemory, server: FakeServer) -> None:
    gate = threading.Event()

    def wait_for_it(handler: Any) -> None:
        gate.wait(LONG)
        says(GOOD)(handler)

    server.on("rate", wait_for_it)
    ratings: list[int] = []
    threads = [threading.Thread(target=lambda: ratings.append(talker.rate("He lied.").rating)) for _ in range(6)]
    for thread in threads:
        thread.start()
    until(lambda: server.requests)
    gate.set()
    for thread in threads:
        thread.join()
    assert (ratings, len(server.requests)) == ([7] * 6, 1)


def test_somebody_elses_budget_is_no_reason_to_fail(world: World, talker: AgentMemory) -> None:
    other = world.create_agent("ana", talker.personality_text)
    other.model = talker.model
    other.configure(token_budget=1)
    assert len(other.add_short_term({"document": "He lied."}).unrated) == 1
    assert talker.rate("He lied.").rating == 7
    assert other.rate("He lied.").rating == 7  # it is known by now, and costs nothing


def test_who_rates_by_hand_is_not_told_that_it_is_unrated(agent: AgentMemory) -> None:
    agent.model = nowhere()
    agent.add_short_term([{"document": "He lied.", "id": "a"}, {"document": "She knew.", "id": "b"}])
    agent.edit("a", rating=3)
    agent.edit_many(["b"], rating=4)
    held = {one.id: (one.rating, one.explanation == UNRATED) for one in agent.entries(Tier.STM)}
    assert held == {"a": (3, False), "b": (4, False)}


def test_what_says_that_it_is_unrated_as_it_was_told_before_is_still_to_be_rated(talker: AgentMemory) -> None:
    before = "Not rated yet: the language model gave no rating."
    talker.add_short_term({"document": "He lied.", "id": "a", "explanation": before}, rate=False)
    assert [one.id for one in talker.unrated()] == ["a"]
    assert talker.edit("a", rating=3).changes[0].after.explanation == ""


def test_another_model_is_asked_for_itself(talker: AgentMemory, server: FakeServer) -> None:
    talker.rate("He lied.")
    talker.model = OpenAIModel(model="another", key=None, base_url=server.url)
    talker.rate("He lied.")
    assert [request["model"] for request in server.requests] == ["fake", "another"]


def test_a_failure_is_not_kept(talker: AgentMemory, server: FakeServer) -> None:
    server.queue(error(401))
    assert len(talker.add_short_term({"document": "He lied."}).unrated) == 1
    assert talker.rate("He lied.").rating == 7


def test_a_text_that_gets_no_rating_costs_the_others_nothing(talker: AgentMemory, server: FakeServer) -> None:
    def refuse_some(handler: Any) -> None:
        said = handler.asked["messages"][1]["content"]
        (says("I will not.") if "number 2" in said else says(GOOD))(handler)

    server.on("rate", refuse_some)
    added = talker.add_short_term(events(6))
    assert added.unrated == ("e02",)
    assert "not the JSON" in added.outcomes[2].why or "JSON" in added.outcomes[2].why


def test_a_model_that_rates_nothing_is_left_after_three_texts(talker: AgentMemory, server: FakeServer) -> None:
    server.on("rate", says("I will not."))
    added = talker.add_short_term(events(20))
    assert len(added.unrated) == 20
    assert len(set(asked(server))) == 3


def test_what_could_not_be_rated_is_marked_and_what_nobody_wanted_rated_is_not(agent: AgentMemory) -> None:
    agent.model = nowhere()
    agent.add_short_term({"document": "He lied.", "id": "wanted"})
    agent.add_short_term({"document": "Swept.", "id": "not wanted"}, rate=False)
    assert {one.id: one.explanation for one in agent.entries(Tier.STM)} == {"wanted": UNRATED, "not wanted": ""}
    assert [one.id for one in agent.unrated()] == ["not wanted", "wanted"]


def test_a_batch_that_is_stopped_keeps_what_was_rated_and_goes_on_later(
    talker: AgentMemory, server: FakeServer
) -> None:
    added = talker.add_short_term(events(40), cancelled=lambda: len(server.requests) >= 10)
    rated = [one.id for one in added.outcomes if one.rated]
    assert 0 < len(rated) < 40
    assert {one.why for one in added.outcomes if not one.rated} == {STOPPED}
    assert len(talker.entries(Tier.STM)) == 40
    done = talker.rate_unrated()
    assert sorted([*rated, *done.rated]) == [f"e{n:02}" for n in range(40)]
    assert (done.left, done.stopped, done.problem) == (0, "", None)
    assert len(asked(server)) == len(set(asked(server))) + len(asked(server)) - 40 <= 44


def test_rating_the_unrated_is_stored_in_pieces_and_told(talker: AgentMemory) -> None:
    talker.add_short_term(events(40), rate=False)
    told: list[float] = []
    before = talker.stamp[0]
    done = talker.rate_unrated(progress=lambda share, _doing: told.append(share))
    assert (len(done.rated), done.left, talker.unrated()) == (40, 0, [])
    assert talker.stamp[0] == before + 3  # of sixteen, sixteen and eight
    assert told == sorted(told)
    assert 0 <= told[0] <= told[-1] <= 1
    talker.undo(talker.stamp[0])
    assert len(talker.unrated()) == 8


def test_a_stopped_rating_keeps_its_pieces(talker: AgentMemory, server: FakeServer) -> None:
    talker.add_short_term(events(40), rate=False)
    done = talker.rate_unrated(cancelled=lambda: len(server.requests) >= 20)
    assert 16 <= len(done.rated) < 40
    assert (done.stopped, done.left) == (STOPPED, 40 - len(done.rated))
    assert talker.rate_unrated().left == 0


def test_a_protected_memory_stays_unrated(talker: AgentMemory) -> None:
    talker.add_short_term({"document": "He lied.", "protected": True}, rate=False)
    assert talker.unrated() == []
    assert talker.rate_unrated().rated == ()


def test_one_piece_of_work_at_a_time_rates_a_world(talker: AgentMemory, world: World, server: FakeServer) -> None:
    other = world.create_agent("ana")
    talker.add_short_term(events(2), rate=False)
    refused: list[str] = []

    def meanwhile(_share: float, _doing: str) -> None:
        with pytest.raises(Conflict) as raised:
            other.rate_unrated()
        refused.append(raised.value.sentence)

    talker.rate_unrated(progress=meanwhile)
    assert refused
    assert "already" in refused[0]
    assert other.rate_unrated().left == 0


# -- in the background -----------------------------------------------------------------------------------


@pytest.fixture
def started(world: World) -> Iterator[Callable[[], Rerater]]:
    """Starts a worker that looks every twentieth of a second."""
    workers: list[Rerater] = []

    def start() -> Rerater:
        worker = Rerater(world.rerater._agents, 0.05, lambda agent: room(agent, world.clock(), world.folder))
        workers.append(worker)
        workers[-1].start()
        return workers[-1]

    yield start
    for worker in workers:
        worker.stop()


def test_what_came_while_the_model_was_away_is_rated_when_it_is_back(
    agent: AgentMemory, server: FakeServer, started: Callable[[], Rerater]
) -> None:
    agent.model = nowhere()
    agent.add_short_term(events(6))
    agent.add_short_term({"document": "Swept.", "id": "swept"}, rate=False)
    worker = started()
    until(lambda: worker.state.problem)
    assert "cannot be reached" in worker.state.problem
    server.on("rate", says(GOOD))
    agent.model = server.model()
    worker.wake()
    until(lambda: worker.state.rated == 6)
    assert [one.id for one in agent.unrated()] == ["swept"]
    assert (worker.state.problem, agent.history(1)[0].change_set.author) == ("", RATING)


def test_only_what_is_to_be_rated_has_it_look(agent: AgentMemory) -> None:
    worker = Rerater(lambda _names: [], 3600)
    given = agent.add_short_term({"document": "Swept.", "rating": 3})
    unwanted = agent.add_short_term({"document": "Swept again."}, rate=False)
    worker.notice([given.change_set, unwanted.change_set, agent.forget([given.outcomes[0].id])])
    assert not worker._wake.is_set(), "to look takes as long as there are memories"
    agent.model = nowhere()
    waiting = agent.add_short_term({"document": "The mill burns."})
    worker.notice([given.change_set, waiting.change_set])
    assert worker._wake.is_set()
    assert worker._taken(everybody=False) == {agent.name}
    assert worker._taken(everybody=False) == set(), "each is told once"
    worker.wake()
    assert worker._taken(everybody=False) is None, "whoever wakes it has it look at everybody"


def test_who_has_nothing_to_rate_is_looked_through_once(
    agent: AgentMemory, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    look = Rows.wants_rating

    def counted(rows: Rows, row: int) -> bool:
        looked.append(row)
        return look(rows, row)

    agent.add_short_term([{"document": f"Swept the yard, day {day}.", "rating": 2} for day in range(40)])
    monkeypatch.setattr(Rows, "wants_rating", counted)
    assert agent.contents.to_rate == 0
    assert len(looked) >= 40
    looked.clear()
    server.on("rate", says(GOOD))
    agent.model = server.model()
    agent.add_short_term({"document": "The mill burns.", "id": "fire"}, wait=False)
    assert agent.contents.to_rate == 1
    assert agent.rate_unrated(only_wanted=True).rated == ("fire",)
    assert agent.contents.to_rate == 0
    assert len(looked) == 2, "the event, as it came and as it was rated"


def test_what_waits_is_known_after_every_change_elsewhere_too_and_of_the_past(
    world: World, agent: AgentMemory, embedder: Embedder
) -> None:
    beside = World(world.settings, embedder=embedder)
    other = beside.agent(agent.name)
    agent.model = nowhere()
    agent.add_short_term([{"document": f"Saw boat {day}.", "id": f"boat {day}"} for day in range(3)])
    assert agent.contents.to_rate == other.contents.to_rate == 3
    agent.edit("boat 0", rating=4)
    agent.forget(["boat 1"])
    assert agent.contents.to_rate == other.contents.to_rate == 1
    agent.undo(agent.stamp[0])
    assert agent.contents.to_rate == other.contents.to_rate == 2
    assert agent.as_of(revision=agent.stamp[0] - 3).contents.to_rate == 3
    beside.close()
    with World(world.settings, embedder=embedder) as again:
        assert again.agent(agent.name).contents.to_rate == 2


@pytest.mark.parametrize(
    ("limit", "told"), [({"hourly_calls": 2}, "2 model calls"), ({"hourly_tokens": 20}, "20 tokens")]
)
def test_rating_in_the_background_keeps_to_the_budget_of_an_hour(
    world: World,
    agent: AgentMemory,
    server: FakeServer,
    started: Callable[[], Rerater],
    limit: dict[str, int],
    told: str,
) -> None:
    server.on("rate", says(GOOD))
    agent.model = server.model()
    agent.configure(**limit, rated_by="nobody", reflection_trigger=100_000)
    agent.add_short_term(events(6))
    worker = started()
    until(lambda: worker.state.rated == 2)
    waits = {one.what: one.waits for one in world.due().waiting}
    assert f"The budget of {told} a world hour is spent." in waits["rate"]
    world.stand_at(world.clock() + timedelta(hours=1))
    until(lambda: worker.state.rated == 4)
    assert len(asked(server)) == 4


def test_what_a_budget_has_no_room_for_was_not_asked_about(talker: AgentMemory, server: FakeServer) -> None:
    talker.configure(rated_by="nobody", token_budget=1)
    talker.add_short_term(events(3))
    done = talker.rate_unrated()
    assert (done.failed, done.left, server.requests) == ((), 3, []), "so that it is tried again"
    assert "budget" in done.stopped


def test_a_memory_that_the_model_refuses_is_asked_about_three_times(
    agent: AgentMemory, server: FakeServer, started: Callable[[], Rerater]
) -> None:
    def refuse_one(handler: Any) -> None:
        said = handler.asked["messages"][1]["content"]
        (says("I will not.") if "number 0" in said else says(GOOD))(handler)

    agent.model = nowhere()
    agent.add_short_term(events(2))
    server.on("rate", refuse_one)
    agent.model = server.model()
    worker = started()
    until(lambda: sum("number 0" in text for text in asked(server)) == 6)  # each time it is asked twice
    agent.add_short_term({"document": "The ferry came."}, rate=False)
    looked = worker.state.next
    until(lambda: worker.state.next not in (None, looked))
    assert sum("number 0" in text for text in asked(server)) == 6


def test_a_rating_that_somebody_took_back_is_left_alone(
    agent: AgentMemory, server: FakeServer, started: Callable[[], Rerater]
) -> None:
    agent.model = nowhere()
    agent.add_short_term({"document": "He lied.", "id": "a"})
    server.on("rate", says(GOOD))
    agent.model = server.model()
    worker = started()
    until(lambda: worker.state.rated == 1)
    agent.undo(agent.stamp[0])
    looked = worker.state.next
    until(lambda: worker.state.next not in (None, looked))
    assert [one.id for one in agent.unrated()] == ["a"]


def test_it_can_be_switched_off_and_ends_with_the_world(world: World) -> None:
    never = Rerater(world.opened, 0)
    never.start()
    assert not never.state.on
    world.rerater.start()
    assert world.rerater.state.on
    world.close()
    until(lambda: not world.rerater.state.on)


@pytest.mark.parametrize("reply", [error(500), error(429), says("no")], ids=["500", "429", "nonsense"])
def test_whatever_the_server_answers_the_memory_waits_for_its_rating(
    agent: AgentMemory, server: FakeServer, reply: Reply
) -> None:
    server.on("rate", reply)
    agent.model = server.model()
    agent.add_short_term({"document": "He lied.", "id": "a"})
    done = agent.rate_unrated()
    assert (done.rated, done.left) == ((), 1)
    assert [one.explanation for one in agent.unrated()] == [UNRATED]


def test_many_events_tell_how_far_they_are_and_none_is_stored_after_a_cancel(agent: AgentMemory) -> None:
    told: list[float] = []

    def stop(done: float, doing: str) -> None:
        told.append(done)
        if doing.startswith("Embedding 256"):
            raise InterruptedError

    rated = [one | {"rating": 5} for one in events(600)]
    before = agent.stamp
    with pytest.raises(InterruptedError):
        agent.add_short_term(rated, progress=stop)
    assert (agent.stamp, agent.entries(Tier.STM)) == (before, [])
    assert told == sorted(told)
    assert len(agent.add_short_term(rated).outcomes) == 600
