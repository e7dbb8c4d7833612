"""A cue that is asked by instances too: what they find competes for the seats, and the answer says which found it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_system import AgentMemory, Candidate, Measure, Query, Scoring, Seats, Tier, Weights, World
from memory_system.agent_parts.retrieval import WITHOUT_INSTANCES
from memory_system.errors import InvalidParameter
from memory_system.interfaces.client import RemoteWorld
from memory_system.recall.expansion import ABOVE, BY_ALL, BY_BEST, MANY, Expanded, Measured, Relevancy
from memory_system.recall.hybrid import UNKNOWN
from memory_system.recall.rank import answer
from tests.conftest import NOW
from tests.fake_server import FakeServer, error, says
from tests.recall.test_requery import CUE as VECTOR
from tests.recall.test_requery import RELEVANCY, near, tables
from tests.served import served_api

Remember = Callable[..., str]
CUE = "What are Nora's hobbies?"
NAMED = ("Nora in a kayak", "Nora's choir")


@pytest.fixture
def hobbies(agent: AgentMemory, remember: Remember) -> AgentMemory:
    """Nora's hobbies, which no memory calls so, among what is nearer to the word."""
    remember("Nora paddled the kayak down to the weir", id="kayak")
    remember("Nora sang the alto part with the choir on Sunday", id="choir")
    for number in range(6):
        remember(f"Nora asked about hobbies again, for form {number}", id=f"form-{number}")
    agent.configure(top_k=4, threshold=0)
    return agent


def ids(found: Iterable[Candidate]) -> list[str]:
    return [hit.entry.id for hit in found]


@pytest.mark.parametrize("measure", Measure)
def test_what_an_instance_finds_takes_a_seat_and_says_by_which(hobbies: AgentMemory, measure: Measure) -> None:
    scoring = Scoring(Weights(0, 0, 1), measure=measure, seats=Seats.RANKING)
    assert not {"kayak", "choir"} & set(ids(hobbies.query_memory(CUE, scoring=scoring)))
    found = hobbies.query_memory(CUE, top_k=8, scoring=scoring, instances=NAMED)
    by = {hit.entry.id: hit.instance for hit in found}
    assert (by["kayak"], by["choir"]) == NAMED
    (kayak,) = (hit for hit in found if hit.entry.id == "kayak")
    assert f"“{NAMED[0]}” met it better than the cue." in kayak.because
    plain = {hit.entry.id: hit.score.relevancy for hit in hobbies.explain(CUE, top_k=8, scoring=scoring)}
    assert kayak.score.relevancy > plain["kayak"]
    best = max(plain, key=plain.__getitem__)
    assert next(hit for hit in found if hit.entry.id == best).instance == ""


def test_why_not_and_forecast_see_the_same_answer(hobbies: AgentMemory) -> None:
    query = hobbies.query(CUE, instances=NAMED)
    found, told = hobbies.answer(query), hobbies.explanation(query)
    assert told.hits == found.hits
    assert {one.entry.id for _, one in enumerate(told.candidates)} == {
        entry.id for tier in (Tier.STATIC, Tier.STM, Tier.LTM) for entry in hobbies.entries(tier)
    }
    for hit in found:
        assert hobbies.ways(query, hit.entry.id) == ()
    lost = next(one for one in told.candidates if not one.recalled)
    turned = [way for way in hobbies.ways(query, lost.entry.id) if way.what_if is None]
    assert turned
    assert all(lost.entry.id in ids(hobbies.answer(way.query)) for way in turned[:2])
    assert {one.entry_id for one in hobbies.forecast(query)} == set(ids(found))


@given(
    angles=st.lists(st.floats(0, 180), min_size=1, max_size=25),
    others=st.lists(st.floats(0, 180), min_size=1, max_size=4),
    seats=st.sampled_from(Seats),
    top_k=st.integers(0, 8),
)
def test_nothing_falls_and_nothing_rises_much_above_what_the_cue_meets_best(
    angles: list[float], others: list[float], seats: Seats, top_k: int
) -> None:
    held = tables(**{f"m{number:02d}": angle for number, angle in enumerate(angles)})

    def by(angle: float) -> Measured:
        return lambda _tier, table: Relevancy(table.relevancies(near(angle)), {}, UNKNOWN)

    scoring = dataclasses.replace(RELEVANCY, seats=seats)
    plain = Query("cue", NOW, top_k, 0.0, scoring=scoring)
    wider = dataclasses.replace(plain, instances=tuple(f"instance {number}" for number in range(len(others))))
    measured = Expanded(wider, held, by(0), [by(one) for one in others])
    before = answer(plain, VECTOR, held, "Mira", explain=True).candidates
    after = answer(wider, VECTOR, held, "Mira", explain=True, measured=measured)
    highest = max(one.score.relevancy for one in before)
    for one in after.candidates:
        own = before.of(one.entry.id)
        assert own is not None
        assert own.score.relevancy <= one.score.relevancy <= max(highest * ABOVE, own.score.relevancy) + 1e-12
        assert one.instance or one.score.relevancy == own.score.relevancy
    assert answer(wider, VECTOR, held, "Mira", explain=False, measured=measured).hits == after.hits


