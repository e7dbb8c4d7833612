"""A designer branches a world, plays in the branch, compares, switches back, deletes it and brings it back."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from dashboard import words
from memory_system.embedding.embedder import CachedEmbedder
from tests import sample_world

from .conftest import Dashboard, served
from .hands import press, take, write

pytestmark = [pytest.mark.browser, pytest.mark.full]
BRANCH = "what if"
TITLE = "Harrow Quay"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> Iterator[Dashboard]:
    """A dashboard on Mira and Tobias alone, whose world may be switched."""
    template = sample_world.filled(sample_world.shared_folder(tmp_path_factory), embedder)
    folder = tmp_path_factory.mktemp("worlds")
    places = sample_world.copy(template, folder / "world", ["mira", "tobias"])
    with served(places, folder / "serve.log") as running:
        yield running


def _open_world(page: Page, name: str, shown: str) -> None:
    take(page, words.WHICH_WORLD, name)
    press(page, words.SWITCH_TO_IT)
    expect(page.get_by_test_id("stSidebar").get_by_role("link", name=shown, exact=True)).to_be_visible()


def test_a_world_is_branched_played_in_compared_and_brought_back(page: Page, other_page: Page, own: Dashboard) -> None:
    own.show(page, "worlds", agent="mira")
    first = str(httpx.get(f"{own.api}/v1/world").json()["name"])
    write(page, words.OTHER_NAME, "what/if")
    press(page, words.BRANCH_IT)
    refusal = page.get_by_role("alert").bounding_box()
    last = page.get_by_role("button", name=words.RENAME_IT).bounding_box()
    assert refusal
    assert last
    assert refusal["y"] >= last["y"] + last["height"], "it stands below the buttons, and not between them"
    write(page, words.OTHER_NAME, BRANCH)
    press(page, words.BRANCH_IT)
    expect(page.get_by_text(f"The world “{BRANCH}” is a branch of “{first}”")).to_be_visible()

    own.load(other_page, "recall", agent="mira")
    _open_world(page, BRANCH, f"{TITLE} · {BRANCH}")
    pill = other_page.get_by_role("button", name=words.SHOW_IT)
    expect(pill).to_be_visible()  # the page of somebody else notices, and is not drawn anew by itself
    pill.click()
    expect(other_page.get_by_text(words.NOT_SAVED_THERE)).to_be_visible()
    httpx.post(
        f"{own.api}/v1/agents/mira/events", json={"events": [{"document": "Heard the bell ring twice.", "rating": 8}]}
    )
    take(page, words.COMPARE_WITH, first)
    expect(page.get_by_text("Mira Holloway: since both were the same, 1 change in “what if”")).to_be_visible()

    _open_world(page, first, TITLE)
    take(page, words.WHICH_WORLD, BRANCH)
    press(page, words.DELETE_IT)
    expect(page.get_by_text(f"The world “{BRANCH}” is in the bin.")).to_be_visible()
    press(page, f"Restore “{BRANCH}”, deleted", exact=False)
    expect(page.get_by_text(f"The world “{BRANCH}” is back.")).to_be_visible()
    names = [one["name"] for one in httpx.get(f"{own.api}/v1/worlds").json()["items"]]
    assert names == [first, BRANCH]
