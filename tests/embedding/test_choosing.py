"""The embedder is chosen by name: by the environment, on the command line, and from another package."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_system import AgentMemory, Settings, Tier, World
from memory_system.embedding import EMBEDDERS, chosen
from memory_system.embedding.embedder import Embedder, MiniLM, minilm_of
from memory_system.errors import EmbedderError, InvalidParameter, OtherEmbedder
from tests.command_line import CommandLine
from tests.contributed import BLOCKS, install_contributed
from tests.joining import install

LETTERS = """
import numpy as np

class Letters:
    identity = "letters-26"

    def embed(self, texts):
        return np.array([[1 + text.lower().count(chr(97 + n)) for n in range(26)] for text in texts], float)

class Broken(Letters):
    def embed(self, texts):
        return np.full((len(texts), 3), np.nan)

class Odd(Letters):  # fails as its first text says
    def embed(self, texts):
        if texts[0] == "mute":
            raise Mute
        if texts[0] == "ends":
            raise SystemExit(3)
        return np.ones((len(texts), 3 + ("long" in texts[0])))

class Mute(Exception):
    def __str__(self):
        raise ValueError

class Tongues(Letters):
    languages = 3

def odd(settings):
    return Odd()

def tongues(settings):
    return Tongues()

class Nameless(Letters):
    identity = ""

def letters(settings):
    return Letters()

def broken(settings):
    return Broken()

def nameless(settings):
    return Nameless()