def test_what_several_instances_meet_rises_above_what_one_does() -> None:
    held = tables(one=60, both=60)
    by: dict[str, dict[str, float]] = {"first": {"one": 0.6, "both": 0.6}, "second": {"one": 0.1, "both": 0.6}}

    def measured(found: dict[str, float]) -> Measured:
        return lambda _tier, table: Relevancy(np.array([found[key] for key in table.ids]), {}, UNKNOWN)

    query = Query("cue", NOW, instances=("first", "second"), scoring=RELEVANCY)
    cue = measured({"one": 0.4, "both": 0.4})
    wider = Expanded(query, held, cue, [measured(one) for one in by.values()])
    (tier,) = (tier for tier in held if len(held[tier]))
    found = dict(zip(held[tier].ids, wider(tier, held[tier]).values.tolist(), strict=True))
    lent = (0.4 * ABOVE - 0.4) * (2 / MANY) ** 0.5
    assert found == pytest.approx({"one": 0.4 + (BY_BEST + BY_ALL / 2) * lent, "both": 0.4 + lent})


def test_the_language_model_names_the_instances_and_the_log_keeps_them(
    hobbies: AgentMemory, server: FakeServer
) -> None:
    hobbies.model = server.model()
    server.on("expand", says({"instances": [NAMED[0], f" {NAMED[1]} ", NAMED[0].upper(), CUE]}))
    found = hobbies.query_memory(CUE, expand=5)
    assert found.query.instances == NAMED, "each once, and not the cue itself"
    asked = len(server.requests)
    assert ids(found) == ids(hobbies.query_memory(CUE, instances=NAMED))
    logged = hobbies.queries()[1]
    assert logged.query.instances == NAMED
    relived = hobbies.relive(logged.number)
    assert ids(relived.now.hits) == ids(found)
    assert len(server.requests) == asked, "living through it again asks no model"


def test_where_the_model_does_not_help_the_plain_answer_says_so(hobbies: AgentMemory, server: FakeServer) -> None:
    plain = ids(hobbies.query_memory(CUE, touch=False))
    offline = hobbies.query_memory(CUE, touch=False, expand=3)
    assert (ids(offline), offline.query.instances) == (plain, ())
    assert offline.query.unexpanded.startswith(WITHOUT_INSTANCES)
    hobbies.model = server.model()
    server.on("expand", error(401))
    refused = hobbies.explain(CUE, expand=3)
    assert ids(refused) == plain
    assert refused.query.unexpanded.startswith(WITHOUT_INSTANCES)
    server.on("expand", says({"instances": []}))
    assert hobbies.query(CUE, expand=3).unexpanded == "The language model names no instances of this cue."


def test_asking_for_instances_changes_nothing(hobbies: AgentMemory, server: FakeServer) -> None:
    hobbies.model = server.model()
    server.on("expand", says({"instances": list(NAMED)}))
    before = hobbies.stamp
    hobbies.explain(CUE, expand=2)
    assert hobbies.stamp == before


@pytest.mark.parametrize("wrong", [{"expand": -1}, {"expand": 21}, {"instances": ["a"] * 21}, {"instances": [" "]}])
def test_what_is_no_expansion_is_refused(agent: AgentMemory, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        agent.explain(CUE, **wrong)  # type: ignore[arg-type]


def test_over_http_the_same_answer_comes_the_long_way_and_the_client_has_it(
    hobbies: AgentMemory, server: FakeServer, world: World
) -> None:
    hobbies.model = server.model()
    server.on("expand", says({"instances": list(NAMED)}))
    with served_api(world) as address, RemoteWorld(address) as remote:
        found = remote.agent("mira").query_memory(CUE, touch=False, expand=2)
        assert found.query.instances == NAMED
        assert [hit.instance for hit in found] == [
            hit.instance for hit in hobbies.query_memory(CUE, touch=False, instances=NAMED)
        ]
        assert remote.agent("mira").explain(CUE, instances=NAMED).query.instances == NAMED
