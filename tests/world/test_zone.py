"""A world lives in a named time zone, whose clocks change in spring and autumn."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import httpx
import pytest

from memory_system import AgentMemory, World
from memory_system.conversation import Conversation, memory_search
from memory_system.conversation.searching import conversation_search
from memory_system.core.times import in_zone, real_clock, stamp
from memory_system.errors import InvalidParameter, StoreDamaged
from memory_system.interfaces.client import RemoteWorld
from tests.command_line import CommandLine
from tests.conftest import NOW
from tests.conversing import answers, calls, script, talking
from tests.fake_server import FakeServer, says

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = timedelta(hours=1)


def test_the_time_is_the_same_and_shown_as_the_clocks_of_the_zone_do(world: World) -> None:
    assert world.zone is None
    world.use_zone("Europe/Berlin")
    assert world.zone == "Europe/Berlin"
    assert world.clock() == NOW
    assert world.standing == NOW
    assert world.clock().isoformat() == "2026-03-27T19:00:00+01:00"
    world.stand_at(None)
    assert abs(world.clock() - real_clock()) < timedelta(minutes=5)
    assert world.clock().tzinfo == BERLIN
    world.use_zone(None)
    assert (world.zone, world.clock().utcoffset()) == (None, timedelta())


def test_a_time_in_a_named_zone_brings_the_world_there_and_one_with_an_offset_does_not(world: World) -> None:
    world.stand_at(datetime(2026, 3, 28, 6, 0, tzinfo=BERLIN))
    assert world.zone == "Europe/Berlin"
    world.stand_at(datetime(2026, 7, 1, 6, 0, tzinfo=UTC))
    assert stamp(world.clock()) == "Wed 1 Jul 2026, 08:00 CEST"
    world.play(3600)
    world.pause()
    assert world.zone == "Europe/Berlin"


def test_a_clock_that_runs_goes_on_through_the_hour_that_comes_twice(world: World) -> None:
    world.stand_at(datetime(2026, 10, 25, 0, 30, tzinfo=UTC))
    world.use_zone("Europe/Berlin")
    world.play(1)
    told = json.loads((world.folder / "world.json").read_text())
    seen = []
    for hours in range(3):
        since = real_clock() - hours * HOUR
        (world.folder / "world.json").write_text(json.dumps({**told, "since": since.isoformat()}))
        seen.append(f"{world.clock():%H %Z}")
    assert seen == ["02 CEST", "02 CET", "03 CET"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Berlin", r"Do you mean Europe/Berlin\?"),
        ("europe/berlin", r"Do you mean Europe/Berlin\?"),
        ("new york", r"Do you mean America/New_York\?"),
        ("Pariis", r"Do you mean Europe/Paris\?"),
        ("Europe", 'Write it like "Europe/Berlin"'),
        ("../etc/passwd", 'Write it like "Europe/Berlin"'),
        ("localtime", "There is no time zone 'localtime'"),
        ("right/UTC", "There is no time zone 'right/UTC'"),
        ("+02:00", 'Write it like "Europe/Berlin"'),
        ("", "There is no time zone ''"),
        ("a\0b", "There is no time zone"),
        ("x" * 300, "There is no time zone"),
        (5, "There is no time zone 5"),
    ],
)
def test_a_zone_that_there_is_not_is_refused_and_says_what_may_be_meant(world: World, name: object, said: str) -> None:
    before = (world.folder / "world.json").read_bytes()
    with pytest.raises(InvalidParameter, match=said):
        world.use_zone(name)  # type: ignore[arg-type]
    assert (world.folder / "world.json").read_bytes() == before


def test_a_zone_that_cannot_be_read_says_which_file(world: World) -> None:
    told = json.loads((world.folder / "world.json").read_text())
    (world.folder / "world.json").write_text(json.dumps({**told, "zone": "Europe/Atlantis"}))
    with pytest.raises(StoreDamaged, match=r"world\.json cannot be read: There is no time zone 'Europe/Atlantis'"):
        world.clock()


def test_the_ends_of_time_stay_what_they_are() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    assert in_zone(last, ZoneInfo("Asia/Tokyo")) == last


def test_days_begin_in_the_zone(world: World, agent: AgentMemory) -> None:
    """At eight in the morning in Tokyo it is still the day before in Greenwich."""
    world.stand_at(datetime(2026, 3, 27, 23, 0, tzinfo=UTC))
    for day in (25, 26, 27):
        when = datetime(2026, 3, day, 3, 0, tzinfo=UTC)
        agent.add_short_term({"document": f"Mended net {day}.", "rating": 5, "timestamp": when})

    def first() -> str:
        return agent.query_memory("What did I do yesterday?").hits[0].entry.document

    assert first() == "Mended net 26."
    world.use_zone("Asia/Tokyo")
    assert first() == "Mended net 27."


@pytest.mark.parametrize("begun", [datetime(2026, 3, 27, 18, 0, tzinfo=UTC), datetime(2026, 10, 23, 18, 0, tzinfo=UTC)])
def test_mornings_come_at_the_same_hour_when_the_clocks_change(
    world: World, agent: AgentMemory, begun: datetime
) -> None:
    agent.configure(stm_size=5, reflection_trigger=10_000)
    world.stand_at(begun)
    world.use_zone("Europe/Berlin")
    done = world.advance(begun + 96 * HOUR)
    plans = [step.at.astimezone(BERLIN) for step in done.steps if step.what == "plan" and step.at > begun]
    assert (len(plans), len({at.time() for at in plans})) == (4, 1)
    assert len({at.utcoffset() for at in plans}) == 2
    assert done.now == begun + 96 * HOUR
    assert not done.waiting


def test_a_search_in_a_talk_says_the_day_that_it_was_there_and_is_replayed(
    world: World, agent: AgentMemory, server: FakeServer
) -> None:
    """At one in the morning in Tokyo it is still the day before in Greenwich."""
    world.use_zone("Asia/Tokyo")
    talk = Conversation.begin(talking(agent, server), human="John")
    for day in (27, 28):
        world.stand_at(datetime(2026, 3, day, 1, 0, tzinfo=ZoneInfo("Asia/Tokyo")))
        asked = {"start_date": "2026-03-27", "end_date": "2026-03-27"}
        script(server, calls(("conversation_search_date", asked)), answers("A parrot."))
        step = talk.step("What did I buy yesterday?" if day == 28 else "I bought a parrot.")
    found = json.loads(step.functions[0].result)["results"]
    assert {result["when"] for result in found} == {"2026-03-27T01:00:00+09:00"}
    found_here = conversation_search(agent, "parrot").found
    assert {item.when.utcoffset() for item in found_here if item.when} == {9 * HOUR}
    assert talk.replay().same
    world.use_zone("America/New_York")
    assert talk.replay().same


def test_what_memories_tell_and_what_a_talk_showed_has_the_day_that_it_was_there(
    world: World, agent: AgentMemory, server: FakeServer
) -> None:
    night = datetime(2026, 3, 28, 1, 0, tzinfo=ZoneInfo("Asia/Tokyo"))
    world.stand_at(night)
    for number in (1, 2, 3):
        agent.add_short_term({"id": f"net-{number}", "document": f"Mended net {number} in the harbour.", "rating": 5})
    found = memory_search(agent, "Which nets were mended?", within=["life"]).text
    assert "Sat 28 Mar 2026, 01:00 JST" in found
    assert "UTC" not in found
    talk = Conversation.begin(agent, human="John")
    talk.step("My name is John. I sold the mill to Tobias.")
    assert agent.narrate("The nets?", [agent.last_version("net-1")]).text.startswith("28 March 2026, 01:00")
    synopsis = next(change.after for change in talk.synopsis().changes if change.after)
    assert "28 March 2026" in synopsis.document
    talking(agent, server)
    server.on("questions", says({"questions": ["Who mends the nets?"]}))
    server.on("insights", says({"insights": [{"insight": "The nets are old.", "because_of": [1]}]}))
    agent.reflect_from_recent_memory(preview=True)
    asked = [request["messages"][-1]["content"] for request in server.requests]
    assert all("2026-03-28T01:00:00+09:00" in prompt and "2026-03-27T16" not in prompt for prompt in asked[:2])


def test_through_every_front_end(world: World, api: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert api.get("/v1/world").json()["zone"] is None
    told = api.patch("/v1/world", json={"zone": "Asia/Tokyo"}).json()
    assert (told["zone"], told["now"]) == ("Asia/Tokyo", "2026-03-28T03:00:00+09:00")
    refused = api.patch("/v1/world", json={"zone": "Tokyo", "title": "Elsewhere"})
    assert (refused.status_code, world.about.title, world.zone) == (422, "", "Asia/Tokyo")
    assert "Do you mean Asia/Tokyo?" in refused.json()["detail"]
    with RemoteWorld(str(api.base_url)) as remote:
        assert (remote.zone, remote.clock(), remote.clock().tzinfo) == ("Asia/Tokyo", NOW, ZoneInfo("Asia/Tokyo"))
        remote.use_zone(None)
        assert (remote.zone, remote.clock().utcoffset()) == (None, timedelta())
    cli = CommandLine(world, monkeypatch)
    assert cli("clock", "--zone", "Europe/Berlin", "--json").value["zone"] == world.zone == "Europe/Berlin"
    assert "Fri 27 Mar 2026, 19:00 CET" in cli("clock").out
    wrong = cli("clock", "--zone", "Berlin", "--real")
    assert (wrong.code, world.standing) == (1, NOW)
    assert cli("clock", "--zone", "").code == 0
    assert world.zone is None


@pytest.mark.parametrize("name", ["Asia/Tokyo", None])
def test_a_zone_that_is_chosen_while_time_passes_stays(world: World, agent: AgentMemory, name: str | None) -> None:
    assert agent.name in world.characters()
    world.use_zone("Europe/Berlin")

    def progress(_share: float, _what: str) -> None:
        world.use_zone(name)

    done = world.advance(NOW + 48 * HOUR, progress=progress)
    assert done.steps
    assert (world.zone, world.clock()) == (name, NOW + 48 * HOUR)


def test_time_passes_through_the_hour_that_comes_twice_and_through_the_one_that_is_left_out(
    world: World, agent: AgentMemory
) -> None:
    """In steps of ten minutes: time never goes back, and nothing is left undone."""
    agent.configure(stm_size=5, reflection_trigger=10_000)
    world.use_zone("Europe/Berlin")
    for begun in (datetime(2026, 3, 29, 0, 0, tzinfo=UTC), datetime(2026, 10, 24, 23, 0, tzinfo=UTC)):
        world.stand_at(begun)
        Conversation.begin(agent, human="Ana").step("I give a party on Friday.")
        tolls = [begun + HOUR, begun + 2 * HOUR]
        done = []
        for tens in range(1, 25):
            at = begun + timedelta(minutes=10 * tens)
            coming = [
                {
                    "id": f"{toll:%j-%H}",
                    "document": f"The tower struck at {toll:%H:%M}.",
                    "rating": 3,
                    "timestamp": toll,
                }
                for toll in tolls
                if at - timedelta(minutes=10) < toll <= at
            ]
            passed = world.advance(at, events={"mira": coming} if coming else {})
            assert world.clock().astimezone(UTC) == at
            assert not passed.waiting
            done += [(step.what, step.at.astimezone(UTC)) for step in passed.steps]
        assert [at for what, at in done if what == "add"] == tolls
        assert [at for what, at in done if what == "synopsis"] == [begun + HOUR]
        assert [at for _, at in done] == sorted(at for _, at in done)