"""
NAMES = ("letters", "broken", "nameless", "odd", "tongues")


@pytest.fixture
def joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "joined"
    folder.mkdir()
    points = "\n".join(f"{name} = letters_package:{name}" for name in NAMES)
    install(folder, "letters_package", LETTERS, {EMBEDDERS.group: points})
    monkeypatch.syspath_prepend(folder)


def test_minilm_is_the_embedder_where_none_is_named() -> None:
    assert isinstance(chosen(Settings()), MiniLM)
    assert Settings().embedder == "minilm"


@pytest.mark.usefixtures("joined")
def test_an_embedder_of_another_package_remembers_and_recalls(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_EMBEDDER", "letters")
    there = Settings(database=settings.database, personalities=settings.personalities, llm="offline")
    with World(there) as world:
        assert minilm_of(world.embedder) is None
        agent = world.create_agent("ana")
        agent.add_short_term([{"document": "zzz zzz", "id": "z", "rating": 9}, {"document": "aaa aaa", "rating": 9}])
        vector = agent.contents.vector("z")
        assert vector is not None
        assert vector.shape == (26,)
        assert np.linalg.norm(vector) == pytest.approx(1)
        assert agent.query_memory("zzz", top_k=1, threshold=0, static_threshold=1).hits[0].entry.id == "z"
        assert agent.get_stats()["embedder"] == "letters-26"
    with AgentMemory("ana", settings=there, database=there.database, personalities=there.personalities) as alone:
        assert alone.embedder.identity == "letters-26"


@pytest.mark.usefixtures("joined")
def test_an_embedder_of_another_package_may_fail_in_any_way() -> None:
    odd = chosen(Settings(embedder="odd"))
    assert odd.embed(["one", "two"]).shape == (2, 3)
    for text, told in (
        ("long", r"'letters-26' gave vectors of 4 numbers after vectors of 3; all must have the same length\."),
        ("mute", r"'letters-26' failed: Mute\."),
        ("ends", r"'letters-26' failed: SystemExit: 3\."),
    ):
        with pytest.raises(EmbedderError, match=told):
            odd.embed([text])
    with pytest.raises(InvalidParameter, match=r"The languages of an embedder are codes such as \['de'\], not 3\."):
        chosen(Settings(embedder="tongues"))


@pytest.mark.usefixtures("joined")
def test_what_is_no_vector_is_refused_before_anything_is_stored(settings: Settings) -> None:
    with World(settings.model_copy(update={"embedder": "broken"})) as world:
        with pytest.raises(EmbedderError, match="letters-26"):
            world.create_agent("ana")
        assert world.agents() == []


@pytest.mark.usefixtures("joined")
@pytest.mark.parametrize(
    ("name", "told"), [("nameless", "no identity"), ("none", "there are: minilm, multilingual, broken, letters")]
)
def test_what_is_no_embedder_is_told_before_a_world_is_opened(settings: Settings, name: str, told: str) -> None:
    with pytest.raises(InvalidParameter, match=told):
        World(settings.model_copy(update={"embedder": name}))
    assert not settings.database.exists()


@pytest.mark.usefixtures("joined")
def test_the_command_line_takes_the_name(tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    run = CommandLine(world, monkeypatch)
    data = tmp_path / "cues.jsonl"
    lines = [{"id": "a", "document": "aaa"}, {"id": "z", "document": "zzz"}, {"cue": "zz", "right": ["z"]}]
    data.write_text("\n".join(map(json.dumps, lines)))
    done = run("evaluate", str(data), "--embedder", "letters", "--json", "--preset", "classic")
    assert done.code == 0, done.err
    assert done.value["embedder"] == "letters-26"
    refused = run("evaluate", str(data), "--embedder", "leters")
    assert refused.code == 1
    assert (
        "There is no embedder 'leters'; there are: minilm, multilingual, broken, letters, nameless, odd, tongues."
        in refused.err
    )


# -- an agent of another embedder ----------------------------------------------------------------------


@pytest.fixture
def of_letters(joined: None, settings: Settings) -> Settings:
    """Settings that name no embedder, of a world whose agent was made with ``letters``."""
    with World(settings.model_copy(update={"embedder": "letters"})) as world:
        agent = world.create_agent("ana")
        agent.add_short_term([{"document": "zzz zzz", "id": "z", "rating": 9}, {"document": "aaa", "id": "a"}])
    return settings


def _stored(settings: Settings) -> dict[str, bytes]:
    """What is stored of the agent, but for what only says who had it open last."""
    folder = settings.database / settings.world / "ana"
    files = [folder / "journal.sqlite3", folder / "made_with.txt", *folder.glob("chroma/*/data_level0.bin")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files if file.is_file()}


def test_an_agent_of_another_embedder_is_not_re_embedded_by_being_opened(of_letters: Settings) -> None:
    before = _stored(of_letters)
    with World(of_letters) as world:
        agent = world.agent("ana")
        assert [entry.id for entry in agent.entries(Tier.STM)] == ["a", "z"], "it can be looked at"
        told = "made with letters-26, and all-MiniLM-L6-v2 is chosen.*MEMORY_EMBEDDER.*memory_system reembed ana"
        assert any(re.search(told, message) for message in agent.messages)
        for asked in (
            lambda: agent.query_memory("zzz"),
            lambda: agent.explain("zzz"),
            lambda: agent.add_short_term({"document": "new", "rating": 5}),
            lambda: agent.edit("a", rating=3),
            lambda: agent.undo(agent.history(1)[0].revision),
            lambda: agent.as_of(revision=1).explain("zzz"),
        ):
            with pytest.raises(OtherEmbedder, match=told):
                asked()
        assert agent.similar("a") == [], "nothing has a vector to compare"
        assert agent.waiting_for_vectors == 3, "nothing was embedded"
    assert _stored(of_letters) == before


def test_the_list_of_agents_notes_that_nothing_can_be_recalled(
    of_letters: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with World(of_letters) as world:
        run = CommandLine(world, monkeypatch)
        world.create_agent("ben")
        told = {one["agent"]: one["problem"] for one in run("agents", "--json").value["agents"]}
        assert told == {"ana": world.agent("ana").contents.embedder_problem, "ben": None}
        listed = " ".join(run("agents").out.split())
        assert "made with letters-26" in listed
        assert "reembed ana" in listed


def test_what_a_migration_would_do_can_be_seen_of_an_agent_of_another_embedder_but_not_done(
    of_letters: Settings,
) -> None:
    with World(of_letters) as world:
        agent = world.agent("ana")
        planned = agent.migrate_stm2ltm(ids=["z"], preview=True)
        assert [change.entry_id for change in planned.changes] == ["z"]
        with pytest.raises(OtherEmbedder):
            agent.apply(planned)
        assert agent.find("z").tier is Tier.STM  # type: ignore[union-attr]


def test_an_edited_personality_waits_until_the_agent_is_re_embedded(of_letters: Settings) -> None:
    file = of_letters.personalities / "ana.json"
    file.write_text('{"identity": {"name": "Ana"}, "facts": ["Ana sells rope."]}')
    with World(of_letters) as world:
        agent = world.agent("ana")
        assert len(agent.entries(Tier.STATIC)) == 1
        assert agent.reembed().done
        assert {entry.document for entry in agent.entries(Tier.STATIC)} >= {"Ana sells rope."}


def test_re_embedding_lets_it_be_used_with_the_chosen_embedder_and_no_longer_with_the_other(
    of_letters: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with World(of_letters) as world:
        run = CommandLine(world, monkeypatch)
        refused = run("recall", "ana", "zzz")
        assert (refused.code, "reembed ana" in refused.err) == (1, True)
        assert run("recall", "ana", "zzz", "--json").code == 1
        done = run("reembed", "ana")
        assert done.out == "ana: 3 embedded with all-MiniLM-L6-v2, and the store was rebuilt.\n"
        assert run("recall", "ana", "zzz").code == 0
        monkeypatch.setenv("MEMORY_EMBEDDER", "letters")
        assert "made with all-MiniLM-L6-v2, and letters-26 is chosen" in run("recall", "ana", "zzz").err
        monkeypatch.delenv("MEMORY_EMBEDDER")
        assert run("reembed", "ana", "--embedder", "letters").code == 0
    with World(of_letters.model_copy(update={"embedder": "letters"})) as world:
        agent = world.agent("ana")
        assert agent.messages == ()
        assert agent.query_memory("zzz", top_k=1, threshold=0, static_threshold=1).hits[0].entry.id == "z"


def test_an_embedder_that_is_handed_over_in_code_takes_the_agent_over(of_letters: Settings, embedder: Embedder) -> None:
    with World(of_letters, embedder=embedder) as world:
        agent = world.agent("ana")
        assert "Vectors of all-MiniLM-L6-v2 were made for " in agent.messages[0]
        assert agent.waiting_for_vectors == 0


def test_the_embedder_of_contributing_takes_twenty_lines_and_recalls(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len([line for line in BLOCKS["hashing"][5].splitlines() if line.strip()]) <= 20
    monkeypatch.syspath_prepend(tmp_path)
    install_contributed(tmp_path, "hashing")
    with World(settings.model_copy(update={"embedder": "hashing"})) as world:
        agent = world.create_agent("ana")
        agent.add_short_term(
            [
                {"document": "Saw smoke over the north field.", "id": "smoke", "rating": 5},
                {"document": "Bought two fish at the harbour.", "id": "fish", "rating": 5},
            ]
        )
        found = agent.query_memory("Who saw the smoke?", top_k=1, threshold=0, static_threshold=1)
        assert [hit.entry.id for hit in found.hits] == ["smoke"]
        assert agent.get_stats()["embedder"] == "hashing-512"


class Own:
    """An embedder of a program's own, which gives whatever it was made with."""

    identity = "own"

    def __init__(self, given: Callable[[int], Any]) -> None:
        self._given = given

    def embed(self, texts: Sequence[str]) -> Any:
        return self._given(len(texts))


def test_the_embedder_that_a_program_brings_may_give_lists_of_numbers_of_any_kind_and_length(
    settings: Settings,
) -> None:
    with World(settings, embedder=Own(lambda many: [[3.0, 4.0]] * many)) as world:
        agent = world.create_agent("ana")
        agent.add_short_term({"document": "Saw smoke", "rating": 5})
        assert np.allclose(agent.contents.embedded(["smoke"]), [[0.6, 0.8]])
        assert agent.query_memory("Saw smoke").hits


@pytest.mark.parametrize(
    "given",
    [lambda _many: None, lambda _many: np.ones(8), lambda many: np.full((many, 8), np.nan), lambda many: many / 0],
)
def test_the_embedder_that_a_program_brings_is_refused_where_it_gives_no_vectors(
    settings: Settings, given: Callable[[int], Any]
) -> None:
    with World(settings, embedder=Own(given)) as world, pytest.raises(EmbedderError, match="embedding function 'own'"):
        world.create_agent("ana").add_short_term({"document": "Saw smoke", "rating": 5})
