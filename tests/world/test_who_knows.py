"""A character and a fact are judged by what is remembered; looking touches nothing, and a person is heard first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from memory_system import AgentMemory, World
from memory_system.core import DECAYING, WORLD_AGENT
from memory_system.embedding.embedder import CachedEmbedder, FromChroma
from memory_system.errors import AgentNotFound, EntryNotFound, InvalidAgentName, InvalidParameter
from memory_system.world.knows import PERSON, RULES, Cell, Verdict
from memory_system.world.knows.story import parse
from tests import sample_world
from tests.conftest import NOW, ROOT, SHARED, settings_in
from tests.fake_server import FakeServer, says

LABELS = ROOT / "tests" / "data" / "knows_harrow_quay.yaml"
WORDS = {"knows": Verdict.KNOWS, "half": Verdict.HALF, "wrong": Verdict.WRONG, "unaware": Verdict.UNAWARE}
LEAST = 0.9
STOLEN = "Juno stole the mill key from Tobias's coat."


@pytest.fixture(scope="module")
def quay(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[World]:
    """The sample world, which no test of this module changes."""
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    folder = tmp_path_factory.mktemp("quay") / "world"
    sample_world.copy(template, folder)
    with World(settings_in(folder), embedder=embedder) as world:
        yield world


def labelled(file: Path) -> list[dict[str, Any]]:
    """Facts with their labelled cells."""
    held: list[dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return held


def test_thirty_cells_of_harrow_quay_are_judged_as_a_reader_judges_them(quay: World) -> None:
    right = said = there = 0
    rows = []
    for one in labelled(LABELS):
        for cell in quay.who_knows(one["fact"], list(one["cells"])):
            label = one["cells"][cell.agent]
            wanted = WORDS[label["verdict"]]
            hit = cell.verdict is wanted and (wanted is Verdict.UNAWARE or cell.memory in label["rests"])
            right += hit and wanted is not Verdict.UNAWARE
            said += cell.verdict is not Verdict.UNAWARE
            there += wanted is not Verdict.UNAWARE
            rows.append(
                f"{'  ' if hit else '->'} {cell.agent:7} {wanted:14} {cell.verdict:14} {cell.memory} {one['fact']}"
            )
    table = "\n".join([f"precision {right / said:.2f}, recall {right / there:.2f}", *rows])
    assert len(rows) == 30
    assert min(right / said, right / there) >= LEAST, table


def test_a_lamp_elsewhere_is_no_lamp_in_the_mill(quay: World) -> None:
    fact = "A lamp burned in the locked tide mill on the night of the fog."
    saw, other = quay.who_knows(fact, ["tobias", "oswin"])
    assert (saw.verdict, saw.memory) == (Verdict.KNOWS, "tobias-0310-01")
    assert other.verdict is Verdict.UNAWARE
    assert not other.memory


def test_the_story_tests_of_the_guide_are_green_in_the_sample(quay: World) -> None:
    guide = (ROOT / "docs" / "story_tests.md").read_text(encoding="utf-8")
    tests = parse(guide.split("```yaml\n", 1)[1].split("```", 1)[0])
    assert [found.why for found in quay.run_tests(tests) if not found.passed] == []
    assert len(tests) == 4


def test_a_cell_tells_its_memory_since_when_how_and_who_judged(quay: World) -> None:
    cell = quay.knows("mira", "Rosalind Keane offered Mira the running of her bakery.")
    held = quay.agent("mira").last_version("mira-0316-01")
    assert (cell.memory, cell.text, cell.since) == (held.id, held.document, held.timestamp)
    assert (cell.how, cell.judge, cell.author) == ("read", RULES, "samples")
    assert 0.7 < cell.sure <= 1
    brought = quay.agent("mira").change(cell.revision).change_set
    assert held.id in {change.entry_id for change in brought.changes}


def test_a_cell_counts_as_true_where_the_fact_is_known(quay: World) -> None:
    assert quay.knows("juno", STOLEN)
    assert not quay.knows("tobias", STOLEN)
    assert not quay.knows("ines", STOLEN)


def test_who_did_it_is_told_apart_from_who_did_not(quay: World) -> None:
    cell = quay.knows("juno", "Tobias stole the mill key from the coat.")
    assert (cell.verdict, cell.memory) == (Verdict.WRONG, "juno-0305-03")
    assert quay.knows("juno", "Juno did not steal the mill key from Tobias's coat.").verdict is Verdict.WRONG


def test_the_past_knows_only_what_had_happened(quay: World) -> None:
    fact = "Tobias took £120 from Brandreth to survey the tide mill."
    before, after = datetime(2026, 3, 2, 21, tzinfo=UTC), datetime(2026, 3, 2, 22, tzinfo=UTC)
    assert not quay.knows("tobias", fact, at=before)
    then = quay.knows("tobias", fact, at=after)
    assert then
    assert then.memory == "tobias-0302-02"


def test_looking_touches_nothing(quay: World) -> None:
    quay.agent("mira")
    before = [(one.agent(name).stamp, _accesses(one.agent(name))) for one in (quay,) for name in quay.characters()]
    quay.who_knows(STOLEN)
    quay.knows("mira", STOLEN, at=datetime(2026, 3, 10, 12, tzinfo=UTC))
    after = [(one.agent(name).stamp, _accesses(one.agent(name))) for one in (quay,) for name in quay.characters()]
    assert after == before
    assert WORLD_AGENT not in quay.stored()
    assert not quay.agent("mira").queries(1000)


def _accesses(agent: AgentMemory) -> list[Any]:
    return [(one.id, one.last_access) for tier in DECAYING for one in agent.entries(tier)]


# -- small worlds ------------------------------------------------------------------------------------------


@pytest.fixture
def pair(world: World) -> World:
    """Two characters, one of whom saw something that the other was told."""
    world.stand_at(NOW)
    for name, called in (("ana", "Ana Reed"), ("bo", "Bo Lund")):
        world.create_agent(name, {"identity": {"name": called}})
    saw = {
        "id": "saw",
        "document": "Saw Bo hide the silver cup under the bridge.",
        "timestamp": NOW - timedelta(days=2),
    }
    world.agent("ana").add_short_term([{**saw, "rating": 6}])
    return world


CUP = "Bo hid the silver cup under the bridge."


def test_what_the_world_lets_everybody_know_is_known(pair: World) -> None:
    assert not pair.knows("bo", "The ferry leaves at seven.")
    pair.know("The ferry leaves at seven.")
    cell = pair.knows("bo", "The ferry leaves at seven.")
    assert cell
    assert cell.how == "world"
    assert pair.knows("bo", "The ferry leaves at eight.").verdict is Verdict.WRONG


def test_what_was_told_says_by_whom(pair: World) -> None:
    told = {"id": "told", "document": "The cup is cracked.", "source": "told", "people": ["Bo Lund"], "rating": 5}
    pair.agent("ana").add_short_term([told])
    cell = pair.knows("ana", "The cup is cracked.")
    assert (cell.how, cell.told_by) == ("told", "Bo Lund")


def test_what_happened_later_is_not_known_before_though_it_was_told_long_after(pair: World) -> None:
    assert not pair.knows("ana", CUP, at=NOW - timedelta(days=3))
    assert pair.knows("ana", CUP, at=NOW - timedelta(days=1))


def test_a_person_is_heard_before_the_judge_and_can_take_it_back(pair: World) -> None:
    made = pair.correct("bo", CUP, "knows", author="Kim")
    said = pair.knows("bo", f"  {CUP.upper()} ")
    assert (said.verdict, said.judge) == (Verdict.KNOWS, PERSON)
    assert [(one.agent, one.verdict) for one in pair.labels()] == [("bo", "knows")]
    assert pair.agent(WORLD_AGENT).change(made.revision).change_set.author == "Kim"
    pair.correct("bo", CUP, None)
    assert pair.knows("bo", CUP).judge == RULES
    assert not pair.labels()


def test_a_correction_is_undone_as_any_change(pair: World) -> None:
    made = pair.correct("ana", CUP, Verdict.UNAWARE)
    assert not pair.knows("ana", CUP)
    pair.agent(WORLD_AGENT).undo(made)
    assert pair.knows("ana", CUP)


def test_a_correction_can_name_the_memory_that_shows_it(pair: World) -> None:
    assert not pair.correct("ana", CUP, "half knows", "saw", preview=True).revision
    pair.correct("ana", CUP, "half knows", "saw")
    cell = pair.knows("ana", CUP)
    assert (cell.verdict, cell.memory, cell.how) == (Verdict.HALF, "saw", "saw")


def test_a_correction_follows_its_character_and_no_other_of_that_name(pair: World) -> None:
    pair.correct("bo", CUP, "knows")
    pair.rename_agent("bo", "cy")
    assert pair.knows("cy", CUP).judge == PERSON
    pair.create_agent("bo")
    assert pair.knows("bo", CUP).judge == RULES
    pair.delete_agent("cy")
    pair.create_agent("cy")
    assert not pair.labels()


@pytest.mark.parametrize(("name", "what"), [(5, "an int"), (None, "nothing"), (["ana"], "a list")])
def test_whom_to_ask_is_a_name(pair: World, name: Any, what: str) -> None:
    with pytest.raises(InvalidAgentName, match=f"^The agent name must be text, not {what}.$"):
        pair.knows(name, CUP)


def test_a_fact_that_is_no_text_is_refused_as_one(pair: World) -> None:
    for ask in (pair.who_knows, pair.spread, lambda fact: pair.correct("ana", fact, "knows")):
        with pytest.raises(InvalidParameter, match="The fact is a sentence of 1 to 1,000"):
            ask("Ana has the cup\ud83d.")


def test_a_question_is_no_fact(pair: World) -> None:
    with pytest.raises(InvalidParameter, match="is a question"):
        pair.who_knows("Who has the cup?")
    with pytest.raises(InvalidParameter, match="is a question"):
        pair.spread("Who has the cup?")


@pytest.mark.parametrize(
    ("name", "fact", "verdict", "memory", "error"),
    [
        ("nobody", CUP, "knows", "", AgentNotFound),
        (5, CUP, "knows", "", InvalidAgentName),
        ("../ana", CUP, "knows", "", InvalidAgentName),
        ("ana", " ", "knows", "", InvalidParameter),
        ("ana", CUP, "guesses", "", InvalidParameter),
        ("ana", CUP, "knows", "not there", EntryNotFound),
    ],
)
def test_what_cannot_be_said_of_a_cell_changes_nothing(
    pair: World, name: str, fact: str, verdict: str, memory: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        pair.correct(name, fact, verdict, memory)
    assert not pair.labels()


def test_a_fact_is_looked_for_as_a_cue_is_by_an_embedder_that_asks_for_words_too(tmp_path: Path) -> None:
    asked: list[str] = []

    def embed(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[1.0, float("cup" in text)] for text in texts]

    made = CachedEmbedder(FromChroma(embed, "made", words_too=True))
    with World(settings_in(tmp_path), embedder=made) as world:
        world.stand_at(NOW)
        world.create_agent("ana", {"identity": {"name": "Ana Reed"}})
        world.knows("ana", CUP)
        assert {CUP, "Bo hid silver cup bridge"} <= set(asked)


def test_the_language_model_judges_where_one_is_set(pair: World, server: FakeServer) -> None:
    pair.agent("ana").model = server.model()
    server.on("knows", says({"why": "It says so.", "verdict": "half knows", "record": 1}))
    cell = pair.knows("ana", CUP)
    assert (cell.verdict, cell.memory, cell.why) == (Verdict.HALF, "saw", "It says so.")
    assert cell.judge == pair.agent("ana").model.name
    assert pair.knows("ana", CUP, ask_model=False).judge == RULES


def test_a_model_that_cites_nothing_is_not_believed(pair: World, server: FakeServer) -> None:
    pair.agent("ana").model = server.model()
    server.on("knows", says({"why": "Surely.", "verdict": "has it wrong", "record": 7}))
    cell = pair.knows("ana", CUP)
    assert isinstance(cell, Cell)
    assert (cell.verdict, cell.judge) == (Verdict.KNOWS, RULES)


SMALLVILLE = SHARED / "data" / "smallville" / "isabella_rodriguez.jsonl"
PARTY = "Isabella Rodriguez is planning a Valentine's Day party at Hobbs Cafe."


@pytest.mark.skipif(not SMALLVILLE.exists(), reason="the Smallville data are not here")
def test_isabella_knows_of_her_party_from_the_start(world: World) -> None:
    nodes = [json.loads(line) for line in SMALLVILLE.read_text(encoding="utf-8").splitlines()[:130]]
    begin = min(datetime.fromisoformat(node["created"]).replace(tzinfo=UTC) for node in nodes)
    world.stand_at(begin + timedelta(days=2))
    isabella = world.create_agent("isabella", {"identity": {"name": "Isabella Rodriguez"}})
    lived = [
        {
            "id": node["id"],
            "document": node["description"],
            "timestamp": datetime.fromisoformat(node["created"]).replace(tzinfo=UTC),
            "rating": node["poignancy"],
        }
        for node in nodes
        if not node["description"].endswith(" is idle")
    ]
    isabella.add_short_term(lived)
    assert world.knows("isabella", PARTY, at=begin + timedelta(minutes=1))
    assert not world.knows("isabella", PARTY, at=begin - timedelta(minutes=1))
